import { engineActor, type SeenItem, type Task, type TrackerItem, trackerItemId } from '@tidemill/contract';
import { type Command, contentText, STATE_LABELS } from '@tidemill/core';
import { type ExternalItem, type GoneItem, isGone } from '../../ports.ts';
import type { EngineDeps, FollowedTracker } from '../deps.ts';
import { closedByPerson } from './closed.ts';
import { TrackerComments } from './comments.ts';
import { dependenciesOf, followCommands, hasEnded, itemsByKey, takingCommands } from './take-item.ts';

/** What was deleted or moved away is in no list of changes, so everything is read again after this time. */
const WHOLE_MS = 1_800_000;
/** How many new items become tasks in one go; the store commits them together. */
const AT_ONCE = 50;
const OTHERS_LABELS: readonly string[] = Object.values(STATE_LABELS);

type Known = Map<string, TrackerItem>;

/** Reads what changed in a tracker and lets the tasks follow. Every step may be repeated. */
export class TrackerReader {
  readonly #deps: EngineDeps;
  #cursor: string | null = null;
  #wholeAt = 0;
  /** Items that cannot be read, and why. */
  faults: ReadonlyMap<string, string> = new Map();
  /** The tracker that the cursor belongs to. */
  #of: FollowedTracker['tracker'] | null = null;

