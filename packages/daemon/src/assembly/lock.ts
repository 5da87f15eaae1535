import { DatabaseSync } from 'node:sqlite';
import { AppError } from '@tidemill/contract';

const BUSY = 5;

/** Held by the one daemon of a data folder. */
export interface FolderLock {
  release(): void;
}

/** Returns whether the lock is free. */
export function isLockFree(file: string): boolean {
  const lock = takeLock(file);
  lock?.release();
  return lock !== null;
}

/**
 * Returns null when another process holds it. The lock is an open transaction. The operating system ends it with the
 * process, so there are no stale locks.
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
      hint: 'Make sure that the data folder is writable and on a disk that supports file locks.',
      cause: error,
    });
  }
}
