import { DatabaseSync } from 'node:sqlite';
import { AppError } from '@tidemill/contract';

const BUSY = 5;

/** Held by the one daemon of a data folder. */
export interface FolderLock {
  release(): void;
}

/** Does nobody hold it? */
export function isLockFree(file: string): boolean {
  const lock = takeLock(file);
  lock?.release();
  return lock !== null;
}

/**
 * Null when another process holds it. An open transaction is the lock: the operating system ends it with the process,
 * however that dies, so there is no stale lock to clean up and no pid to guess about.
 */
export function takeLock(file: string): FolderLock | null {
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
    if (code === BUSY) return null;
    throw new AppError('store_failed', `the lock ${file} cannot be taken: ${error}`, {
      hint: 'See that the data folder can be written and is on a disk that supports file locks.',
      cause: error,
    });
  }
}
