import { createIds, systemClock } from '../clock.ts';
import { type DataFolder, makePrivateFile } from '../config/data-folder.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import { openStore } from '../store/open.ts';

export interface OpenedStore {
  store: Store;
  clock: Clock;
  ids: Ids;
  /** For display, without a password. */
  name: string;
  /** Other data folders may also write to it. */
  isShared: boolean;
}

/** Postgres when DATABASE_URL is set, otherwise the file in the data folder. */
export async function openFolderStore(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<OpenedStore> {
  const clock = systemClock;
  const ids = createIds(clock);
  const url = env.DATABASE_URL;
  if (!url) makePrivateFile(folder.storeFile);
  const store = await openStore({ url: url || folder.storeFile, clock, ids });
  return { store, clock, ids, name: url ? 'Postgres' : 'SQLite', isShared: Boolean(url) };
}
