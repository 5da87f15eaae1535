import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Lookup, Slice } from '@tidemill/core';
import type pg from 'pg';
import type { RepairedRow } from '../ports.ts';
import type { Driver, PendingEvent, Reads } from './driver.ts';
import { RowMemo } from './loaded-slice.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { ATTEMPTS, clientQuery, PostgresAddress, pause, poolQuery, untilBack } from './postgres-connection.ts';
import { classify, explain, isOfTheFuture, isServerError } from './postgres-errors.ts';
import { listen } from './postgres-listener.ts';
import { migrate } from './postgres-migrate.ts';
import { ask, type PreparedCall } from './postgres-pipeline.ts';
import { fill, loadsOf, rowSavesOf, savesOf } from './postgres-slices.ts';
import { PREPARATIONS } from './postgres-statements.ts';
import { setFaultyRowsAside } from './repair.ts';
import type { Row } from './sql-query.ts';
import { sqlReads } from './sql-reads.ts';
import { postgresText } from './sql-search.ts';

/** A second constraint error is not a race: the first retry has seen the other's row. */
const CLASH_ATTEMPTS = 3;
const BEGIN: PreparedCall = { name: 'begin_batch', values: [] };
/** All tables that a writer can change. */
const TABLES = 'log_head, projects, workers, tasks, dependencies, runs, evidence, records, record_words, events';
/** Whatever the server's setting: a commit is answered when it is on disk. The stronger settings for standbys stay. */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
const COMMIT: PreparedCall = { name: 'commit_batch', values: [] };

/**
 * Identifies a transaction whose COMMIT was sent, in case its reply is lost. Its id alone does not: a server that crashed
 * gives an id again that nothing on its disk has.
 */
interface Doubt {
  xid: string;
  head: number;
  events: PendingEvent[];
}
/** The connection broke during the COMMIT: it may or may not have taken place. */
class InDoubt extends Error {
  readonly doubt: Doubt;
  constructor(doubt: Doubt, cause: unknown) {
    super('the connection was lost during a commit', { cause });
    this.doubt = doubt;
  }
}

/**
 * One writing session, so that batches of this process run in sequence; row locks keep other processes away.
 * A batch is two round trips: BEGIN and all loads, then all saves, the log and COMMIT.
 */
export class PostgresDriver implements Driver {
  readonly #address: PostgresAddress;
  readonly #readers: pg.Pool;
  readonly #instance = randomUUID();
  readonly #memo = new RowMemo();
  #writer: pg.Client | null = null;
  /** The last sequence number that this process has seen: its next events come after it. */
  #head = 0;
  readonly reads: Reads;

  static async open(
    url: string,
    schema: string,
    migrations: readonly Migration[] = MIGRATIONS,
  ): Promise<PostgresDriver> {
    const address = new PostgresAddress(url, schema);
    const client = address.plain();
    try {
      await client.connect();
      await migrate(client, schema, migrations);
    } catch (error) {
      const failure = classify(error);
      throw failure === 'fault' && !isServerError(error) ? error : explain(error, failure);
    } finally {
      await client.end();
    }
    return new PostgresDriver(address);
  }

  private constructor(address: PostgresAddress) {
    this.#address = address;
    this.#readers = address.readers();
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    this.#readers.on('error', () => undefined);
    this.reads = sqlReads(poolQuery(this.#readers), postgresText);
  }

  async transact(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(lookups, now, work);
      } catch (error) {
        if (error instanceof InDoubt) {
          const before = await this.#settle(error.doubt);
          if (before !== null) return before;
        }
        const failure = error instanceof InDoubt ? 'lost' : classify(error);
        if (failure === 'fault' && !isServerError(error)) throw error;
        const attempts = failure === 'clash' ? CLASH_ATTEMPTS : failure === 'race' || failure === 'lost' ? ATTEMPTS : 1;
        if (attempt >= attempts) throw explain(error, failure);
        await pause(attempt);
      }
    }
  }

