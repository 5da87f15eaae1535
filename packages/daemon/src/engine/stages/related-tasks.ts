import type { Task } from '@tidemill/contract';
import { scopesOverlap } from '@tidemill/core';
import type { RelatedTask } from '../../ports.ts';
import type { BriefingSources } from './briefing.ts';

const MOST = { 'depends on': 10, 'needed by': 5, 'same files': 5 } as const;
/** The newest tasks, among which those with the same files are searched. */
const SEARCHED = 100;
/** Of a description or a summary. */
const LONGEST = 300;

type Sources = Pick<BriefingSources, 'store' | 'project' | 'workspace'>;

/** What this task builds on, what waits for it, and recent tasks that declare the same files. The most important last. */
export async function relatedTasks({ store, project, workspace }: Sources, task: Task): Promise<RelatedTask[]> {
  const projectId = project.id;
  const [before, after, recent] = await Promise.all([
    task.dependsOn.length === 0 ? [] : store.tasks({ projectId, ids: task.dependsOn }),
    store.tasks({ projectId, waitingFor: [task.id], newestFirst: true, limit: MOST['needed by'] }),
    task.files.length === 0 ? [] : store.tasks({ projectId, newestFirst: true, limit: SEARCHED }),
  ]);
  const told = new Set([task.id, ...before.map(({ id }) => id), ...after.map(({ id }) => id)]);
  const sharing = recent.filter(
    ({ id, files, stage }) => !told.has(id) && stage !== 'cancelled' && scopesOverlap(files, task.files),
  );
  const describe = (relation: RelatedTask['relation'], tasks: Task[]) =>
    tasks.slice(-MOST[relation]).map((each) => related(workspace, relation, each));
  return Promise.all([
    ...describe('needed by', after.reverse()),
    ...describe('same files', sharing.reverse()),
    ...describe('depends on', before),
  ]);
}

async function related(
  workspace: Sources['workspace'],
  relation: RelatedTask['relation'],
  { number, title, stage, body, context, landedCommit, head }: Task,
): Promise<RelatedTask> {
  const isLanded = landedCommit !== null;
  const commit = landedCommit ?? head?.commit;
  const files = commit === undefined ? [] : await workspace.filesIn(commit, isLanded ? 'parent' : 'base');
  const done = context.findLast(({ source }) => source === 'agent')?.summary ?? '';
  return { relation, number, title, stage, about: cut(firstParagraph(body)), done: cut(done), files, isLanded };
}

const firstParagraph = (text: string) => text.trim().split(/\n\s*\n/, 1)[0] ?? '';

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`;
}
