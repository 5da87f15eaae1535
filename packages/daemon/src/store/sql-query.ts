import { EventBody, eventToday, type LoggedEvent } from '@tidemill/contract';
import type { z } from 'zod';
import { ifReadable, Memo, parseRow, UnreadableRow } from './loaded-slice.ts';

export type SqlValue = string | number | null;
export type Row = Record<string, unknown>;
/** Runs one statement with `?` for its values. Documents come back as JSON text. */
export type RunQuery = (sql: string, values: SqlValue[]) => Promise<Row[]>;

/** `['number >', 5]`; left out when the value is undefined. `values` fill a test that has its own `?`. */
export type SqlCondition =
  | [test: string]
  | [test: string, value: SqlValue | readonly SqlValue[] | { values: readonly SqlValue[] } | undefined];
export interface Query {
  where?: SqlCondition[];
  orderBy?: string;
  limit?: number;
}

const PAGE = 500;

/** The largest integer in Postgres, which rejects larger ones. */
const LARGEST = 2 ** 31 - 1;
export const isInteger = (number: number) => Math.abs(number) <= LARGEST;
/** For comparisons: no row exceeds it. */
export const asInteger = (number: number | undefined) =>
  number === undefined ? undefined : Math.max(-LARGEST, Math.min(number, LARGEST));

/** For a row that cannot be read: its id and the reason. */
export type Found<T> = { id: string; row: T } | { id: string; row: null; why: string };

/**
 * Reads documents of one table, each parsed by its schema: a row of an older version gets defaults for newer fields. A
 * row that cannot be read is missing in a list, and an error when it is read alone.
 */
export function select<T extends { id: string }>(run: RunQuery, table: string, schema: z.ZodType<T>) {
  const memo = new Memo(schema, `row of ${table}`);
  const docs = async (query: Query): Promise<string[]> => {
    const { sql, values } = compose(`SELECT doc FROM ${table}`, query);
    return (await run(sql, values)).map((row) => String(row.doc));
  };
  return {
    all: async (query: Query): Promise<T[]> =>
      (await docs(query)).flatMap((doc) => ifReadable(() => memo.parse(doc)) ?? []),
    one: async (query: Query): Promise<T | null> => {
      const [doc] = await docs({ ...query, limit: 1 });
      return doc === undefined ? null : memo.parse(doc);
    },
    async *pages(): AsyncGenerator<Found<T>> {
      for (let after = ''; ; ) {
        const query = { where: [['id >', after] as SqlCondition], orderBy: 'id', limit: PAGE };
        const { sql, values } = compose(`SELECT id, doc FROM ${table}`, query);
        const page = await run(sql, values);
        for (const { id, doc } of page) yield found(String(id), () => memo.parse(String(doc)));
        const last = page.at(-1);
        if (!last || page.length < PAGE) return;
        after = String(last.id);
      }
    },
  };
}

function found<T>(id: string, read: () => T): Found<T> {
  try {
    return { id, row: read() };
  } catch (error) {
    if (error instanceof UnreadableRow) return { id, row: null, why: error.why };
    throw error;
  }
}

export async function selectEvents(run: RunQuery, query: Query): Promise<LoggedEvent[]> {
  const { sql, values } = compose('SELECT seq, project_id, subject_id, type, at, v, body FROM events', query);
  return (await run(sql, values)).map((row) => ({
    seq: Number(row.seq),
    projectId: String(row.project_id),
    at: Number(row.at),
    v: Number(row.v),
    body: bodyOf(row),
  }));
}

/** An event that cannot be read keeps its position: followers of the log continue with the next one. */
function bodyOf({ subject_id, type, body }: Row): EventBody {
  try {
    return parseRow(EventBody, 'event', String(body), eventToday);
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    const taskId = subject_id === null ? null : String(subject_id);
    return { type: 'log.unreadable', taskId, was: String(type), why: error.why };
  }
}

export function compose(head: string, { where = [], orderBy, limit }: Query): { sql: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const tests: string[] = [];
  for (const [test, value] of where.filter((each) => each.length === 1 || each[1] !== undefined)) {
    if (Array.isArray(value)) {
      // An empty list matches nothing, but `IN ()` is not valid SQL.
      tests.push(value.length > 0 ? `${test} (${value.map(() => '?').join(', ')})` : '1 = 0');
      values.push(...value);
    } else if (value === undefined) {
      tests.push(test);
    } else if (value !== null && typeof value === 'object') {
      tests.push(test);
      values.push(...(value as { values: readonly SqlValue[] }).values);
    } else {
      tests.push(`${test} ?`);
      values.push(value);
    }
  }
  let sql = head;
  if (tests.length > 0) sql += ` WHERE ${tests.join(' AND ')}`;
  if (orderBy !== undefined) sql += ` ORDER BY ${orderBy}`;
  if (limit !== undefined) {
    sql += ' LIMIT ?';
    values.push(limit);
  }
  return { sql, values };
}