  async #attempt(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number> {
    const writer = await this.#connect();
    let doubt: Doubt | null = null;
    try {
      const loads = loadsOf(lookups, now);
      const [, ...answers] = await ask(writer, [BEGIN, ...loads.map((load) => load.step)]);
      const [, xid] = answers[0]![0]!;
      const loaded = fill(loads, answers, this.#memo);
      const events = work(loaded.slice);
      if (events.length === 0) {
        await writer.query('ROLLBACK');
        return 0;
      }
      const saves = savesOf(loaded, events, { channel: this.#address.channel, payload: this.#instance });
      doubt = { xid: String(xid), head: this.#head, events };
      const saved = await ask(writer, [...saves, COMMIT]);
      const before = Number(saved[saves.length - 1]?.[0]?.[0]);
      this.#head = before + events.length;
      return before;
    } catch (error) {
      await this.#abandon(writer, error);
      throw doubt && classify(error) === 'lost' ? new InDoubt(doubt, error) : error;
    }
  }

  /** Rolls back; a session where this fails is closed. */
  async #abandon(writer: pg.Client, error: unknown): Promise<void> {
    try {
      if (classify(error) === 'lost') throw error;
      await writer.query('ROLLBACK');
    } catch {
      if (this.#writer === writer) this.#writer = null;
      await discard(writer);
    }
  }

  /** Asks the server whether a commit took place. Returns where its events begin, or null if nothing was saved. */
  async #settle({ xid, head, events }: Doubt): Promise<number | null> {
    for (let attempt = 1; ; attempt++) {
      const rows = await untilBack(async () => (await this.#readers.query<Row>(SETTLING, [xid, head])).rows).catch(
        (error: unknown) => {
          if (isOfTheFuture(error)) return [];
          throw error;
        },
      );
      const status = rows[0]?.status;
      if (status === 'committed') return isSame(rows, events) ? Number(rows[0]?.seq) - 1 : null;
      if (status !== 'in progress') return null;
      await pause(attempt);
    }
  }

  async #connect(): Promise<pg.Client> {
    if (this.#writer) return this.#writer;
    const writer = this.#address.writer();
    writer.on('error', () => {
      if (this.#writer === writer) this.#writer = null;
    });
    try {
      await writer.connect();
      await writer.query(DURABLE);
      for (const text of PREPARATIONS) await writer.query(text);
      // PREPARE does not accept these; running them once prepares them as well.
      await writer.query({ name: BEGIN.name, text: 'BEGIN' });
      await writer.query({ name: COMMIT.name, text: 'COMMIT' });
      const { rows } = await writer.query<Row>('SELECT seq FROM log_head');
      this.#head = Number(rows[0]?.seq);
    } catch (error) {
      await discard(writer);
      throw error;
    }
    this.#writer = writer;
    return writer;
  }

  defer(start: () => void): void {
    setImmediate(start);
  }

  watch(wake: () => void, keepAlive: boolean): () => void {
    return listen(this.#address, this.#instance, wake, keepAlive);
  }

  /** One statement, so that the record of it cannot be missing. */
  async removeEvents(seqs: readonly number[]): Promise<number> {
    const newest = '(SELECT seq FROM log_head)';
    const gone = `DELETE FROM events WHERE seq = ANY ($1::bigint[]) AND seq < ${newest} RETURNING seq`;
    const count = '(SELECT count(*) FROM gone)';
    const sum = '(SELECT coalesce(sum(seq), 0) FROM gone)';
    const recorded = `UPDATE log_removed SET events = events + ${count}, seqs = seqs + ${sum} RETURNING ${count} AS n`;
    try {
      const { rows } = await this.#readers.query<Row>(`WITH gone AS (${gone}) ${recorded}`, [[...seqs]]);
      return Number(rows[0]?.n ?? 0);
    } catch (error) {
      const failure = classify(error);
      throw failure === 'fault' && !isServerError(error) ? error : explain(error, failure);
    }
  }

  async repair(): Promise<RepairedRow[]> {
    const writer = await this.#connect();
    const run = clientQuery(writer);
    try {
      await writer.query('BEGIN');
      await writer.query(`LOCK TABLE ${TABLES} IN SHARE ROW EXCLUSIVE MODE`);
      const { rows, loaded } = await setFaultyRowsAside(run, sqlReads(run, postgresText));
      const saves = rowSavesOf(loaded);
      if (saves.length > 0) await ask(writer, saves);
      await writer.query('COMMIT');
      return rows;
    } catch (error) {
      await this.#abandon(writer, error);
      const failure = classify(error);
      throw failure === 'fault' && !isServerError(error) ? error : explain(error, failure);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer?.end(), this.#readers.end()]);
  }
}

/** The events that a transaction appended, or one row without any. */
const SETTLING = `SELECT status, seq, at, body FROM (SELECT pg_xact_status($1::xid8) AS status) AS asked
  LEFT JOIN events ON seq > $2 AND events.xmin::text = (($1::text)::numeric % 4294967296)::text ORDER BY seq`;

const isSame = (rows: Row[], events: PendingEvent[]): boolean =>
  rows.length === events.length &&
  events.every(({ at, body }, index) => {
    const row = rows[index]!;
    return Number(row.at) === at && isDeepStrictEqual(JSON.parse(String(row.body)), JSON.parse(JSON.stringify(body)));
  });

/** The connection is unusable; errors while closing it do not matter. */
async function discard(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
