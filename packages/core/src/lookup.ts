import { type ColumnValue, columnOf, type TableName, type TableRows } from './tables.ts';

/**
 * How rows are found. A store interprets these declarations: a new one needs no change in the store.
 *
 *   rows     all rows whose `where` columns equal the arguments
 *   count    only how many there are
 *   window   the first rows in `order`; the last argument says how many at most
 *   lastRun  the newest run of a task, found through the task's `last_run_id`
 *   edges    pairs of a task and one it depends on, of all tasks of a project that are not done
 */
interface Declaration {
  kind: 'rows' | 'count' | 'window' | 'lastRun' | 'edges';
  table: TableName;
  /** Columns that are compared with the arguments. `depends_on` is the list of tasks that a task waits for. */
  where: readonly string[];
  /** Columns that must hold this value. */
  fixed?: Readonly<Record<string, ColumnValue>>;
  /** A column that must not be null. */
  present?: string;
  /** A column whose time must not be in the future. */
  due?: string;
  /** Columns; a leading minus sorts descending. */
  order?: readonly string[];
  /** `skip` ignores rows that others have locked. */
  lock: 'none' | 'wait' | 'skip';
  /** Rows that cannot be read are ignored. Without this they are an error. */
  lenient?: true;
  /** The index that SQLite must use: its planner would choose another. */
  index?: string;
}

/**
 * Everything a command can read. Rows are looked up and locked in this order, ids ascending, so that two transactions
 * never wait for each other. A lookup by a column that others change comes after the lock that prevents the change.
 */
export const LOOKUPS = {
  project: { kind: 'rows', table: 'projects', where: ['id'], lock: 'none' },
  /** Counters, and the head of the evidence chain. */
  lockedProject: { kind: 'rows', table: 'projects', where: ['id'], lock: 'wait' },
  worker: { kind: 'rows', table: 'workers', where: ['id'], lock: 'wait' },
  leasedBy: {
    kind: 'rows',
    table: 'tasks',
    where: ['lease_worker'],
    present: 'lease_worker',
    lock: 'none',
    lenient: true,
  },
  task: { kind: 'rows', table: 'tasks', where: ['id'], lock: 'wait' },
  dependentsOf: { kind: 'rows', table: 'tasks', where: ['depends_on'], lock: 'wait' },
  /** Its task's lock protects it. */
  run: { kind: 'rows', table: 'runs', where: ['id'], lock: 'none' },
  lastRunOf: { kind: 'lastRun', table: 'runs', where: ['subject_id'], lock: 'none' },
  runsOfJob: { kind: 'rows', table: 'runs', where: ['job_id'], present: 'job_id', lock: 'none' },
  ready: {
    kind: 'window',
    table: 'tasks',
    where: ['project_id', 'ready_role'],
    present: 'ready_role',
    due: 'not_before',
    order: ['priority', 'rework', 'built_at', 'number'],
    lock: 'skip',
    lenient: true,
    index: 'tasks_ready',
  },
  /** Conflicts that wait for a person. */
  openConflicts: {
    kind: 'count',
    table: 'tasks',
    where: ['project_id'],
    fixed: { conflicting: 1 },
    lock: 'none',
    index: 'tasks_conflicting',
  },
  /** Leased tasks with a file scope or a coming conflict, and those of the loop. */
  scopedRunning: {
    kind: 'rows',
    table: 'tasks',
    where: ['project_id'],
    fixed: { scoped: 1 },
    present: 'lease_worker',
    lock: 'none',
    lenient: true,
    index: 'tasks_leased',
  },
  evidenceFor: { kind: 'rows', table: 'evidence', where: ['project_id', 'tree'], order: ['position'], lock: 'none' },
  /** For the check of cycles. A cancelled task can come back, so its edges count. */
  edges: { kind: 'edges', table: 'tasks', where: ['project_id'], lock: 'none' },
  record: { kind: 'rows', table: 'records', where: ['id'], lock: 'wait' },
  openRecordsOf: {
    kind: 'rows',
    table: 'records',
    where: ['parent'],
    fixed: { is_open: 1 },
    order: ['id'],
    lock: 'wait',
  },
  readRecord: { kind: 'rows', table: 'records', where: ['id'], lock: 'none' },
  recordsOf: { kind: 'rows', table: 'records', where: ['project_id', 'noun'], lock: 'none', lenient: true },
  /** All open records of a noun, the most urgent first. For nouns with few open records at a time. */
  openRecords: {
    kind: 'rows',
    table: 'records',
    where: ['project_id', 'noun'],
    fixed: { is_open: 1 },
    order: ['due_at', 'id'],
    lock: 'wait',
  },
  readOpenRecords: {
    kind: 'rows',
    table: 'records',
    where: ['project_id', 'noun'],
    fixed: { is_open: 1 },
    lock: 'none',
    lenient: true,
  },
  /** The newest records about something: ids grow with time. */
  newestRecordsOf: {
    kind: 'window',
    table: 'records',
    where: ['parent', 'noun'],
    order: ['-id'],
    lock: 'none',
    lenient: true,
  },
} as const satisfies Record<string, Declaration>;

