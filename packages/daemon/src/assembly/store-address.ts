import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createIds, systemClock } from '../clock.ts';
import { type DataFolder, makePrivateFile } from '../config/data-folder.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import { storeDamaged } from '../store/driver.ts';
import { openStore } from '../store/open.ts';
import { refuseDamaged } from '../store/sqlite.ts';

export interface OpenedStore {
  store: Store;
  clock: Clock;
  ids: Ids;
  /** For display, without a password. */
  name: string;
  /** Other data folders may also write to it. */
  isShared: boolean;
}

/** An empty file is a new store, unless there is work that only a store can know of. SQLite would begin again in it. */
export function hasLostStore({ storeFile, path }: DataFolder): boolean {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? null;
  if (size(storeFile) !== 0) return false;
  const projects = join(path, 'projects');
  return Boolean(size(`${storeFile}-wal`)) || (existsSync(projects) && readdirSync(projects).length > 0);
}

/** Postgres when DATABASE_URL is set, otherwise the file in the data folder. `isForWork`: a damaged file is refused at once. */
export async function openFolderStore(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { isForWork = false } = {},
): Promise<OpenedStore> {
  const clock = systemClock;
  const ids = createIds(clock);
  const url = env.DATABASE_URL;
  if (!url) {
    if (hasLostStore(folder)) throw storeDamaged(folder.storeFile, 'the file is empty, and there was work in it');
    makePrivateFile(folder.storeFile);
    if (isForWork) refuseDamaged(folder.storeFile);
  }
  const store = await openStore({ url: url || folder.storeFile, clock, ids });
  return { store, clock, ids, name: url ? 'Postgres' : 'SQLite', isShared: Boolean(url) };
}
