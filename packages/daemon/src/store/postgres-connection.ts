import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@tidemill/contract';
import pg from 'pg';
import { classify, explain, isServerError } from './postgres-errors.ts';
import type { Row, RunQuery } from './sql-query.ts';

const CONNECT_TIMEOUT_MS = 5000;
const READERS = 4;
const MOST_PREPARED = 200;

/** Every value arrives as the text Postgres sent: numbers and documents are parsed where their meaning is known. */
const asText = { getTypeParser: () => (value: string) => value };

/**
 * A writer must not wait forever for a session that is stuck in a transaction. It must always use the indexes: a plan made
 * for an empty table stays in use when the table has a million rows.
 */
const WRITER_SETTINGS = {
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read\\ committed',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '10s',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Where the database is and which schema holds the tables. */
export class PostgresAddress {
  readonly schema: string;
  readonly #url: string;
  readonly #options: string;

  constructor(url: string, schema: string) {
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
      throw new AppError('bad_input', `"${schema}" cannot be the name of a Postgres schema.`, {
        hint: 'Use lower-case letters, digits and _, at most 51 of them.',
      });
    }
    const parsed = new URL(url);
    this.#options = parsed.searchParams.get('options') ?? '';
    parsed.searchParams.delete('options');
    this.#url = parsed.href;
    this.schema = schema;
  }

  get channel(): string {
    return `${this.schema}_commit`;
  }

  writer(): pg.Client {
    return new pg.Client(this.#config(WRITER_SETTINGS));
  }
  plain(): pg.Client {
    return new pg.Client(this.#config({}));
  }
  readers(): pg.Pool {
    return new pg.Pool({ ...this.#config({}), max: READERS, allowExitOnIdle: true });
  }

  #config(settings: Record<string, string>): pg.ClientConfig {
    const all = Object.entries({ ...settings, search_path: this.schema }).map(([name, value]) => `-c ${name}=${value}`);
    return {
      connectionString: this.#url,
      options: [this.#options, ...all].join(' '),
      types: asText,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: `tidemill ${this.schema}`,
    };
  }
}

/** Reads within one connection's transaction: no retry. */
export function clientQuery(client: pg.Client): RunQuery {
  return async (sql, values) => {
    let place = 0;
    const text = sql.replaceAll('?', () => `$${++place}`);
    return (await client.query<Row>(text, values)).rows;
  };
}

/**
 * Reads over a pool; repeated statements are prepared once per connection. A lost connection is retried. A search for words
 * is planned each time: the best plan depends on how common the words are.
 */
export function poolQuery(pool: pg.Pool): RunQuery {
  const names = new Map<string, { name: string; text: string }>();
  return async (sql, values) => {
    let known = names.get(sql);
    if (!known) {
      let place = 0;
      known = { name: `read_${names.size}`, text: sql.replaceAll('?', () => `$${++place}`) };
      const isPrepared = names.size < MOST_PREPARED && !sql.includes('tsquery');
      if (isPrepared) names.set(sql, known);
      else known = { name: '', text: known.text };
    }
    const query = { ...known, values };
    return retrying(async () => (await pool.query<Row>(query)).rows);
  };
}

/** A restarting server is back within seconds; callers wait that long before they get an error. */
export const ATTEMPTS = 8;
const FIRST_RETRY_MS = 20;

export function pause(attempt: number): Promise<void> {
  return sleep(FIRST_RETRY_MS * 2 ** (Math.min(attempt, ATTEMPTS) - 1));
}

/** The result of a commit must be known before the next batch, so this waits longer. */
const SETTLE_ATTEMPTS = 60;
export const untilBack = <T>(read: () => Promise<T>) => retrying(read, SETTLE_ATTEMPTS);

/** For operations that are safe to repeat. */
async function retrying<T>(read: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const failure = classify(error);
      if (failure !== 'lost' || attempt >= attempts)
        throw isServerError(error) || failure === 'lost' ? explain(error, failure) : error;
      await pause(attempt);
    }
  }
}
