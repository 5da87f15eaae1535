import type { Evidence, Project, RecordNoun, RecordOf, Run, StoredRecord, Task, Worker } from '@tidemill/contract';
import { Calendars } from './budget/calendar.ts';
import {
  declared,
  keyOf,
  keysFor,
  type LOOKUPS,
  type Lookup,
  type LookupArgs,
  type LookupName,
  type LookupRow,
} from './lookup.ts';
import { columnOf, compareBy, type TableName, type TableRows } from './tables.ts';

/** The loaded rows of one noun, and which of them changed. Rows are replaced, never mutated. */
export class Rows<T extends { id: string }> {
  readonly #rows = new Map<string, T>();
  readonly #asked = new Set<string>();
  readonly #isWhole: boolean;
  readonly #onPut: (row: T, before: T | undefined) => void;
  readonly changed = new Map<string, T>();
  readonly removed = new Set<string>();

  constructor(isWhole = true, onPut: (row: T, before: T | undefined) => void = () => undefined) {
    this.#isWhole = isWhole;
    this.#onPut = onPut;
  }

  /** Records that the store looked for this id: if nothing was loaded for it, the row does not exist. */
  ask(id: string): void {
    this.#asked.add(id);
  }
  isAsked(id: string): boolean {
    return this.#asked.has(id);
  }
  /** The first row loaded under an id stays. */
  load(row: T): void {
    if (!this.#rows.has(row.id)) this.#rows.set(row.id, row);
  }
  /** Undefined when there is no such row. Throws when the store did not look for it. */
  get(id: string): T | undefined {
    const row = this.#rows.get(id);
    if (row === undefined && !this.#isWhole && !this.#asked.has(id) && !this.removed.has(id))
      throw new Error(`row ${id} was read, but the command's scope does not load it`);
    return row;
  }
  /** The row if it is loaded, whether or not there is one. */
  ifLoaded(id: string): T | undefined {
    return this.#rows.get(id);
  }
  put(row: T): void {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    this.changed.set(row.id, row);
    this.removed.delete(row.id);
    this.#onPut(row, before);
  }
  remove(id: string): void {
    this.#rows.delete(id);
    this.changed.delete(id);
    this.removed.add(id);
  }
  values(): IterableIterator<T> {
    return this.#rows.values();
  }
}

/**
 * The rows a batch of commands may read and change. A store loads them by the commands' lookups, `decide`
 * reads them, `reduce` writes them, and the store saves the changes: one projection for every store and for replay.
 * Commands of one batch see each other's changes. Reading what was not looked up throws.
 */
export class Slice {
  readonly projects: Rows<Project>;
  readonly tasks: Rows<Task>;
  readonly runs: Rows<Run>;
  readonly workers: Rows<Worker>;
  readonly evidence: Rows<Evidence>;
  readonly records: Rows<StoredRecord>;
  /** What a store keeps from slice to slice. */
  readonly calendars: Calendars;
  readonly #isWhole: boolean;
  readonly #now: number;
  readonly #found = new Map<LookupName, Map<string, Set<string>>>();
  readonly #counts = new Map<LookupName, Map<string, number>>();
  readonly #edges = new Map<string, string[]>();
  #hasEdges = false;

  /** `isWhole`: it holds all rows, as in a replay of the log, so that none can be missing. */
  constructor({ isWhole = false, now = Number.POSITIVE_INFINITY, calendars = new Calendars() } = {}) {
    this.calendars = calendars;
    this.#isWhole = isWhole;
    this.#now = now;
    const rows = <T extends TableName>(table: T) =>
      new Rows<TableRows[T]>(isWhole, (row, before) => this.#follow(table, row, before));
    this.projects = rows('projects');
    this.tasks = rows('tasks');
    this.runs = rows('runs');
    this.workers = rows('workers');
    this.evidence = rows('evidence');
    this.records = rows('records');
  }

  /** Takes what a store found. */
  load<T extends TableName>(lookup: Lookup, rows: readonly TableRows[T][]): void {
    const { table, where } = declared(lookup.find);
    const ids = this.#idsOf(lookup);
    const known = this.#rows<T>(table);
    if (where.length === 1 && where[0] === 'id') known.ask(String(lookup.by[0]));
    for (const row of rows) {
      known.load(row);
      ids.add(row.id);
    }
  }
  loadCount(lookup: Lookup, count: number): void {
    const counts = this.#counts.get(lookup.find) ?? new Map<string, number>();
    this.#counts.set(lookup.find, counts.set(keyOf(lookup), count));
  }
  loadEdges(edges: Iterable<readonly [taskId: string, dependsOn: string]>): void {
    this.#hasEdges = true;
    for (const [taskId, dependsOn] of edges) this.#edges.set(taskId, [...(this.#edges.get(taskId) ?? []), dependsOn]);
  }

  /** The rows that match a lookup now, after the earlier commands of the batch. */
  list<N extends LookupName>(find: N, ...by: LookupArgs<N>): LookupRow<N>[] {
    const lookup = { find, by };
    const { table } = declared(find);
    const rows = this.#rows<(typeof LOOKUPS)[N]['table']>(table);
    const key = keyOf(lookup);
    const fits = (row: LookupRow<N> | undefined): row is LookupRow<N> =>
      row !== undefined && keysFor(find, row).includes(key);
    if (this.#isWhole) return inOrder(find, [...rows.values()].filter(fits), by, this.#now);
    const ids = this.#found.get(find)?.get(key);
    if (!ids) throw notLoaded(lookup);
    return [...ids].map((id) => rows.ifLoaded(id)).filter(fits);
  }
  count<N extends LookupName>(find: N, ...by: LookupArgs<N>): number {
    const lookup = { find, by };
    if (this.#isWhole) return this.list(find, ...by).length;
    const count = this.#counts.get(find)?.get(keyOf(lookup));
    if (count === undefined) throw notLoaded(lookup);
    return count;
  }
  /** What a task depends on. */
  edges(taskId: string): string[] {
    const loaded = this.tasks.ifLoaded(taskId);
    if (loaded) return loaded.dependsOn;
    if (!this.#hasEdges && !this.#isWhole) throw new Error('edges were read, but the scope does not load them');
    return this.#edges.get(taskId) ?? [];
  }
  record<N extends RecordNoun>(noun: N, id: string): RecordOf<N> | undefined {
    return ofNoun(noun, this.records.get(id));
  }
  /** The same for one that is loaded only if it is open: see `openRecordsOf`. */
  openRecord<N extends RecordNoun>(noun: N, id: string): RecordOf<N> | undefined {
    return ofNoun(noun, this.records.ifLoaded(id));
  }

  #rows<T extends TableName>(table: TableName): Rows<TableRows[T]> {
    return this[table] as unknown as Rows<TableRows[T]>;
  }
  #idsOf(lookup: Lookup): Set<string> {
    const byKey = this.#found.get(lookup.find) ?? new Map<string, Set<string>>();
    this.#found.set(lookup.find, byKey);
    const key = keyOf(lookup);
    const ids = byKey.get(key) ?? new Set();
    byKey.set(key, ids);
    return ids;
  }
  /** A row that starts to match a lookup is found from then on. Windows stay as they were locked. */
  #follow<T extends TableName>(table: T, row: TableRows[T], before: TableRows[T] | undefined): void {
    for (const [find, byKey] of this.#found) {
      const { table: from, kind } = declared(find);
      if (from !== table || kind === 'window') continue;
      for (const key of keysFor(find, row)) byKey.get(key)?.add(row.id);
    }
    for (const [find, counts] of this.#counts) {
      if (declared(find).table !== table) continue;
      for (const key of before ? keysFor(find, before) : []) add(counts, key, -1);
      for (const key of keysFor(find, row)) add(counts, key, 1);
    }
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = counts.get(key);
  if (count !== undefined) counts.set(key, count + more);
}

const ofNoun = <N extends RecordNoun>(noun: N, record: StoredRecord | undefined) =>
  record?.noun === noun ? (record as RecordOf<N>) : undefined;

const notLoaded = ({ find, by }: Lookup) =>
  new Error(`${find} of ${by.join(', ')} was read, but the command's scope does not load it`);

/** As a store would have found them. */
function inOrder<Row extends { id: string }>(
  find: LookupName,
  rows: Row[],
  by: readonly (string | number)[],
  now: number,
): Row[] {
  const { table, order = ['id'], kind, due } = declared(find);
  const sorted = rows.sort((a, b) => compareBy(table, order, a, b));
  if (kind !== 'window') return sorted;
  const isDue = (row: Row) => due === undefined || Number(columnOf(table, due, row)) <= now;
  return sorted.filter(isDue).slice(0, Number(by.at(-1)));
}
