import { AppError, type Project, type RecordOf, type Task, type TaskSummary, workerName } from '@tidemill/contract';
import type { Store } from '../ports.ts';
import type { Services } from './context.ts';

export { unwrap } from '@tidemill/core';

export async function projectOf({ store }: Pick<Services, 'store'>, id: string): Promise<Project> {
  const project = await store.project(id);
  if (project) return project;
  throw new AppError('no_project', `there is no project ${id}`, {
    hint: 'Create one with `tidemill init` in a repository.',
  });
}

/** A task by number (`12`, `#12`) or id. */
export async function taskOf({ store }: Pick<Services, 'store'>, project: Project, ref: string): Promise<Task> {
  const digits = /^#?(\d{1,15})$/.exec(ref)?.[1];
  const task = digits ? await store.taskByNumber(project.id, Number(digits)) : await store.task(ref);
  if (task && task.projectId === project.id) return task;
  throw new AppError('not_found', `there is no task ${digits ? `#${digits}` : `"${ref}"`} in ${project.name}`, {
    hint: digits ? '`tidemill task list` shows them all.' : 'Name a task by its number, such as 12.',
  });
}

/** Nouns that people name by a number: its letter, what it is called, and where all of them are shown. */
const NUMBERED = {
  idea: { letter: 'I', name: 'idea', hint: '`tidemill idea list --all` shows them all.' },
  spec: { letter: 'S', name: 'specification', hint: '`tidemill spec list` shows them all.' },
  feedback: { letter: 'F', name: 'feedback', hint: '`tidemill feedback list` shows it all.' },
  delivery: { letter: 'D', name: 'delivery', hint: '`tidemill deliver history` lists them.' },
  proposal: { letter: 'P', name: 'proposal', hint: '`tidemill loop proposals` lists them.' },
} as const;

type NumberedNoun = keyof typeof NUMBERED;

/** A record by number (`3`, or with its letter, `S3`) or id. */
export async function numbered<N extends NumberedNoun>(
  { store }: Pick<Services, 'store'>,
  project: Project,
  noun: N,
  ref: string,
): Promise<RecordOf<N>> {
  const { letter, name, hint } = NUMBERED[noun];
  const digits = new RegExp(`^${letter}?(\\d{1,15})$`, 'i').exec(ref.trim())?.[1];
  const one: NumberedNoun = noun;
  const all = digits ? await store.records({ noun: one, projectId: project.id }) : [];
  const found = digits ? all.find(({ number }) => number === Number(digits)) : await store.record(one, ref);
  // A proposal has no number before it is checked.
  if (found?.projectId === project.id && found.number > 0) return found as RecordOf<N>;
  const shown = digits ? `${letter}${digits}` : `"${ref}"`;
  throw new AppError('not_found', `there is no ${name} ${shown} in ${project.name}`, { hint });
}

export async function summaries(store: Store, tasks: Task[]): Promise<TaskSummary[]> {
  const own = new Map(tasks.map((task) => [task.id, task.number]));
  const others = [...new Set(tasks.flatMap((task) => task.dependsOn))].filter((id) => !own.has(id));
  const numbers = new Map([...own, ...(others.length > 0 ? await store.taskNumbers(others) : [])]);
  return tasks.map((task) => ({
    id: task.id,
    number: task.number,
    title: task.title,
    kind: task.kind,
    pipeline: task.pipeline,
    stage: task.stage,
    stageSince: task.stageSince,
    priority: task.priority,
    unmet: task.unmet,
    files: task.files,
    branch: task.branch,
    resumeStage: task.resumeStage,
    blocked: task.blocked,
    openQuestions: task.openQuestions,
    waiting: task.waiting,
    landedCommit: task.landedCommit,
    after: task.dependsOn.map((id) => numbers.get(id) ?? 0),
    worker: task.lease ? workerName(task.lease.workerId) : null,
    conflictsWith: task.forecast.map(({ number }) => number),
  }));
}

export async function summary(store: Store, task: Task): Promise<TaskSummary> {
  const [only] = await summaries(store, [task]);
  return only!;
}
