import type { Task, TrackerItem } from '@tidemill/contract';
import { asksForWork, type Command, wordsOf } from '@tidemill/core';
import type { ItemComment, Tracker } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { hasEnded } from './take-item.ts';

/** How many tasks are looked up in one go. */
const AT_ONCE = 500;

/**
 * Passes what people with push access wrote about items on to their tasks. Work that has not begun needs nothing: everything
 * is read before its first run.
 */
export class TrackerComments {
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  async passOn(comments: readonly ItemComment[], known: ReadonlyMap<string, TrackerItem>): Promise<void> {
    const { store } = this.#deps;
    for (const [key, said] of Map.groupBy(comments, ({ key }) => key)) {
      const item = known.get(key);
      const task = item?.status === 'taken' && item.taskId !== null ? await store.task(item.taskId) : null;
      if (item && task && hasBegun(task)) await this.#hear(item, task, said);
    }
  }

  /** What was missed while nobody looked, for example while no daemon ran. */
  async readThrough(tracker: Tracker, known: ReadonlyMap<string, TrackerItem>): Promise<void> {
    const { store, project } = this.#deps;
    const taken = [...known.values()].filter(({ key, status }) => isOf(tracker, key) && status === 'taken');
    const byTask = new Map(taken.flatMap((item) => (item.taskId === null ? [] : [[item.taskId, item] as const])));
    const ids = [...byTask.keys()];
    for (let at = 0; at < ids.length; at += AT_ONCE)
      for (const task of await store.tasks({ projectId: project.id, ids: ids.slice(at, at + AT_ONCE) }))
        if (hasBegun(task)) {
          const item = byTask.get(task.id)!;
          await this.#hear(item, task, await tracker.comments(item.key!));
        }
  }

  /** Before the first run, which reads the notes of its task. `isInTime`: that run has not been given its task yet. */
  async readFirst(tracker: Tracker, taskId: string, isInTime: () => boolean): Promise<void> {
    const { store, project } = this.#deps;
    const [item] = await store.records({ noun: 'tracker_item', projectId: project.id, parent: taskId });
    const task = await store.task(taskId);
    if (!item || !task || !isOf(tracker, item.key) || item.status !== 'taken') return;
    const said = await tracker.comments(item.key!);
    await this.#hear(item, task, said, isInTime());
  }

  async #hear(item: TrackerItem, task: Task, said: readonly ItemComment[], isFirst = false): Promise<void> {
    const { store, project, onNote } = this.#deps;
    const wanted = said.filter(({ id, mayPush, text }) => mayPush && !item.heard.includes(id) && asksForWork(text));
    if (wanted.length === 0) return;
    const comments = wanted.map(({ id, author, text }) => ({ id, author, text: wordsOf(author, item.key!, text) }));
    const about = { projectId: project.id, itemId: item.id, taskId: task.id };
    const hear: Command = { type: 'tracker_item.hear', ...about, comments, ...(isFirst ? { isFirst } : {}) };
    const reply = await store.execute(hear);
    if (!reply.ok) onNote(`comments on ${item.key} were not passed on: ${reply.refusal.message}`);
  }
}

const isOf = ({ name }: Tracker, key: string | null) => key?.startsWith(`${name}#`) ?? false;

/** Somebody works on it, or has. */
const hasBegun = (task: Task) => !hasEnded(task) && (task.lease !== null || Object.keys(task.runs).length > 0);
