import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Lookup, Slice } from '@tidemill/core';
import type { RepairedRow } from '../ports.ts';
import {
  ConstraintError,
  type Driver,
  diskFull,
  newerStore,
  type PendingEvent,
  type Reads,
  storeDamaged,
  storeFailed,
} from './driver.ts';
import { MIGRATIONS, type Migration, stepsAfter } from './migrations.ts';
import { setFaultyRowsAside } from './repair.ts';
import type { RunQuery } from './sql-query.ts';
import { sqlReads } from './sql-reads.ts';
import { sqliteText } from './sql-search.ts';
import { figureReads } from './sqlite-figures.ts';
import { SqliteSlices } from './sqlite-slices.ts';

const BUSY_TIMEOUT_MS = 5000;
const BUSY_PAUSE_MS = 10;
const POLL_MS = 500;
const MOST_COMPILED = 200;

/** Result codes of SQLite that callers need; extended codes carry them in their low byte. */
const BUSY = 5;
const FULL = 13;
/** The shared-memory file of the WAL could not grow: on a full disk this occurs before FULL. */
const SHM_FULL = 4874;
const CONSTRAINT = 19;
/** A page that makes no sense, and a file that is no database. */
const DAMAGED = [11, 26];

/**
 * One connection for everything. Each transaction runs within one turn of the event loop, so that reads see
 * committed state only. Other processes may have the file open: BEGIN IMMEDIATE waits for them.
 */
export class SqliteDriver implements Driver {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #slices: SqliteSlices;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #run: RunQuery;
  readonly reads: Reads;

  constructor(path: string, migrations: readonly Migration[] = MIGRATIONS) {
    this.#path = path;
    this.#db = open(path);
    try {
      migrate(this.#db, migrations);
      this.#slices = new SqliteSlices(this.#db);
      this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
      this.#commit = this.#db.prepare('COMMIT');
      this.#dataVersion = this.#db.prepare('PRAGMA data_version');
    } catch (error) {
      this.#db.close();
      throw this.#explain(error);
    }
    const run = runner(this.#db);
    this.#run = async (sql, values) => {
      try {
        return await run(sql, values);
      } catch (error) {
        throw this.#explain(error);
      }
    };
    this.reads = { ...sqlReads(this.#run, sqliteText), ...figureReads(this.#db) };
  }

  async transact(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number> {
    try {
      this.#begin.run();
      const loaded = this.#slices.load(lookups, now);
      const events = work(loaded.slice);
      const before = this.#slices.save(loaded, events);
      this.#commit.run();
      return before;
    } catch (error) {
      this.#rollback();
      throw this.#explain(error);
    }
  }

  /** SQLite rolls back by itself on some errors (a full disk). */
  #rollback(): void {
    if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  #explain(error: unknown): unknown {
    const code = sqliteCode(error);
    if (code === null) return error;
    if (code === FULL) return diskFull(this.#path, error);
    if (code === CONSTRAINT) return new ConstraintError((error as Error).message, { cause: error });
    if (DAMAGED.includes(code)) return storeDamaged(this.#path, error);
    return storeFailed(`SQLite failed on ${this.#path}`, error);
  }

  defer(start: () => void): void {
    setImmediate(start);
  }

  /** `data_version` changes when another connection has committed. */
  watch(wake: () => void, keepAlive: boolean): () => void {
    const look = () => Number(this.#dataVersion.get()?.data_version);
    // A file that cannot be read now (a full disk) is checked again later; readers get the error.
    const lookIfPossible = () => {
      try {
        return look();
      } catch (error) {
        if (sqliteCode(error) === null) throw error;
        return seen;
      }
    };
    let seen = look();
    const timer = setInterval(() => {
      const version = lookIfPossible();
      if (version === seen) return;
      seen = version;
      wake();
    }, POLL_MS);
    if (!keepAlive) timer.unref();
    return () => clearInterval(timer);
  }

  async removeEvents(seqs: readonly number[]): Promise<number> {
    const marks = seqs.map(() => '?').join(', ');
    const newest = '(SELECT max(seq) FROM events)';
    try {
      this.#begin.run();
      const gone = this.#db
        .prepare(`DELETE FROM events WHERE seq IN (${marks}) AND seq < ${newest} RETURNING seq`)
        .all(...seqs)
        .map(({ seq }) => Number(seq));
      const sum = gone.reduce((total, seq) => total + seq, 0);
      this.#db.prepare('UPDATE log_removed SET events = events + ?, seqs = seqs + ?').run(gone.length, sum);
      this.#commit.run();
      return gone.length;
    } catch (error) {
      this.#rollback();
      throw this.#explain(error);
    }
  }

  async repair(): Promise<RepairedRow[]> {
    try {
      this.#begin.run();
      const { rows, loaded } = await setFaultyRowsAside(this.#run, this.reads);
      this.#slices.save(loaded, []);
      this.#commit.run();
      return rows;
    } catch (error) {
      this.#rollback();
      throw this.#explain(error);
    }
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}

/**
 * Refuses a damaged file, also where no command has come by the damage yet: a daemon would write into it. It reads the whole
 * file, about 100 MB in a tenth of a second.
 */
export function refuseDamaged(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return;
  const db = open(path);
  try {
    const fault = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
    if (fault !== 'ok') throw storeDamaged(path, String(fault).split('\n')[0]);
  } catch (error) {
    const code = sqliteCode(error);
    throw code !== null && DAMAGED.includes(code) ? storeDamaged(path, error) : error;
  } finally {
    db.close();
  }
}

function open(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    useWriteAheadLog(db);
    db.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;`);
    return db;
  } catch (error) {
    const code = sqliteCode(error);
    if (code === FULL) throw diskFull(path, error);
    if (code !== null && DAMAGED.includes(code)) throw storeDamaged(path, error);
    throw storeFailed(`The store ${path} cannot be opened`, error);
  }
}

/** SQLite's own timeout does not cover this switch, and several commands may create a store at the same time. */
function useWriteAheadLog(db: DatabaseSync): void {
  const until = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (sqliteCode(error) !== BUSY || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

function migrate(db: DatabaseSync, migrations: readonly Migration[]): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT');
    const version = Number(db.prepare('SELECT max(version) AS version FROM schema_version').get()?.version ?? 0);
    const newest = migrations.at(-1)?.version ?? 0;
    if (version > newest) throw newerStore(version, newest);
    const insert = db.prepare('INSERT INTO schema_version VALUES (?)');
    for (const step of stepsAfter(version, migrations)) {
      db.exec(step.sqlite);
      insert.run(step.version);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return error.errcode === SHM_FULL ? FULL : Number(error.errcode) & 0xff;
}

/** Repeated statements are compiled once; a query with a list has one form per list length. */
function runner(db: DatabaseSync): RunQuery {
  const compiled = new Map<string, StatementSync>();
  return async (sql, values) => {
    const statement = compiled.get(sql) ?? db.prepare(sql);
    if (compiled.size < MOST_COMPILED) compiled.set(sql, statement);
    return statement.all(...values);
  };
}
