import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { AppError } from '@tidemill/contract';

const LOCK_ATTEMPTS = 200;
const LOCK_PAUSE_MS = 10;
/** The lock is held for as long as it takes to write a few lines; one that is older was left behind. */
const STALE_LOCK_MS = 10_000;

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code;

/** Differs as soon as another file lies there; empty while there is none. */
export function markOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
}

export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** A reader sees the old file or the new one, also after a crash. For its owner only. */
export function writeAtomically(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}

/** One at a time over all processes; short and synchronous, so that within a process nothing comes in between. */
export function underLock(lock: string, work: () => void): void {
  take(lock);
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const stat = statSync(lock, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > STALE_LOCK_MS) rmSync(lock, { force: true });
    else if (attempt === LOCK_ATTEMPTS)
      throw new AppError('store_failed', `another program holds ${lock}`, { hint: 'Try again in a moment.' });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
  }
}
