import { constants, existsSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What matters to a person; the other tables are derived from these or small. */
const TABLES = ['events', 'projects', 'tasks', 'runs', 'evidence', 'records'] as const;
const MOST_FAULTS = 3;
const MOST_COPIES = 10;

export interface Inspection {
  /** What SQLite says is wrong; empty for a sound file. */
  faults: string[];
  /** How much of each table can be read, in plain words; empty when nothing can. */
  readable: string[];
}

/**
 * Reads as much of a store file as can be read, from a copy: opening the file itself would replay its log, and delete the log
 * of an empty file. Null when there is no file.
 */
export async function inspectStoreFile(path: string): Promise<Inspection | null> {
  if (!existsSync(path)) return null;
  const folder = await mkdtemp(join(tmpdir(), 'tidemill-inspect-'));
  try {
    const copy = join(folder, 'store.db');
    await copyQuietly(path, copy);
    return statSync(path).size === 0 ? { faults: ['the file is empty'], readable: [] } : read(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Another command may write or close the store meanwhile. A copy of two moments would look damaged, so it is made again. */
async function copyQuietly(path: string, copy: string): Promise<void> {
  const files = ['', '-wal'];
  const stamp = () => files.map((ending) => stampOf(path + ending)).join();
  for (let left = MOST_COPIES; left > 0; left -= 1) {
    const before = stamp();
    for (const ending of files) {
      await rm(copy + ending, { force: true });
      await copyFile(path + ending, copy + ending, constants.COPYFILE_FICLONE).catch(unlessGone);
    }
    if (stamp() === before) return;
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function read(copy: string): Inspection {
  const faults: string[] = [];
  const readable: string[] = [];
  const db = new DatabaseSync(copy);
  try {
    const checked = attempt(() => db.prepare(`PRAGMA quick_check(${MOST_FAULTS})`).all(), faults);
    for (const row of checked ?? []) if (row.quick_check !== 'ok') faults.push(String(row.quick_check));
    const there = attempt(() => db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all(), faults) ?? [];
    for (const table of TABLES.filter((name) => there.some((row) => row.name === name))) {
      let rows = 0;
      const before = faults.length;
      attempt(() => {
        for (const _ of db.prepare(`SELECT * FROM ${table}`).iterate()) rows += 1;
      }, faults);
      if (rows > 0 || faults.length === before)
        readable.push(`${rows} ${table}${faults.length === before ? '' : ' (then the file is damaged)'}`);
    }
  } finally {
    db.close();
  }
  return { faults: [...new Set(faults)], readable };
}

function attempt<T>(work: () => T, faults: string[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || !('errcode' in error)) throw error;
    faults.push(error.message);
    return undefined;
  }
}
