import { AppError, type Project, type SpecSource } from '@tidemill/contract';
import { isBesideCode } from '@tidemill/core';
import type { Services } from '../context.ts';
import type { Signed } from '../handler.ts';

const NEW_REPOSITORY = 'Propose the first skeleton of this repository, its gates and a list of features.';

/** What a specification is made of. A required document that is missing is named. */
export async function sourceOf(
  services: Services,
  project: Project,
  { text = '', idea, from }: Pick<Signed<'newSpec'>, 'text' | 'idea' | 'from'>,
): Promise<SpecSource> {
  if (idea !== undefined) return fromIdea(services, project, idea);
  if (from === 'initializer') return { kind: from, ideaId: null, text: text.trim() || NEW_REPOSITORY };
  const isNew = from === 'text' && (await isEmpty(services, project));
  return { kind: isNew ? 'initializer' : from, ideaId: null, text: text.trim() };
}

/** Nothing is built there yet: the first specification also has to propose the skeleton and the gates. */
async function isEmpty({ repositories }: Services, project: Project): Promise<boolean> {
  const files = await repositories.withWorkspace(project, async (workspace) =>
    workspace.filesAt(await workspace.targetCommit(), ['**']),
  );
  return files.every(([file]) => isBesideCode(file));
}

async function fromIdea({ store }: Services, project: Project, number: number): Promise<SpecSource> {
  const ideas = await store.records({ noun: 'idea', projectId: project.id });
  const idea = ideas.find((each) => each.number === number);
  if (!idea)
    throw new AppError('not_found', `there is no idea I${number}`, { hint: '`tidemill idea list` shows them.' });
  const brief = idea.artifacts.find(({ type, content, summary }) => type === 'brief' && content + summary !== '');
  if (!brief)
    throw new AppError('wrong_stage', `the idea I${number} has no brief, which a specification is made of`, {
      hint: 'Continue its conversation until it is complete, or write a text: tidemill spec new "…"',
    });
  return { kind: 'idea', ideaId: idea.id, text: `# ${idea.title}\n\n${brief.content || brief.summary}` };
}
