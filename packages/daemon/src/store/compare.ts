import { isDeepStrictEqual } from 'node:util';
import { type Rows, reduce, Slice } from '@tidemill/core';
import type { Store, StoredRow } from '../ports.ts';

const PAGE = 1000;
const MOST_FAULTS = 100;

/**
 * Folds the whole log again and compares every row with what is stored. Empty when they agree. The store may be in use
 * meanwhile: a row that an event touched after the first reading began is left out, since it may be seen either way.
 */
export async function compareLogWithProjection(store: Store): Promise<string[]> {
  const faults: string[] = [];
  const slice = new Slice();
  const head = await fold(store, slice, 0, faults);
  const before = snapshot(slice);
  const stored = new Map<string, StoredRow>();
  for await (const each of store.rows()) stored.set(`${each.noun} ${each.row.id}`, each);
  await fold(store, slice, head, faults);
  const after = snapshot(slice);
  for (const key of new Set([...after.keys(), ...before.keys(), ...stored.keys()])) {
    const expected = after.get(key);
    if (expected !== before.get(key)) continue;
    const found = stored.get(key)?.row;
    if (expected === undefined) faults.push(`${key} is stored, but the log knows nothing of it`);
    else if (found === undefined) faults.push(`${key} is missing, the log has it`);
    else if (!isDeepStrictEqual(plain(found), plain(expected))) {
      faults.push(`${key} differs from the log in ${differences(found, expected).join(', ')}`);
    }
    if (faults.length >= MOST_FAULTS) return [...faults, `more than ${MOST_FAULTS} faults: the rest is left out`];
  }
  return faults;
}

async function fold(store: Store, slice: Slice, after: number, faults: string[]): Promise<number> {
  for (let cursor = after; ; ) {
    const page = await store.events({ after: cursor, limit: PAGE });
    for (const event of page) {
      if (event.seq !== cursor + 1) faults.push(`the log has a gap between ${cursor} and ${event.seq}`);
      cursor = event.seq;
      try {
        reduce(slice, event.projectId, event.at, event.body);
      } catch (error) {
        faults.push(`event ${event.seq} (${event.body.type}) cannot be applied: ${error}`);
      }
    }
    if (page.length < PAGE) return cursor;
  }
}

/** Rows are replaced, never changed: the same object later means that nothing happened to it. */
function snapshot(slice: Slice): Map<string, object> {
  const rows = new Map<string, object>();
  const add = <T extends { id: string }>(noun: StoredRow['noun'], from: Rows<T>) => {
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

/** As a database would give it back: a field that is undefined and one that is absent are the same. */
function plain(row: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(row)) as Record<string, unknown>;
}

function differences(found: object, expected: object): string[] {
  const [left, right] = [plain(found), plain(expected)];
  const fields = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...fields].filter((field) => !isDeepStrictEqual(left[field], right[field]));
}
