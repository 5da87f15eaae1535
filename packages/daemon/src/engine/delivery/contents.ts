import { type DeliveredTask, MOST_DELIVERED_TASKS, type Task } from '@tidemill/contract';
import type { Store, Workspace } from '../../ports.ts';

interface Sources {
  projectId: string;
  store: Pick<Store, 'events' | 'tasks'>;
  workspace: Pick<Workspace, 'commitsBetween'>;
}

const MOST_COMMITS = 5_000;
const PAGE = 500;
const MOST_PAGES = 20;

export interface LandedBetween {
  /** Newest first. */
  tasks: (DeliveredTask & { kind: Task['kind'] })[];
  /** Commits that are not a landed task's. */
  others: { commit: string; subject: string }[];
}

/** What `to` has and `from` has not: the landed tasks, and the commits without one. */
export async function landedBetween(
  { projectId, store, workspace }: Sources,
  from: string | null,
  to: string,
): Promise<LandedBetween> {
  const commits = await workspace.commitsBetween(from, to, MOST_COMMITS);
  const wanted = new Set(commits.map(({ commit }) => commit));
  const landed: { taskId: string; commit: string }[] = [];
  let upTo: number | undefined;
  for (let page = 0; page < MOST_PAGES && wanted.size > landed.length; page += 1) {
    const query = { projectId, types: ['merge.landed'], newestFirst: true, limit: PAGE };
    const events = await store.events({ ...query, ...(upTo === undefined ? {} : { upTo }) });
    for (const { body } of events)
      if (body.type === 'merge.landed' && wanted.has(body.commit))
        landed.push({ taskId: body.taskId, commit: body.commit });
    if (events.length < PAGE) break;
    upTo = events.at(-1)!.seq - 1;
  }
  const rows = landed.length > 0 ? await store.tasks({ projectId, ids: landed.map(({ taskId }) => taskId) }) : [];
  const byId = new Map(rows.map((task) => [task.id, task]));
  const tasks = landed.flatMap(({ taskId, commit }) => {
    const task = byId.get(taskId);
    return task ? [{ taskId, number: task.number, title: task.title, kind: task.kind, commit }] : [];
  });
  const own = new Set(landed.map(({ commit }) => commit));
  return { tasks, others: commits.filter(({ commit }) => !own.has(commit)) };
}

/** The tasks of a delivery as its record keeps them. */
export async function contentsOf(
  sources: Sources,
  from: string | null,
  to: string,
): Promise<{ tasks: DeliveredTask[]; taskCount: number }> {
  const { tasks } = await landedBetween(sources, from, to);
  const kept = tasks.slice(0, MOST_DELIVERED_TASKS);
  return { tasks: kept.map(({ kind: _kind, ...task }) => task), taskCount: tasks.length };
}

/** The commit that landed last; null when nothing has landed. */
export async function newestLanded({ projectId, store }: Pick<Sources, 'projectId' | 'store'>): Promise<string | null> {
  const [newest] = await store.events({ projectId, types: ['merge.landed'], newestFirst: true, limit: 1 });
  return newest?.body.type === 'merge.landed' ? newest.body.commit : null;
}
