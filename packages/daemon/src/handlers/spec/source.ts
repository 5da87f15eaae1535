import { AppError, type Project, type SpecSource } from '@tidemill/contract';
import { briefOf, isNewRepository } from '../../engine/flows/spec-source.ts';
import type { Services } from '../context.ts';
import { numbered } from '../find.ts';
import type { Signed } from '../handler.ts';

const NEW_REPOSITORY = 'Propose the first skeleton of this repository, its gates and a list of features.';

/** What a specification is made of. A required document that is missing is named. */
export async function sourceOf(
  services: Services,
  project: Project,
  { targetComplexity, ...input }: Pick<Signed<'newSpec'>, 'text' | 'idea' | 'from' | 'targetComplexity'>,
): Promise<SpecSource> {
  return { ...(await requestOf(services, project, input)), ...(targetComplexity && { targetComplexity }) };
}

async function requestOf(
  services: Services,
  project: Project,
  { text = '', idea, from }: Pick<Signed<'newSpec'>, 'text' | 'idea' | 'from'>,
): Promise<SpecSource> {
  if (idea !== undefined) return fromIdea(services, project, idea);
  if (from === 'initializer') return { kind: from, ideaId: null, text: text.trim() || NEW_REPOSITORY };
  return { kind: (await isNew(services, project)) ? 'initializer' : from, ideaId: null, text: text.trim() };
}

const isNew = ({ repositories }: Services, project: Project) => repositories.withWorkspace(project, isNewRepository);

async function fromIdea(services: Services, project: Project, number: number): Promise<SpecSource> {
  const idea = await numbered(services, project, 'idea', String(number));
  const source = briefOf(idea, await isNew(services, project));
  if (source) return source;
  throw new AppError('wrong_stage', `the idea I${number} has no brief, which a specification is made of`, {
    hint: 'Continue its conversation until it is complete, or write a text: tidemill spec new "…"',
  });
}
