import { type Actor, AppError, type Task, type TrackerItem } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Ids, Store } from '../../ports.ts';
import { executeTogether } from '../flows/atomic.ts';

interface Tools {
  store: Store;
  ids: Ids;
  project: { id: string };
}

export const hasEnded = ({ stage }: Pick<Task, 'stage'>) => stage === 'done' || stage === 'cancelled';

/** The commands that make a task of an item. `before`: a task of it that has ended. */
export function takingCommands(
  project: { id: string },
  item: Pick<TrackerItem, 'id' | 'key' | 'url' | 'author' | 'isTrusted' | 'seen'>,
  about: { taskId: string; before: Task | null; dependsOn: string[]; hash?: string; by: Actor },
): Command[] {
  const { taskId, before, dependsOn, hash, by } = about;
  const { title, body, kind, priority } = item.seen!;
  const origin = {
    kind: 'tracker' as const,
    id: item.id,
    key: item.key!,
    author: item.author,
    isTrusted: item.isTrusted,
    ...(item.url === null ? {} : { url: item.url }),
  };
  const again = before ? `${body}\n\n${againText(before)}`.trim() : body;
  const create = { title, body: again, kind, priority, accept: [], files: [], dependsOn, origin };
  return [
    { type: 'task.create', projectId: project.id, taskId, ...create },
    {
      ...{ type: 'tracker_item.take', projectId: project.id, itemId: item.id, taskId, by },
      ...{ before: before?.id ?? null, ...(hash === undefined ? {} : { hash }) },
    },
  ];
}

function againText({ number, stage, landedCommit }: Task): string {
  if (stage !== 'done') return `It was opened again; task #${number} was cancelled.`;
  const as = landedCommit ? ` as ${landedCommit.slice(0, 10)}` : '';
  return `It was opened again after task #${number} had landed${as}. See what is still missing.`;
}

/** The tasks of the items that must be done first; null when one of them is not a task. */
export function dependenciesOf(
  item: Pick<TrackerItem, 'seen'>,
  known: ReadonlyMap<string, TrackerItem>,
): string[] | null {
  const open = item.seen?.blockedBy.filter(({ isDone }) => !isDone) ?? [];
  const tasks = open.map(({ key }) => known.get(key)?.taskId ?? null);
  return tasks.every((taskId) => taskId !== null) ? tasks : null;
}

/** The items of a project that exist in the tracker, by key. */
export async function itemsByKey(store: Store, projectId: string): Promise<Map<string, TrackerItem>> {
  const all = await store.records({ noun: 'tracker_item', projectId });
  return new Map(all.flatMap((item) => (item.key === null ? [] : [[item.key, item] as const])));
}

/** A person's decision: makes a task of an item that waits, or gives its task the text that it has now. */
export async function takeByHand(tools: Tools, item: TrackerItem, by: Actor, hash?: string): Promise<void> {
  const { store, ids, project } = tools;
  const name = item.key ?? item.id;
  if (!item.seen)
    throw new AppError('conflict', `nothing is known about ${name} yet`, { hint: 'Read it: tidemill tracker sync' });
  if (hash !== undefined && hash !== item.seen.hash)
    throw new AppError('conflict', `${name} has changed since you looked at it`, {
      hint: 'Read it again, then take it.',
    });
  const task = item.taskId === null ? null : await store.task(item.taskId);
  if (task && !hasEnded(task)) {
    if (item.waiting !== 'edited')
      throw new AppError('conflict', `${name} is already task #${task.number}`, { hint: 'Look at its task instead.' });
    await executeTogether(store, followCommands(project.id, item, task, by));
    return;
  }
  if (item.seen.state === 'closed')
    throw new AppError('conflict', `${name} is closed`, { hint: 'Open it again in the tracker first.' });
  // A person who takes it decides that it need not wait for items that are no tasks.
  const known = await itemsByKey(store, project.id);
  const dependsOn = item.seen.blockedBy.flatMap(({ key, isDone }) => (isDone ? [] : (known.get(key)?.taskId ?? [])));
  const about = { taskId: ids.next('task'), before: task, dependsOn, hash: item.seen.hash, by };
  await executeTogether(store, takingCommands(project, item, about));
}

/** Gives a task what its item says now. The agent of the next run is told what happened. */
export function followCommands(projectId: string, item: TrackerItem, task: Task, by: Actor): Command[] {
  const { title, body, priority, hash } = item.seen!;
  const about = { projectId, taskId: task.id, by };
  const isReworded = title !== task.title || body !== task.body;
  const hasRun = Object.keys(task.runs).length > 0 || task.lease !== null;
  const text = `${item.key} was edited while the work was going on. The task has the new text: check the work against it.`;
  return [
    { type: 'task.edit', ...about, title, body, priority },
    ...(isReworded && hasRun ? [{ type: 'task.note' as const, ...about, text }] : []),
    { type: 'tracker_item.follow', projectId, itemId: item.id, taskId: task.id, hash },
  ];
}
