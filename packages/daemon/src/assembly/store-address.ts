import { createIds, systemClock } from '../clock.ts';
import type { DataFolder } from '../config/data-folder.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import { openStore } from '../store/open.ts';

export interface OpenedStore {
  store: Store;
  clock: Clock;
  ids: Ids;
  /** For people: without a password. */
  name: string;
  /** Others than this data folder may write to it too. */
  isShared: boolean;
}

/** Postgres when DATABASE_URL says so, else the file in the data folder. */
export async function openFolderStore(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<OpenedStore> {
  const clock = systemClock;
  const ids = createIds(clock);
  const url = env.DATABASE_URL;
  const store = await openStore({ url: url || folder.storeFile, clock, ids });
  return { store, clock, ids, name: url ? 'Postgres' : 'SQLite', isShared: Boolean(url) };
}