  readonly comments: TrackerComments;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.comments = new TrackerComments(deps);
  }

  async read(followed: FollowedTracker): Promise<void> {
    const { tracker } = followed;
    const now = this.#deps.clock.now();
    if (this.#of !== tracker || now - this.#wholeAt >= WHOLE_MS) this.#cursor = null;
    this.#of = tracker;
    const { items, comments, cursor, isWhole, faults } = await tracker.changes(this.#cursor);
    if (isWhole) this.faults = faults ?? new Map();
    if (items.length > 0 || comments.length > 0 || isWhole) {
      const { store, project } = this.#deps;
      const known = await itemsByKey(store, project.id);
      const more = await tracker.items(this.#toLookAt(items, known, isWhole));
      await this.#follow(followed, [...items, ...more], known);
      await this.comments.passOn(comments, known);
      if (isWhole) await this.comments.readThrough(tracker, known);
    }
    this.#cursor = cursor;
    if (isWhole) this.#wholeAt = now;
  }

  /** Known items that a whole list does not have any more, and those that waited for an item that changed. */
  #toLookAt(items: ExternalItem[], known: Known, isWhole: boolean): string[] {
    const listed = new Set(items.map(({ key }) => key));
    const source = `${this.#of!.name}#`;
    return [...known.values()].flatMap(({ key, status, seen, waiting }) => {
      if (key === null || !key.startsWith(source) || listed.has(key)) return [];
      const isMissing = isWhole && (status === 'taken' || status === 'waiting') && seen?.state !== 'closed';
      const isFreed = waiting === 'blocked' && seen?.blockedBy.some((blocker) => listed.has(blocker.key));
      return isMissing || isFreed ? [key] : [];
    });
  }

  async #follow(followed: FollowedTracker, found: (ExternalItem | GoneItem)[], known: Known): Promise<void> {
    await this.#bindOwn(found, known);
    const fresh: ExternalItem[] = [];
    for (const each of found) {
      const item = known.get(each.key);
      if (isGone(each)) {
        if (item) await this.#leave(item, each.gone);
      } else if (item) await this.#update(followed, each, item, known);
      else if (each.isSelected && each.state === 'open') fresh.push(each);
    }
    await this.#add(followed, inOrder(fresh), known);
  }

  /** A crash may come between an item's creation and its record: it carries a marker. */
  async #bindOwn(found: (ExternalItem | GoneItem)[], known: Known): Promise<void> {
    const { store, project } = this.#deps;
    for (const each of found) {
      if (isGone(each) || each.marker === null || known.has(each.key)) continue;
      const own = await store.record('tracker_item', each.marker);
      if (own?.projectId !== project.id || own.key !== null) continue;
      const { key, url } = each;
      await store.execute({ type: 'tracker_item.create', projectId: project.id, itemId: own.id, key, url });
      known.set(key, (await store.record('tracker_item', own.id))!);
    }
  }

  /** New items. Those without dependencies are committed together, the others after what they wait for. */
  async #add(followed: FollowedTracker, fresh: ExternalItem[], known: Known): Promise<void> {
    const free = fresh.filter(({ content }) => content.blockedBy.every(({ isDone }) => isDone));
    for (let at = 0; at < free.length; at += AT_ONCE)
      await Promise.all(free.slice(at, at + AT_ONCE).map((each) => this.#addOne(followed, each, known)));
    for (const each of fresh) if (!free.includes(each)) await this.#addOne(followed, each, known);
  }

  async #addOne(followed: FollowedTracker, each: ExternalItem, known: Known): Promise<void> {
    const { store, project } = this.#deps;
    const id = trackerItemId(project.id, each.key);
    const see = this.#seeing(followed, each, id, known);
    await store.execute(see);
    const item = (await store.record('tracker_item', id))!;
    known.set(each.key, item);
    const other = each.content.labels.find((label) => OTHERS_LABELS.includes(label));
    if (other !== undefined) return this.#leave(item, `another Tidemill works on it: it has the label ${other}`);
    await this.#take(item, see.waiting, null, known);
  }

  /** What is known now, and why it may not start. */
  #seeing(followed: FollowedTracker, each: ExternalItem, itemId: string, known: Known) {
    const { hash, project } = this.#deps;
    const { key, url, author, content, state, isRejected, updatedAt } = each;
    const seen: SeenItem = { ...content, state, isRejected, updatedAt, hash: hash(contentText(content)) };
    const { trust } = followed;
    const isNamed = Array.isArray(trust) && trust.some((login) => login.toLowerCase() === author.toLowerCase());
    const isTrusted = each.mayPush || isNamed;
    const mayStart = isTrusted || trust === 'anyone';
    const isBlocked = dependenciesOf({ seen }, known) === null;
    const waiting = !mayStart ? ('untrusted' as const) : isBlocked ? ('blocked' as const) : ('' as const);
    const about = { key, url, author, isTrusted, waiting, seen };
    return { type: 'tracker_item.see' as const, projectId: project.id, itemId, ...about };
  }

  /** Both in one transaction. A refusal means that somebody else has decided meanwhile. */
  async #take(item: TrackerItem, waiting: string, before: Task | null, known: Known): Promise<void> {
    const { store, ids, project, onNote } = this.#deps;
    const dependsOn = dependenciesOf(item, known);
    if (waiting !== '' || dependsOn === null || !item.seen) return;
    const by = engineActor('tracker');
    const about = { taskId: ids.next('task'), before, dependsOn, hash: item.seen.hash, by };
    const reply = await store.executeAll(takingCommands(project, item, about));
    if (!reply.ok) onNote(`${item.key} did not become a task: ${reply.refusal.message}`);
    else known.set(item.key!, (await store.record('tracker_item', item.id))!);
  }

  async #update(followed: FollowedTracker, each: ExternalItem, before: TrackerItem, known: Known): Promise<void> {
    const { store } = this.#deps;
    const isOthers = before.status === 'left' && each.content.labels.some((label) => OTHERS_LABELS.includes(label));
    if (isOthers || (before.status === 'left' && (!each.isSelected || each.state === 'closed'))) return;
    const see = this.#seeing(followed, each, before.id, known);
    await store.execute(see);
    const item = (await store.record('tracker_item', before.id))!;
    known.set(each.key, item);
    const task = item.taskId === null ? null : await store.task(item.taskId);
    if (!task) return this.#updateWaiting(each, item, see.waiting, known);
    if (each.state === 'closed') return void (await closedByPerson(this.#deps, item, task));
    if (!each.isSelected && isUntouched(task))
      return this.#leave(item, 'it is no longer one of those that become tasks');
    const wasClosed =
      before.status === 'left' || before.seen?.state === 'closed' || (before.published?.isClosed ?? false);
    if (wasClosed && hasEnded(task)) return this.#again(item, task, see.waiting, known);
    if (!hasEnded(task)) await this.#edit(item, task, known);
  }

  async #updateWaiting(each: ExternalItem, item: TrackerItem, waiting: string, known: Known): Promise<void> {
    if (item.status !== 'waiting') return;
    if (each.state === 'closed') return this.#leave(item, 'it was closed');
    if (!each.isSelected) return this.#leave(item, 'it is no longer one of those that become tasks');
    await this.#take(item, waiting, null, known);
  }

  /** A re-opened item is new work: the cancelled task goes on, a landed one gets a successor. */
  async #again(item: TrackerItem, task: Task, waiting: string, known: Known): Promise<void> {
    if (waiting === 'untrusted') return;
    if (task.stage === 'done') return this.#take(item, waiting, task, known);
    const { store, project, onNote } = this.#deps;
    const note = `${item.key} was opened again.`;
    const by = engineActor('tracker');
    const retry: Command = { type: 'task.retry', projectId: project.id, taskId: task.id, by, note };
    const reply = await store.executeAll([retry, ...followCommands(project.id, item, task, by)]);
    if (!reply.ok) onNote(`#${task.number} could not be taken up again: ${reply.refusal.message}`);
  }

  async #edit(item: TrackerItem, task: Task, known: Known): Promise<void> {
    const { store, project, onNote } = this.#deps;
    const { seen, takenHash, waiting } = item;
    if (!seen || waiting === 'edited') return;
    const by = engineActor('tracker');
    if (seen.hash !== takenHash) {
      const follow: Command = { type: 'tracker_item.follow', ...ofItem(item, task), hash: seen.hash };
      // An item of our own is seen for the first time: the task is what it was made of.
      const commands = takenHash === null ? [follow] : followCommands(project.id, item, task, by);
      const reply = await store.executeAll(commands);
      if (!reply.ok) onNote(`#${task.number} does not follow ${item.key}: ${reply.refusal.message}`);
    }
    const dependsOn = dependenciesOf(item, known);
    if (takenHash === null || task.stage !== 'open' || dependsOn === null) return;
    const missing = dependsOn.some((id) => !task.dependsOn.includes(id));
    const obsolete = task.dependsOn.length > dependsOn.length && (await this.#areOpen(task.dependsOn, dependsOn));
    if (!missing && !obsolete) return;
    const set = { type: 'task.set_dependencies', projectId: project.id, taskId: task.id, dependsOn } as const;
    const reply = await store.execute(set);
    if (!reply.ok) onNote(`#${task.number} does not get the dependencies of ${item.key}: ${reply.refusal.message}`);
  }

  /** Whether one of these tasks is still to be done, without those that stay. */
  async #areOpen(all: string[], staying: string[]): Promise<boolean> {
    const { store, project } = this.#deps;
    const ids = all.filter((id) => !staying.includes(id));
    return (await store.tasks({ projectId: project.id, ids })).some(({ stage }) => stage !== 'done');
  }

  /** Its task is cancelled, unless it is about to land; its work is kept. */
  async #leave(item: TrackerItem, why: string): Promise<void> {
    const { store, project, onNote } = this.#deps;
    const task = item.taskId === null ? null : await store.task(item.taskId);
    const projectId = project.id;
    if (task && !hasEnded(task)) {
      const by = engineActor('tracker');
      const reply = await store.execute({ type: 'task.cancel', projectId, taskId: task.id, by });
      if (!reply.ok) return onNote(`#${task.number} goes on although of ${item.key}: ${why}. ${reply.refusal.message}`);
      await store.execute({ type: 'task.note', projectId, taskId: task.id, by, text: `${item.key}: ${why}.` });
    }
    await store.execute({ type: 'tracker_item.leave', projectId, itemId: item.id, why });
  }
}

const ofItem = ({ id: itemId, projectId }: TrackerItem, { id: taskId }: Task) => ({ projectId, itemId, taskId });

const isUntouched = ({ stage, lease, runs }: Task) =>
  stage === 'open' && lease === null && Object.keys(runs).length === 0;

/** Items after those they wait for. A cycle is left in the order of the list. */
function inOrder(items: ExternalItem[]): ExternalItem[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  const placed = new Set<string>();
  const ordered: ExternalItem[] = [];
  const place = (item: ExternalItem): void => {
    if (placed.has(item.key)) return;
    placed.add(item.key);
    for (const { key } of item.content.blockedBy) if (byKey.has(key)) place(byKey.get(key)!);
    ordered.push(item);
  };
  for (const item of items) place(item);
  return ordered;
}
