import type { Store } from '../ports.ts';
import type { Driver } from './driver.ts';
import { MemoryDriver } from './memory.ts';
import type { Migration } from './migrations.ts';
import { SqliteDriver } from './sqlite.ts';
import { createStore, type StoreOptions } from './store.ts';

export interface OpenOptions extends StoreOptions {
  /** `memory:`, a path or `sqlite:PATH`, or `postgres://…`. */
  url: string;
  /** Postgres: the schema that holds the tables. */
  schema?: string;
  migrations?: readonly Migration[];
}

export async function openStore(options: OpenOptions): Promise<Store> {
  return createStore(await openDriver(options), options);
}

async function openDriver({ url, schema = 'tidemill', migrations }: OpenOptions): Promise<Driver> {
  if (url === 'memory:') return new MemoryDriver();
  if (/^postgres(ql)?:/.test(url)) {
    // Imported only when needed: most installations do not use Postgres.
    const { PostgresDriver } = await import('./postgres.ts');
    return PostgresDriver.open(url, schema, migrations);
  }
  return new SqliteDriver(url.replace(/^sqlite:/, ''), migrations);
}
