import {
  type Evidence,
  type Project,
  type Run,
  recordColumns,
  type StoredRecord,
  type Task,
  type Worker,
} from '@tidemill/contract';
import { isOpenConflict } from './pipeline/open-conflict.ts';
import { claimOrder, isReady } from './schedule/ready.ts';

/** The rows of each table. A row is stored as one document; its columns hold what queries need. */
export interface TableRows {
  projects: Project;
  workers: Worker;
  tasks: Task;
  runs: Run;
  evidence: Evidence;
  records: StoredRecord;
}
export type TableName = keyof TableRows;
export type ColumnValue = string | number | null;

interface Column<Row> {
  type: 'text' | 'smallint' | 'integer' | 'bigint';
  of(row: Row): ColumnValue;
}
const column =
  (type: Column<never>['type']) =>
  <Row>(of: (row: Row) => ColumnValue): Column<Row> => ({ type, of });
const text = column('text');
const small = column('smallint');
const integer = column('integer');
const bigint = column('bigint');
const flag = <Row>(of: (row: Row) => boolean): Column<Row> => small((row: Row) => (of(row) ? 1 : 0));

/** Every column of every table, in the order of the database. They are derived from the row on each save. */
export const TABLES: { readonly [T in TableName]: Readonly<Record<string, Column<TableRows[T]>>> } = {
  projects: { id: text(({ id }) => id), root: text(({ root }) => root) },
  workers: { id: text(({ id }) => id), project_id: text(({ projectId }) => projectId) },
  tasks: {
    id: text(({ id }) => id),
    project_id: text(({ projectId }) => projectId),
    number: integer(({ number }) => number),
    stage: text(({ stage }) => stage),
    /** Set only while the task can be claimed, so that the index of claimable tasks holds nothing else. */
    ready_role: text((task) => (isReady(task) ? task.role : null)),
    priority: small((task) => claimOrder(task)[0]),
    rework: small((task) => claimOrder(task)[1]),
    not_before: bigint(({ notBefore }) => notBefore),
    waiting: flag(({ waiting }) => waiting !== null),
    lease_worker: text(({ lease }) => lease?.workerId ?? null),
    /** Others may have to wait while it is leased. */
    scoped: flag(({ files, forecast, origin }) => files.length > 0 || forecast.length > 0 || origin?.kind === 'loop'),
    last_run_id: text(({ lastRunId }) => lastRunId),
    title_key: text(({ title }) => searchKey(title)),
    /** A conflict that waits for a person: each claim of a builder counts them. */
    conflicting: flag(isOpenConflict),
    built_at: bigint((task) => claimOrder(task)[2]),
  },
  runs: {
    id: text(({ id }) => id),
    subject_id: text(({ subjectId }) => subjectId),
    project_id: text(({ projectId }) => projectId),
    ended_at: bigint(({ endedAt }) => endedAt),
    job_id: text(({ jobId }) => jobId ?? null),
  },
  evidence: {
    id: text(({ id }) => id),
    project_id: text(({ projectId }) => projectId),
    position: integer(({ position }) => position),
    tree: text(({ tree }) => tree),
    task_id: text(({ taskId }) => taskId),
    hash: text(({ hash }) => hash),
  },
  records: {
    id: text(({ id }) => id),
    noun: text(({ noun }) => noun),
    project_id: text(({ projectId }) => projectId),
    parent: text((record) => recordColumns(record).parent),
    is_open: flag((record) => recordColumns(record).isOpen),
    due_at: bigint((record) => recordColumns(record).dueAt),
  },
};

/** The values of a row's columns, in the order of `TABLES`. */
export function columnValues<T extends TableName>(table: T, row: TableRows[T]): ColumnValue[] {
  return Object.values(TABLES[table]).map(({ of }) => of(row));
}

/** Titles and search words are compared in lower case, without the character that Postgres rejects in text. */
export const searchKey = (words: string) => words.toWellFormed().replaceAll('\0', '').toLowerCase();

/** The value of one column. */
export const columnOf = (table: TableName, name: string, row: unknown): ColumnValue =>
  (TABLES[table][name] as Column<unknown>).of(row);

/** Orders two rows by columns; a leading minus sorts descending. */
export function compareBy(table: TableName, order: readonly string[], a: unknown, b: unknown): number {
  for (const name of order) {
    const isDown = name.startsWith('-');
    const column = isDown ? name.slice(1) : name;
    const left = columnOf(table, column, a);
    const right = columnOf(table, column, b);
    if (left === right) continue;
    const isBefore = left !== null && (right === null || left < right);
    return isBefore === isDown ? 1 : -1;
  }
  return 0;
}
