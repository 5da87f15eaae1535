import type { TaskSummary } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { fitsWords } from '../../search-words.ts';

const PAGE = 200;
/** For reloading a column, and for filters that match few tasks of a page. */
const LARGE_PAGE = 1000;
/** These only grow, and the latest tasks matter most. */
const NEWEST_FIRST = ['done', 'cancelled'];

export interface ColumnView {
  tasks: readonly TaskSummary[];
  isRead: boolean;
  isReading: boolean;
  hasMore: boolean;
  error: unknown;
}

/** A move that is shown before the daemon has confirmed it. */
export interface PendingMove {
  confirm(task: TaskSummary): void;
  undo(): void;
}

const UNREAD: ColumnView = { tasks: [], isRead: false, isReading: false, hasMore: true, error: null };

class Column {
  readonly members = new Map<number, TaskSummary>();
  view = UNREAD;
  isChanged = false;
  /** The last number that was loaded. */
  end: number | undefined;
  readonly newestFirst: boolean;

  constructor(stage: string) {
    this.newestFirst = NEWEST_FIRST.includes(stage);
  }

  /** Whether the column is loaded as far as this number. */
  reaches(number: number): boolean {
    const { isRead, hasMore } = this.view;
    if (!isRead) return false;
    if (!hasMore || this.end === undefined) return true;
    return this.newestFirst ? number >= this.end : number <= this.end;
  }

  add(task: TaskSummary): void {
    this.members.set(task.number, task);
    this.isChanged = true;
  }

  remove(number: number): void {
    if (this.members.delete(number)) this.isChanged = true;
  }

  set(change: Partial<ColumnView>): void {
    this.view = { ...this.view, ...change };
  }

  /** Rebuilds the list once after any number of changes. */
  show(): void {
    if (!this.isChanged) return;
    this.isChanged = false;
    const sign = this.newestFirst ? -1 : 1;
    this.set({ tasks: [...this.members.values()].sort((one, other) => sign * (one.number - other.number)) });
  }
}

/**
 * The tasks of a board by stage: loaded in pages as the person scrolls, then kept up to date by changes from the daemon.
 * For one project and one search text.
 */
export class BoardStore {
  readonly #project: string;
  readonly #search: string;
  readonly #fits: (task: TaskSummary) => boolean;
  readonly #tasks = new Map<number, TaskSummary>();
  readonly #columns = new Map<string, Column>();
  /** The update at which each task last changed. A response to an earlier request is older than that. */
  readonly #updatedAt = new Map<number, number>();
  #updates = 0;
  readonly #listeners = new Set<() => void>();
  readonly #over = new AbortController();

  constructor(project: string, search: string) {
    this.#project = project;
    this.#search = search;
    this.#fits = fitsWords(search);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  view(stage: string): ColumnView {
    return this.#columns.get(stage)?.view ?? UNREAD;
  }

  task(number: number): TaskSummary | undefined {
    return this.#tasks.get(number);
  }

