import type { Evidence, Idea, Job, Spec, SpecVersion, Task } from '@tidemill/contract';
import { specVersionId } from '@tidemill/contract';
import { codeBlock, critiqueOf, nextMigrations, specDocument } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

type Text = Record<'ideaSection' | 'knowledgeSection' | 'revisionSection' | 'sizeSection', string>;

const heading = (title: string, text: string) => (text === '' ? '' : `## ${title}\n\n${text}\n`);

/** What is known about the repository, and what people said about the last version. */
export async function draftingBriefing(deps: EngineDeps, { subjectId }: Job): Promise<Text> {
  const { store, knowledge } = deps;
  const spec = await store.record('spec', subjectId);
  const last =
    spec && spec.version > 0 ? await store.record('spec_version', specVersionId(spec.id, spec.version)) : null;
  const known = (await knowledge?.all()) ?? [];
  const lines = known.map(({ text, files }) => `- ${files === '' ? '' : `\`${files}\`: `}${oneLine(text)}`);
  const idea = spec?.source.ideaId ? await store.record('idea', spec.source.ideaId) : null;
  return {
    ideaSection: idea ? ideaDocuments(idea) : '',
    knowledgeSection: [heading('Known problems', lines.join('\n')), await migrationNumbers(deps)]
      .filter((text) => text !== '')
      .join('\n'),
    revisionSection: spec && last ? revision(last, critiqueOf(spec, last.version)) : '',
    sizeSection: heading('How much is wanted', SIZE[spec?.source.targetComplexity ?? 'open']),
  };
}

const MOST_OPEN = 1_000;

/** Migrations that no task lands yet have taken their numbers, too. */
async function migrationNumbers({ store, project, workspace }: EngineDeps): Promise<string> {
  const there = await workspace.filesAt(await workspace.targetCommit(), ['**']);
  const tasks = await store.tasks({ projectId: project.id, newestFirst: true, limit: MOST_OPEN });
  const coming = tasks.filter(({ stage }) => stage !== 'cancelled').flatMap(({ files }) => files);
  const lines = nextMigrations([...there.map(([file]) => file), ...coming]).map(
    ({ folder, next }) => `- \`${oneLine(folder).replaceAll('`', '')}\`: ${next}`,
  );
  return heading('The next free number of a migration', lines.join('\n'));
}

const SIZE = {
  mvp: 'The smallest version that someone can use. Leave out what the request can do without, and name it as out of scope.',
  full: 'Everything that belongs to the request: errors, limits, documentation and tests included. Leave nothing for later.',
  open: '',
} as const;

/** The newest version as a document. */
export async function critiqueBriefing(
  { store }: EngineDeps,
  { subjectId }: Job,
): Promise<Record<'draftSection', string>> {
  const spec = await store.record('spec', subjectId);
  const row = spec ? await store.record('spec_version', specVersionId(spec.id, spec.version)) : null;
  return { draftSection: row ? heading('The draft', codeBlock(specDocument(row.draft), 'markdown')) : '' };
}

/** Characters of one document of an idea, and of all of them, in a prompt. */
const MOST_OF_ONE = 6_000;
const MOST_OF_IDEA = 60_000;

/** What the conversation has settled besides the brief, which is the job's input. */
function ideaDocuments({ artifacts, decisions, risks }: Idea): string {
  const documents = artifacts.flatMap(({ type, summary, content }) =>
    type === 'brief' || summary + content === ''
      ? []
      : [heading(`Idea: ${type}`, codeBlock((content || summary).slice(0, MOST_OF_ONE), 'markdown'))],
  );
  const listed = (lines: string[]) => lines.map((line) => `- ${oneLine(line)}`).join('\n');
  const lists = [
    heading('Idea: decisions', listed(decisions.map(({ text }) => text))),
    heading('Idea: risks', listed(risks.map(({ text, severity }) => `${text} (${severity})`))),
  ];
  // Whole documents only: a fence must not lose its end.
  let room = MOST_OF_IDEA;
  const fitting = [...documents, ...lists].filter((text) => {
    room -= text.length;
    return room >= 0;
  });
  return fitting.join('\n');
}

function revision({ version, draft, comments }: SpecVersion, critique: Spec['critique']): string {
  const said = comments.map(({ line, quote, text }) => {
    const place = line === 0 ? 'On all of it' : `On line ${line} ("${quote}")`;
    return text.includes('\n') ? `- ${place}:\n\n${codeBlock(text, 'text')}\n` : `- ${place}: ${text}`;
  });
  const found = critique?.findings.map(({ task, text }) => `- ${task === '' ? '' : `${task}: `}${oneLine(text)}`) ?? [];
  const doubts = heading('A critic found in it', found.join('\n'));
  const wanted = said.length === 0 ? '' : `\n\n${heading('Requested changes', said.join('\n'))}`;
  return `${heading(`Version ${version}, which you are to improve`, codeBlock(specDocument(draft), 'markdown'))}${wanted}${doubts === '' ? '' : `\n\n${doubts}`}`;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Each requirement with the tasks that landed for it, and what their gates and reviewers found. */
export async function judgeBriefing(
  { store }: EngineDeps,
  { subjectId }: Job,
): Promise<Record<'requirementsSection', string>> {
  const spec = await store.record('spec', subjectId);
  const version = spec?.approved?.version ?? spec?.version ?? 0;
  const row = spec ? await store.record('spec_version', specVersionId(spec.id, version)) : null;
  if (!spec || !row) return { requirementsSection: '' };
  const ids = spec.tasks.map(({ taskId }) => taskId);
  const tasks = new Map((await store.tasks({ projectId: spec.projectId, ids })).map((task) => [task.id, task]));
  const parts: string[] = [];
  for (const { id, text } of row.draft.requirements) {
    const own = spec.tasks.filter(({ requirements }) => requirements.includes(id));
    const lines: string[] = [];
    for (const { taskId } of own) {
      const task = tasks.get(taskId);
      if (task) lines.push(taskLine(task, await store.evidence({ projectId: spec.projectId, taskId })));
    }
    parts.push(`### ${id}\n\n${codeBlock(text, 'text')}\n\n${lines.join('\n')}`);
  }
  return { requirementsSection: heading(`Requirements of "${spec.title}"`, parts.join('\n\n')) };
}

function taskLine(task: Task, evidence: Evidence[]): string {
  const passed = [...new Set(evidence.filter(({ status }) => status === 'pass').map(({ gate }) => gate))];
  const what = task.landedCommit ? `landed as ${task.landedCommit.slice(0, 10)}` : `is ${task.stage}`;
  const met = task.criteria
    .filter((each) => each.met)
    .map(({ text, evidence: seen }) => `  - ${oneLine(text)}: ${oneLine(seen)}`);
  const gates = passed.length === 0 ? '' : `; gates passed: ${passed.join(', ')}`;
  return [`- #${task.number} ${task.title} (${what}${gates})`, ...met].join('\n');
}
