import { EventBody, type LoggedEvent } from '@tidemill/contract';
import type { z } from 'zod';
import { Memo, parseRow } from './loaded-slice.ts';

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

/** The largest number that fits Postgres' integer, which complains about larger ones; no mill has as many of anything. */
const LARGEST = 2 ** 31 - 1;
export const isInteger = (number: number) => Math.abs(number) <= LARGEST;
/** For comparisons: no row lies beyond. */
export const asInteger = (number: number | undefined) =>
  number === undefined ? undefined : Math.max(-LARGEST, Math.min(number, LARGEST));

/** Reading documents of one table, each parsed by its schema: a row of an older version gets the newer fields' defaults. */
export function select<T extends { id: string }>(run: RunQuery, table: string, schema: z.ZodType<T>) {
  const memo = new Memo(schema, `row of ${table}`);
  const all = async (query: Query): Promise<T[]> => {
    const { sql, values } = compose(`SELECT doc FROM ${table}`, query);
    return (await run(sql, values)).map((row) => memo.parse(String(row.doc)));
  };
  return {
    all,
    one: async (query: Query): Promise<T | null> => (await all({ ...query, limit: 1 }))[0] ?? null,
    async *pages(): AsyncGenerator<T> {
      for (let after = ''; ; ) {
        const page = await all({ where: [['id >', after]], orderBy: 'id', limit: PAGE });
        yield* page;
        const last = page.at(-1);
        if (!last || page.length < PAGE) return;
        after = last.id;
      }
    },
  };
}

export async function selectEvents(run: RunQuery, query: Query): Promise<LoggedEvent[]> {
  const { sql, values } = compose('SELECT seq, project_id, at, v, body FROM events', query);
  return (await run(sql, values)).map((row) => ({
    seq: Number(row.seq),
    projectId: String(row.project_id),
    at: Number(row.at),
    v: Number(row.v),
    body: parseRow(EventBody, 'event', String(row.body)),
  }));
}

export function compose(head: string, { where = [], orderBy, limit }: Query): { sql: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const tests: string[] = [];
  for (const [test, value] of where.filter((each) => each.length === 1 || each[1] !== undefined)) {
    if (Array.isArray(value)) {
      // An empty list matches nothing, but `IN ()` is no SQL.
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
