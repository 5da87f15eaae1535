import { engineActor, MAX_ITEM_TITLE, type PublishedState, type Task, type TrackerItem } from '@tidemill/contract';
import { categoryLabel, type OutsideState, OWN_LABEL, outsideStateOf, quietText, STATE_LABELS } from '@tidemill/core';
import type { Tracker } from '../../ports.ts';
import { TrackerError } from '../../ports.ts';
import type { EngineDeps, FollowedTracker } from '../deps.ts';
import { closedByPerson } from './closed.ts';
import { hasEnded } from './take-item.ts';

/** GitHub refuses a text of more than 65,536 characters. */
const MOST_BODY = 40_000;
const MOST_CRITERIA = 20_000;

/** Writes to a tracker what its readers should see of a task: the difference to what was written before. */
export class TrackerWriter {
  readonly #deps: EngineDeps;
  readonly #instance: string;
  /** Tasks whose last write may have gone further than what is recorded: the process before may have been killed. */
  readonly #doubtful = new Set<string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#instance = deps.hash(`${deps.host}\n${deps.project.id}`).slice(0, 12);
  }

  /** Tasks whose item may have to be written: after a start everything that is not settled. */
  async unsettled(): Promise<string[]> {
    const { store, project } = this.#deps;
    const items = await store.records({ noun: 'tracker_item', projectId: project.id });
    const proposals = await store.records({ noun: 'proposal', projectId: project.id, isOpen: true });
    const own = proposals.flatMap(({ taskId, status }) => (status === 'accepted' && taskId ? [taskId] : []));
    const tasks = [...new Set([...items.flatMap(({ taskId }) => taskId ?? []), ...own])];
    for (const id of tasks) this.#doubtful.add(id);
    return tasks;
  }

  /** Returns the item when the tracker does not accept what is to be written. */
  async write(followed: FollowedTracker, taskId: string): Promise<TrackerItem | null> {
    const { store } = this.#deps;
    const task = await store.task(taskId);
    if (!task) return null;
    const item = await this.#itemOf(followed, task);
    if (!item || !isOf(followed.tracker, item) || item.status === 'left' || item.status === 'refused') return null;
    const made = item.key === null ? await this.#create(followed, item, task) : item;
    if (await closedByPerson(this.#deps, made, task)) return null;
    try {
      await this.#writeState(followed, made, task);
      return null;
    } catch (error) {
      // One item that is refused does not stop the others.
      if (!(error instanceof TrackerError) || error.trouble !== 'refused') throw error;
      await store.execute({ type: 'tracker_item.fail', ...of(made), error: error.message.slice(0, 500) });
      return store.record('tracker_item', made.id);
    }
  }

  async #itemOf({ offersProposals }: FollowedTracker, task: Task): Promise<TrackerItem | null> {
    const { store, project } = this.#deps;
    const [item] = await store.records({ noun: 'tracker_item', projectId: project.id, parent: task.id });
    if (item || !offersProposals || task.origin?.kind !== 'loop' || hasEnded(task)) return item ?? null;
    // The intention comes first: its id is the marker of the new item.
    const itemId = `tracker/${project.id}/task/${task.id}`;
    const labels = [OWN_LABEL, ...(task.origin.category ? [categoryLabel(task.origin.category)] : [])];
    await store.execute({ type: 'tracker_item.offer', projectId: project.id, itemId, taskId: task.id, labels });
    return store.record('tracker_item', itemId);
  }

  async #create({ tracker }: FollowedTracker, item: TrackerItem, task: Task): Promise<TrackerItem> {
    const { store } = this.#deps;
    const lines = task.criteria.map(({ text }) => `- [ ] ${quietText(text.replace(/\s+/g, ' '))}`).join('\n');
    const criteria = lines === '' ? '' : `## Acceptance Criteria\n\n${lines.slice(0, MOST_CRITERIA)}`;
    const body = [quietText(task.body).slice(0, MOST_BODY), criteria].filter((part) => part);
    const created = await tracker.create({
      title: quietText(task.title).slice(0, MAX_ITEM_TITLE),
      body: body.join('\n\n'),
      labels: item.offers,
      marker: item.id,
    });
    await store.execute({ type: 'tracker_item.create', ...of(item), ...created });
    return (await store.record('tracker_item', item.id))!;
  }

  async #writeState({ tracker, closes }: FollowedTracker, item: TrackerItem, task: Task): Promise<void> {
    const { store, hash } = this.#deps;
    const wanted = outsideStateOf(task, { close: closes, isKnown: item.published !== null });
    if (!wanted || item.key === null) return;
    const wantedHash = hash(JSON.stringify(wanted));
    if (item.published?.hash === wantedHash) return;
    const isActive = !hasEnded(task);
    const about = {
      ...{ instance: this.#instance, isActive, text: wanted.comment, id: item.published?.commentId ?? null },
      isTakenOver: item.isTakenOver,
    };
    const comment = await tracker.comment(item.key, about);
    if ('takenBy' in comment) return this.#giveUp(item, task, comment.takenBy);
    const before: PublishedState | null = item.published;
    const old = this.#doubtful.has(task.id) ? Object.values(STATE_LABELS) : [];
    await writeDifference(tracker, item.key, wanted, { before, old });
    const { labels, status, isClosed } = wanted;
    const published = { hash: wantedHash, commentId: comment.id, labels, status, isClosed };
    await store.execute({ type: 'tracker_item.publish', ...of(item), published });
    this.#doubtful.delete(task.id);
  }

  /** Another Tidemill was first: one item is not worked on twice. */
  async #giveUp(item: TrackerItem, task: Task, other: string): Promise<void> {
    const { store, onNote } = this.#deps;
    const { projectId } = item;
    if (!hasEnded(task)) {
      const by = engineActor('tracker');
      const reply = await store.execute({ type: 'task.cancel', projectId, taskId: task.id, by });
      if (!reply.ok) onNote(`#${task.number} goes on although ${item.key} is taken: ${reply.refusal.message}`);
    }
    await store.execute({ type: 'tracker_item.leave', ...of(item), why: `another Tidemill works on it: ${other}` });
  }
}

async function writeDifference(
  tracker: Tracker,
  key: string,
  wanted: OutsideState,
  { before, old }: { before: PublishedState | null; old: string[] },
): Promise<void> {
  const add = wanted.labels.filter((label) => !before?.labels.includes(label));
  const mayBeThere = new Set([...(before?.labels ?? []), ...old]);
  const remove = [...mayBeThere].filter((label) => !wanted.labels.includes(label));
  if (add.length > 0 || remove.length > 0) await tracker.label(key, { add, remove });
  if (wanted.status !== null && wanted.status !== before?.status) await tracker.setStatus(key, wanted.status);
  if (wanted.isClosed && !before?.isClosed) await tracker.close(key);
}

const of = ({ projectId, id: itemId }: TrackerItem) => ({ projectId, itemId });

/** An item of a tracker that is no longer configured is left alone. */
const isOf = ({ name }: Tracker, { key }: TrackerItem) => key === null || key.startsWith(`${name}#`);
