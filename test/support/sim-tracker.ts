import { kindOfLabels, type OutsideStatus, priorityOfItem } from '@tidemill/core';
import {
  type ExternalItem,
  type GoneItem,
  type ItemComment,
  type NewItem,
  type OpenItem,
  type OutsideComment,
  type Tracker,
  type TrackerChanges,
  TrackerError,
  type TrackerTrouble,
} from '../../packages/daemon/src/ports.ts';

export interface SimItem {
  number: number;
  title: string;
  body: string;
  labels: string[];
  author: string;
  mayPush: boolean;
  blockedBy: number[];
  state: 'open' | 'closed';
  isRejected: boolean;
  changed: number;
  gone: string | null;
  status: OutsideStatus | null;
  comments: { id: string; instance: string; isActive: boolean; text: string; edits: number }[];
  marker: string | null;
}

/** A tracker in memory that people edit, that fails when asked to, and that counts. `agent` is the label it selects by. */
export class SimTracker implements Tracker {
  readonly name = 'sim:board';
  readonly url = null;
  readonly all: SimItem[] = [];
  /** Every write, in order. */
  readonly writes: string[] = [];
  reads = 0;
  readonly #said: (ItemComment & { at: number })[] = [];
  /** The next calls fail, before or after they took effect. */
  readonly troubles: { trouble: TrackerTrouble; isAfter?: boolean; retryInMs?: number; on?: string }[] = [];
  #time = 0;

  add(title: string, change: Partial<SimItem> = {}): SimItem {
    const item: SimItem = {
      ...{
        number: this.all.length + 1,
        title,
        body: '- [ ] it works',
        labels: ['agent'],
        author: 'ada',
        mayPush: true,
      },
      ...{ blockedBy: [], state: 'open', isRejected: false, changed: 0, gone: null, status: null, comments: [] },
      ...{ marker: null, ...change },
    };
    this.all.push(item);
    return this.edit(item, {});
  }

  /** What a person does on the tracker's own pages. */
  edit(item: SimItem, change: Partial<SimItem>): SimItem {
    this.#time += 1;
    return Object.assign(item, change, { changed: this.#time });
  }

  /** A comment below an item. */
  say(item: SimItem, text: string, author = 'ada', mayPush = true): void {
    this.edit(item, {});
    const id = `said-${this.#said.length + 1}`;
    this.#said.push({ key: this.keyOf(item), id, author, mayPush, text, at: this.#time });
  }

  comments(key: string): Promise<ItemComment[]> {
    return this.#call(`comments ${key}`, () => this.#said.filter((comment) => comment.key === key));
  }

  async changes(cursor: string | null): Promise<TrackerChanges> {
    this.reads += 1;
    return this.#call('changes', () => {
      const since = cursor === null ? 0 : Number(cursor);
      const there = this.all.filter(({ gone, changed }) => gone === null && changed > since);
      const items = there.map((item) => this.#external(item));
      const wanted = cursor === null ? items.filter(({ isSelected, state }) => isSelected && state === 'open') : items;
      const comments = cursor === null ? [] : this.#said.filter(({ at }) => at > since);
      return { items: wanted, comments, cursor: String(this.#time), isWhole: cursor === null };
    });
  }

  items(keys: readonly string[]): Promise<(ExternalItem | GoneItem)[]> {
    return this.#call('items', () =>
      keys.map((key) => {
        const item = this.at(key);
        return item.gone === null ? this.#external(item) : { key, gone: item.gone };
      }),
    );
  }

  openItems(): Promise<OpenItem[]> {
    return this.#call('open items', () =>
      this.all
        .filter(({ gone, state }) => gone === null && state === 'open')
        .sort((a, b) => b.changed - a.changed)
        .map((item) => ({ key: this.keyOf(item), title: item.title, body: item.body })),
    );
  }

  comment(
    key: string,
    { instance, isActive, text, id, isTakenOver }: OutsideComment,
  ): Promise<{ id: string } | { takenBy: string }> {
    return this.#call(`comment ${key}`, () => {
      const item = this.at(key);
      const rival = item.comments.find((each) => each.instance !== instance && each.isActive);
      if (rival && !isTakenOver) return { takenBy: rival.instance };
      const known = item.comments.find((each) => each.id === id || each.instance === instance);
      this.writes.push(`${known ? 'edit' : 'comment'} ${item.number}`);
      if (known) Object.assign(known, { text, isActive, edits: known.edits + 1 });
      else item.comments.push({ id: `c${item.comments.length + 1}`, instance, isActive, text, edits: 0 });
      this.edit(item, {});
      return { id: known?.id ?? item.comments.at(-1)!.id };
    });
  }

  label(key: string, { add, remove }: { add: readonly string[]; remove: readonly string[] }): Promise<void> {
    return this.#call(`label ${key}`, () => {
      const item = this.at(key);
      this.writes.push(`label ${item.number} ${[...add.map((l) => `+${l}`), ...remove.map((l) => `-${l}`)].join(' ')}`);
      const left = item.labels.filter((label) => !remove.includes(label));
      this.edit(item, { labels: [...new Set([...left, ...add])] });
    });
  }

  setStatus(key: string, status: OutsideStatus): Promise<void> {
    return this.#call(`status ${key}`, () => {
      this.writes.push(`status ${this.at(key).number} ${status}`);
      this.edit(this.at(key), { status });
    });
  }

  close(key: string): Promise<void> {
    return this.#call(`close ${key}`, () => {
      if (this.at(key).state === 'open') this.writes.push(`close ${this.at(key).number}`);
      this.edit(this.at(key), { state: 'closed' });
    });
  }

  reopen(key: string): Promise<void> {
    return this.#call(`reopen ${key}`, () => void this.edit(this.at(key), { state: 'open' }));
  }

  create({ title, body, labels, marker }: NewItem): Promise<{ key: string; url: null }> {
    return this.#call('create', () => {
      const found = this.all.find((item) => item.marker === marker);
      if (!found) this.writes.push(`create ${title}`);
      const item = found ?? this.add(title, { body, labels, marker, author: 'mill-bot' });
      return { key: this.keyOf(item), url: null };
    });
  }

  keyOf = ({ number }: SimItem) => `${this.name}#${number}`;

  at(key: string): SimItem {
    return this.all.find((item) => this.keyOf(item) === key)!;
  }

  async #call<T>(what: string, act: () => T): Promise<T> {
    const at = this.troubles.findIndex(({ on }) => on === undefined || what.startsWith(on));
    const [planned] = at < 0 ? [] : this.troubles.splice(at, 1);
    const fail = () => {
      const { trouble, retryInMs } = planned!;
      throw new TrackerError(trouble, `the board says ${trouble}`, retryInMs === undefined ? {} : { retryInMs });
    };
    if (planned && !planned.isAfter) fail();
    const result = act();
    if (planned) fail();
    return result;
  }

  #external(item: SimItem): ExternalItem {
    const { title, body, labels, author, mayPush, state, isRejected, changed, marker } = item;
    const blockedBy = item.blockedBy.map((number) => {
      const other = this.all[number - 1]!;
      return { key: this.keyOf(other), isDone: other.state === 'closed' };
    });
    const content = {
      title,
      body,
      labels,
      kind: kindOfLabels(labels),
      priority: priorityOfItem(labels, null),
      blockedBy,
    };
    return {
      ...{ key: this.keyOf(item), url: null, author, mayPush, content, state, isRejected, marker },
      ...{ updatedAt: String(changed), isSelected: labels.includes('agent') },
    };
  }
}
