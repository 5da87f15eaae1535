import { isDeepStrictEqual } from 'node:util';
import { type Rows, reduce, Slice } from '@tidemill/core';
import type { RemovedEvents, RowNoun, Store, StoredRow } from '../ports.ts';

const PAGE = 1000;
const MOST_FAULTS = 100;

/** A row that differs from the log. */
export interface Misfit {
  noun: RowNoun;
  id: string;
  why: string;
  /** The row according to the log; null when the log does not have it. */
  expected: object | null;
}

export interface Comparison {
  rows: Misfit[];
  /** Faults of the log itself. */
  log: string[];
  /** Events that cannot be read. They are ignored and cannot be restored. */
  unread: string[];
  /** The rows according to the log. */
  slice: Slice;
}

type Read = Pick<Store, 'events' | 'removedEvents' | 'rows'>;

/** Numbers that the log does not have. */
interface Gaps {
  count: number;
  seqs: number;
  /** The first ones, in words. */
  shown: string[];
}

const SHOWN_GAPS = 5;
/** Events may be removed while the log is read. */
const ATTEMPTS = 3;

/**
 * Replays the whole log and compares every row with the stored one. The store may be in use meanwhile: a row that an event
 * changed after the reading began is ignored, because either version may be seen.
 */
export async function compare(store: Read): Promise<Comparison> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await store.removedEvents();
    const gaps: Gaps = { count: 0, seqs: 0, shown: [] };
    const found = await compareOnce(store, gaps);
    const removed = await store.removedEvents();
    // What was removed meanwhile may or may not have been read.
    if (removed.count !== before.count && attempt < ATTEMPTS) continue;
    if (removed.count === before.count) found.log.push(...gapFaults(gaps, removed));
    return found;
  }
}

/** Only events that housekeeping removed may be missing. */
function gapFaults({ count, seqs, shown }: Gaps, removed: RemovedEvents): string[] {
  if (count === removed.count && seqs === removed.seqs) return [];
  return [`${count} events are missing, but ${removed.count} were removed by housekeeping`, ...shown];
}

async function compareOnce(store: Read, gaps: Gaps): Promise<Comparison> {
  const found: Comparison = { rows: [], log: [], unread: [], slice: new Slice({ isWhole: true }) };
  const { slice } = found;
  const head = await fold(store, found, gaps, 0);
  const before = snapshot(slice);
  const stored = new Map<string, StoredRow>();
  for await (const each of store.rows()) stored.set(`${each.noun} ${each.id}`, each);
  await fold(store, found, gaps, head);
  const after = snapshot(slice);
  for (const key of new Set([...after.keys(), ...before.keys(), ...stored.keys()])) {
    const expected = after.get(key) ?? null;
    if (expected !== (before.get(key) ?? null)) continue;
    const why = faultOf(stored.get(key), expected);
    const [noun] = key.split(' ', 1) as [RowNoun];
    if (why !== null) found.rows.push({ noun, id: key.slice(noun.length + 1), why, expected });
  }
  return found;
}

/** How the row differs from the log, or null. */
function faultOf(stored: StoredRow | undefined, expected: object | null): string | null {
  if (stored && stored.row === null) return `cannot be read: ${stored.why}`;
  if (expected === null) return 'is stored, but the log does not have it';
  if (!stored) return 'is missing, but the log has it';
  const fields = differences(stored.row, expected);
  return fields.length > 0 ? `differs from the log in ${fields.join(', ')}` : null;
}

/** All faults, in words. Empty when log and rows agree. */
export async function compareLogWithProjection(store: Read): Promise<string[]> {
  const { rows, log } = await compare(store);
  const faults = [...log, ...rows.map(({ noun, id, why }) => `${noun} ${id} ${why}`)];
  if (faults.length <= MOST_FAULTS) return faults;
  return [...faults.slice(0, MOST_FAULTS), `more than ${MOST_FAULTS} faults: the rest is not listed`];
}

async function fold(store: Read, { slice, log, unread }: Comparison, gaps: Gaps, after: number): Promise<number> {
  for (let cursor = after; ; ) {
    const page = await store.events({ after: cursor, limit: PAGE });
    for (const { seq, projectId, at, body } of page) {
      if (seq !== cursor + 1) widen(gaps, cursor, seq);
      cursor = seq;
      if (body.type === 'log.unreadable') unread.push(`event ${seq} (${body.was}) cannot be read: ${body.why}`);
      try {
        reduce(slice, projectId, at, body);
      } catch (error) {
        log.push(`event ${seq} (${body.type}) cannot be applied: ${error}`);
      }
    }
    if (page.length < PAGE) return cursor;
  }
}

function widen(gaps: Gaps, from: number, to: number): void {
  const missing = to - from - 1;
  gaps.count += missing;
  gaps.seqs += (missing * (from + to)) / 2;
  if (gaps.shown.length < SHOWN_GAPS) gaps.shown.push(`the log has a gap between ${from} and ${to}`);
}

/** Rows are replaced, never changed: the same object means that the row did not change. */
function snapshot(slice: Slice): Map<string, object> {
  const rows = new Map<string, object>();
  const add = <T extends { id: string }>(noun: RowNoun, from: Rows<T>) => {
    for (const row of from.values()) rows.set(`${noun} ${row.id}`, row);
  };
  add('project', slice.projects);
  add('task', slice.tasks);
  add('run', slice.runs);
  add('worker', slice.workers);
  add('evidence', slice.evidence);
  add('record', slice.records);
  return rows;
}

/** As a database returns it: an undefined field and a missing one are the same. */
function plain(row: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(row)) as Record<string, unknown>;
}

function differences(found: object, expected: object): string[] {
  const [left, right] = [plain(found), plain(expected)];
  if (isDeepStrictEqual(left, right)) return [];
  const fields = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...fields].filter((field) => !isDeepStrictEqual(left[field], right[field]));
}