export type LookupName = keyof typeof LOOKUPS;
type Declared<N extends LookupName> = (typeof LOOKUPS)[N];
type Where<W extends readonly string[]> = { -readonly [K in keyof W]: string };
type Limit<K> = K extends 'window' ? [limit: number] : [];
/** A lookup's arguments: a value for each column, and for a window the maximum number of rows. */
export type LookupArgs<N extends LookupName> = [...Where<Declared<N>['where']>, ...Limit<Declared<N>['kind']>];
export type LookupRow<N extends LookupName> = TableRows[Declared<N>['table']];

/** One read of a command. */
export interface Lookup {
  find: LookupName;
  by: readonly (string | number)[];
}

export const look = <N extends LookupName>(find: N, ...by: LookupArgs<N>): Lookup => ({ find, by });

export const declared = (find: LookupName): Declaration => LOOKUPS[find];

/** The arguments without a window's limit: two windows of different sizes read the same rows. */
export function keyOf({ find, by }: Lookup): string {
  return JSON.stringify(by.slice(0, declared(find).where.length));
}

/** The keys under which a lookup finds a row: none when it does not match, several where a list is compared. */
export function keysFor<T extends TableName>(find: LookupName, row: TableRows[T]): string[] {
  const { table, where, fixed = {}, present } = declared(find);
  const value = (column: string) => columnOf(table, column, row);
  if (present !== undefined && value(present) === null) return [];
  for (const [column, wanted] of Object.entries(fixed)) if (value(column) !== wanted) return [];
  if (where[0] === 'depends_on') return (row as TableRows['tasks']).dependsOn.map((id) => JSON.stringify([id]));
  return [JSON.stringify(where.map(value))];
}

/**
 * The lookups of a batch of commands as one list: each once, in the order of `LOOKUPS`, arguments ascending. Each claim
 * takes at most one row from the later ones, so one more row per claim keeps every window full.
 */
export function merged(lookups: readonly Lookup[]): Lookup[] {
  const byName = new Map<LookupName, Map<string, Lookup>>();
  for (const lookup of lookups) {
    const known = byName.get(lookup.find) ?? new Map<string, Lookup>();
    byName.set(lookup.find, known);
    const key = keyOf(lookup);
    const before = known.get(key);
    known.set(key, before && declared(lookup.find).kind === 'window' ? widened(before, lookup) : lookup);
  }
  return ORDER.flatMap((find) => {
    const found = byName.get(find);
    return found ? [...found.keys()].sort().map((key) => found.get(key)!) : [];
  });
}

const ORDER = Object.keys(LOOKUPS) as LookupName[];

function widened(a: Lookup, b: Lookup): Lookup {
  const limit = Math.max(Number(a.by.at(-1)), Number(b.by.at(-1))) + 1;
  return { find: a.find, by: [...a.by.slice(0, -1), limit] };
}
