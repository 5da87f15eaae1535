import { EVENT_VERSION, subjectIdOf } from '@tidemill/contract';
import {
  columnValues,
  declared,
  type Lookup,
  type LookupName,
  nounWord,
  type Rows,
  searchableOf,
  type TableName,
  type TableRows,
} from '@tidemill/core';
import type { PendingEvent } from './driver.ts';
import { LoadedSlice, type RowMemo } from './loaded-slice.ts';
import type { JsonText, PreparedCall, Rowset, Value } from './postgres-pipeline.ts';
import { call, columnsOf, type StatementName } from './postgres-statements.ts';

/** From this many rows, one statement over arrays is faster than one per row (measured). */
const MANY = 5;

interface Load {
  step: PreparedCall;
  /** Locked rows are the newest; they go into the slice before rows that were only read. */
  locked: boolean;
  take(rows: Rowset, loaded: LoadedSlice): void;
}

/** The statements that execute lookups, in the order of locking, and what to do with their results. */
export function loadsOf(lookups: readonly Lookup[], now: number): Load[] {
  const byName = Map.groupBy(lookups, ({ find }) => find);
  return [...byName].flatMap(([find, all]) =>
    declared(find).kind === 'window' ? all.map((lookup) => windowLoad(lookup, now)) : [listLoad(find, all)],
  );
}

function windowLoad(lookup: Lookup, now: number): Load {
  const { due, where, lock } = declared(lookup.find);
  const values = [...lookup.by];
  if (due !== undefined) values.splice(where.length, 0, now);
  return {
    step: call(`find_${lookup.find}`, ...values),
    locked: lock !== 'none',
    take: (rows, to) => to.take(lookup, rows.map(doc)),
  };
}

/** One statement for all arguments of a lookup: each gets its matching rows. */
function listLoad(find: LookupName, all: Lookup[]): Load {
  const { where, lock } = declared(find);
  const lists = where.map((_, index) => all.map(({ by }) => by[index]!));
  return { step: call(`find_${find}`, ...lists), locked: lock !== 'none', take: takerOf(find, all) };
}

function takerOf(find: LookupName, all: Lookup[]): Load['take'] {
  const { kind } = declared(find);
  if (kind === 'edges') return (rows, to) => to.slice.loadEdges(rows.map((row) => [owner(row), doc(row)] as const));
  if (kind === 'count')
    return (rows, to) => {
      const counts = new Map(rows.map((row) => [owner(row), Number(row[0])]));
      for (const lookup of all) to.slice.loadCount(lookup, counts.get(String(lookup.by[0])) ?? 0);
    };
  return (rows, to) => to.takeAll(all, rows.filter((row) => row[0] !== null).map(doc));
}

export function fill(loads: Load[], answers: Rowset[], memo: RowMemo): LoadedSlice {
  const loaded = new LoadedSlice(memo);
  for (const locked of [true, false]) {
    loads.forEach((load, index) => {
      if (load.locked === locked) load.take(answers[index]!, loaded);
    });
  }
  return loaded;
}

/** The notification of a commit for other processes. */
interface Notification {
  channel: string;
  payload: string;
}

/** The statements that save what changed; the one that appends to the log is the last. */
export function savesOf(loaded: LoadedSlice, events: PendingEvent[], notify: Notification): PreparedCall[] {
  return [...rowSavesOf(loaded), appendOf(events, notify)];
}

export function rowSavesOf(loaded: LoadedSlice): PreparedCall[] {
  const { projects, workers, tasks, runs, evidence, records } = loaded.slice;
  const steps: PreparedCall[] = [];
  const save = <T extends 'projects' | 'workers' | 'tasks' | 'runs'>(noun: T, rows: Rows<TableRows[T]>) => {
    const changed = [...rows.changed.values()];
    const values = (row: TableRows[T]) => valuesOf(noun, row);
    write(`insert_${noun}`, changed.filter((row) => !loaded.isStored(row.id)).map(values));
    write(`update_${noun}`, changed.filter((row) => loaded.isStored(row.id)).map(values));
  };
  const write = (name: StatementName, rows: Values[]) => {
    if (name === 'update_tasks' && rows.length < MANY) steps.push(...rows.map((row) => call('update_task', ...row)));
    else if (rows.length > 0) steps.push(call(name, ...columnsOf(rows)));
  };
  save('projects', projects);
  save('workers', workers);
  if (workers.removed.size > 0) steps.push(call('delete_workers', [...workers.removed]));
  save('tasks', tasks);
  save('runs', runs);
  // A record that was looked for and not found is inserted, never saved over another one: no lock keeps two processes from
  // creating it at the same time. The second one fails, and decides again with the first one's record.
  const [missing, others] = [true, false].map((isMissing) =>
    [...records.changed.values()]
      .filter(({ id }) => (records.isAsked(id) && !loaded.isStored(id)) === isMissing)
      .map((row) => valuesOf('records', row)),
  );
  write('insert_records', missing!);
  write('save_records', others!);
  write('save_record_words', [...records.changed.values()].flatMap(wordsOfRecord));
  write(
    'insert_evidence',
    [...evidence.changed.values()].map((row) => valuesOf('evidence', row)),
  );
  const depending = loaded.withNewDependencies();
  const stored = depending.filter((row) => loaded.isStored(row.id)).map((row) => row.id);
  if (stored.length > 0) steps.push(call('delete_dependencies', stored));
  write(
    'insert_dependencies',
    depending.flatMap((row) => [...new Set(row.dependsOn)].map((id) => [row.id, id])),
  );
  return steps;
}

type Values = Value[];

function wordsOfRecord(record: TableRows['records']): Values[] {
  const { id, noun, projectId } = record;
  const searchable = searchableOf(record);
  if (!searchable) return [];
  const { words, tags } = searchable;
  const search = words.map((word) => nounWord(noun, word)).join(' ');
  return [[id, noun, projectId, words.join(' '), search, tags.join(' ')]];
}

function appendOf(events: PendingEvent[], { channel, payload }: Notification): PreparedCall {
  const rows = events.map(
    ({ projectId, at, body }): Values => [projectId, subjectIdOf(body), body.type, at, EVENT_VERSION, json(body)],
  );
  return call('append_events', channel, payload, rows.length, ...columnsOf(rows));
}

const valuesOf = <T extends TableName>(table: T, row: TableRows[T]): Values => [...columnValues(table, row), json(row)];

function json(row: unknown): JsonText {
  return { json: JSON.stringify(row) };
}

/** Statements that load rows return the document first, then its owner. */
function doc(row: Rowset[number]): string {
  return String(row[0]);
}
function owner(row: Rowset[number]): string {
  return String(row[1]);
}
