import { constants, existsSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What matters to a person; the other tables are derived from these or small. */
const TABLES = ['events', 'projects', 'tasks', 'runs', 'evidence', 'records'] as const;
const MOST_FAULTS = 3;

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
    for (const ending of ['', '-wal'])
      if (existsSync(path + ending)) await copyFile(path + ending, copy + ending, constants.COPYFILE_FICLONE);
    return statSync(path).size === 0 ? { faults: ['the file is empty'], readable: [] } : read(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
