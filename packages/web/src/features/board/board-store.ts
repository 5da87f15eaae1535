import type { TaskSummary } from '@tidemill/contract';
import { api, soon } from '../../api.ts';
import { fitsWords } from '../../search-words.ts';

const PAGE = 200;
/** For what was read before and is read again, and where little of a page is shown. */
const LARGE_PAGE = 1000;
/** These only grow, and what was finished last is looked for first. */
const NEWEST_FIRST = ['done', 'cancelled'];

export interface ColumnView {
  tasks: readonly TaskSummary[];
  isRead: boolean;
  isReading: boolean;
  hasMore: boolean;
  error: unknown;
}

/** A move that is shown before the daemon has said yes. */
export interface PendingMove {
  confirm(task: TaskSummary): void;
  undo(): void;
}

const UNREAD: ColumnView = { tasks: [], isRead: false, isReading: false, hasMore: true, error: null };

class Column {
  readonly members = new Map<number, TaskSummary>();
  view = UNREAD;
  isChanged = false;
  /** The last number that was read. */
  end: number | undefined;
  readonly newestFirst: boolean;

  constructor(stage: string) {
    this.newestFirst = NEWEST_FIRST.includes(stage);
  }

  /** Whether somebody has looked as far as this number. */
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

  /** The list anew, once for however much has changed. */
  show(): void {
    if (!this.isChanged) return;
    this.isChanged = false;
    const sign = this.newestFirst ? -1 : 1;
    this.set({ tasks: [...this.members.values()].sort((one, other) => sign * (one.number - other.number)) });
  }
}

/**
 * The tasks of a board by stage: read in pages as far as somebody looks, and from then on kept true by the changes the
 * daemon tells. Only for one project and one text that is searched for.
 */
export class BoardStore {
  readonly #project: string;
  readonly #search: string;
  readonly #fits: (task: TaskSummary) => boolean;
  readonly #tasks = new Map<number, TaskSummary>();
  readonly #columns = new Map<string, Column>();
  /** When each task was last told of: the answer to an earlier question knows less than that. */
  readonly #toldAt = new Map<number, number>();
  #told = 0;
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

  /** What is shown until the first answers come: as much of another search's findings as fits this one. */
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

  /** Tasks as they are now. */
  take(tasks: TaskSummary[]): void {
    for (const task of tasks) {
      this.#told += 1;
      this.#toldAt.set(task.number, this.#told);
      this.#put(task);
    }
    this.#tell();
  }

  move(task: TaskSummary, to: string): PendingMove {
    const shown = { ...task, stage: to, stageSince: Date.now(), worker: null, blocked: null, waiting: null };
    this.take([shown]);
    // What the daemon told meanwhile is newer than what it answers, and truer than what was before.
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
    await this.#read(column, async (told) => {
      const size = isMuchWanted ? LARGE_PAGE : PAGE;
      const page = await this.#page(stage, column.end, size);
      if (!isRead) this.#drop(column, page, told);
      this.#merge(stage, page, told, page.length === size);
    });
  }

  /** What was read of a column before, once more. */
  async again(stage: string): Promise<void> {
    const column = this.#column(stage);
    const { isReading, isRead, hasMore } = column.view;
    if (!isRead && column.view.error) return this.more(stage);
    if (isReading || !isRead) return;
    await this.#read(column, async (told) => {
      const found: TaskSummary[] = [];
      const wanted = hasMore ? column.members.size : Number.POSITIVE_INFINITY;
      let isFull = true;
      while (isFull && found.length < Math.max(wanted, PAGE)) {
        const page = await this.#page(stage, found.at(-1)?.number, LARGE_PAGE);
        found.push(...page);
        isFull = page.length === LARGE_PAGE;
      }
      this.#drop(column, found, told);
      this.#merge(stage, found, told, isFull);
    });
  }

  async #read(column: Column, work: (told: number) => Promise<void>): Promise<void> {
    column.set({ isReading: true, error: null });
    this.#tell();
    try {
      await work(this.#told);
    } catch (error) {
      if (this.#over.signal.aborted) return;
      column.set({ error });
    }
    column.set({ isReading: false });
    this.#tell();
  }

  #page(stage: string, afterNumber: number | undefined, limit: number): Promise<TaskSummary[]> {
    const search = this.#search === '' ? undefined : this.#search;
    const { newestFirst } = this.#column(stage);
    const query = { project: this.#project, stages: [stage], search, newestFirst, afterNumber, limit };
    return api.tasks(query, soon(this.#over.signal));
  }

  /** What is not among those found has left the column, unless it came while they were looked for. */
  #drop(column: Column, found: TaskSummary[], told: number): void {
    const numbers = new Set(found.map(({ number }) => number));
    for (const number of [...column.members.keys()]) {
      if (numbers.has(number) || this.#isNewer(number, told)) continue;
      column.remove(number);
      this.#tasks.delete(number);
    }
  }

  #merge(stage: string, page: TaskSummary[], told: number, hasMore: boolean): void {
    const column = this.#column(stage);
    column.set({ isRead: true, hasMore });
    column.end = page.at(-1)?.number ?? column.end;
    for (const task of page) if (!this.#isNewer(task.number, told)) this.#put(task);
    // These lay behind the end when they were told of.
    for (const task of this.#tasks.values())
      if (task.stage === stage && this.#isNewer(task.number, told)) this.#put(task);
  }

  #isNewer(number: number, told: number): boolean {
    return (this.#toldAt.get(number) ?? 0) > told;
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

  #tell(): void {
    for (const column of this.#columns.values()) column.show();
    for (const listener of this.#listeners) listener();
  }
}