  stages(): string[] {
    return [...this.#columns.keys()];
  }

  /** Shows the matching tasks of another search until the first responses arrive. */
  seed(other: BoardStore): void {
    for (const [stage, { members }] of other.#columns) {
      const column = this.#column(stage);
      for (const task of members.values()) {
        if (!this.#fits(task)) continue;
        column.add(task);
        this.#tasks.set(task.number, task);
      }
      column.show();
    }
  }

  close(): void {
    this.#over.abort();
  }

  /** Adds current versions of tasks. */
  take(tasks: TaskSummary[]): void {
    for (const task of tasks) {
      this.#updates += 1;
      this.#updatedAt.set(task.number, this.#updates);
      this.#put(task);
    }
    this.#notify();
  }

  move(task: TaskSummary, to: string): PendingMove {
    const shown = { ...task, stage: to, stageSince: Date.now(), worker: null, blocked: null, waiting: null };
    this.take([shown]);
    // An update from the stream is newer than the response and than the previous state.
    const settle = (settled: TaskSummary) => {
      if (this.#tasks.get(task.number) === shown) this.take([settled]);
    };
    return { confirm: settle, undo: () => settle(task) };
  }

  /** The next page of a column. */
  async more(stage: string, isMuchWanted = false): Promise<void> {
    const column = this.#column(stage);
    const { isReading, isRead, hasMore } = column.view;
    if (isReading || (isRead && !hasMore)) return;
    await this.#read(column, async (since) => {
      const size = isMuchWanted ? LARGE_PAGE : PAGE;
      const page = await this.#page(stage, column.end, size);
      if (!isRead) this.#drop(column, page, since);
      this.#merge(stage, page, since, page.length === size);
    });
  }

  /** Reloads the loaded part of a column. */
  async again(stage: string): Promise<void> {
    const column = this.#column(stage);
    const { isReading, isRead, hasMore } = column.view;
    if (!isRead && column.view.error) return this.more(stage);
    if (isReading || !isRead) return;
    await this.#read(column, async (since) => {
      const found: TaskSummary[] = [];
      const wanted = hasMore ? column.members.size : Number.POSITIVE_INFINITY;
      let isFull = true;
      while (isFull && found.length < Math.max(wanted, PAGE)) {
        const page = await this.#page(stage, found.at(-1)?.number, LARGE_PAGE);
        found.push(...page);
        isFull = page.length === LARGE_PAGE;
      }
      this.#drop(column, found, since);
      this.#merge(stage, found, since, isFull);
    });
  }

  async #read(column: Column, work: (since: number) => Promise<void>): Promise<void> {
    column.set({ isReading: true, error: null });
    this.#notify();
    try {
      await work(this.#updates);
    } catch (error) {
      if (this.#over.signal.aborted) return;
      column.set({ error });
    }
    column.set({ isReading: false });
    this.#notify();
  }

  #page(stage: string, afterNumber: number | undefined, limit: number): Promise<TaskSummary[]> {
    const search = this.#search === '' ? undefined : this.#search;
    const { newestFirst } = this.#column(stage);
    const query = { project: this.#project, stages: [stage], search, newestFirst, afterNumber, limit };
    return api.tasks(query, withTimeout(this.#over.signal));
  }

  /** Tasks that are not in `found` have left the column, unless they arrived during the request. */
  #drop(column: Column, found: TaskSummary[], since: number): void {
    const numbers = new Set(found.map(({ number }) => number));
    for (const number of [...column.members.keys()]) {
      if (numbers.has(number) || this.#isNewer(number, since)) continue;
      column.remove(number);
      this.#tasks.delete(number);
    }
  }

  #merge(stage: string, page: TaskSummary[], since: number, hasMore: boolean): void {
    const column = this.#column(stage);
    column.set({ isRead: true, hasMore });
    column.end = page.at(-1)?.number ?? column.end;
    for (const task of page) if (!this.#isNewer(task.number, since)) this.#put(task);
    // These were beyond the end of the column when they were updated.
    for (const task of this.#tasks.values())
      if (task.stage === stage && this.#isNewer(task.number, since)) this.#put(task);
  }

  #isNewer(number: number, since: number): boolean {
    return (this.#updatedAt.get(number) ?? 0) > since;
  }

  #put(task: TaskSummary): void {
    const before = this.#tasks.get(task.number);
    if (before && before.stage !== task.stage) this.#column(before.stage).remove(task.number);
    this.#tasks.set(task.number, task);
    const column = this.#column(task.stage);
    const isKnown = column.members.has(task.number);
    if (this.#fits(task) && (isKnown || column.reaches(task.number))) column.add(task);
    else if (isKnown) column.remove(task.number);
  }

  #column(stage: string): Column {
    const known = this.#columns.get(stage);
    if (known) return known;
    const column = new Column(stage);
    this.#columns.set(stage, column);
    return column;
  }

  #notify(): void {
    for (const column of this.#columns.values()) column.show();
    for (const listener of this.#listeners) listener();
  }
}
