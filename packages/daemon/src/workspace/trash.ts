import { spawn } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Deleting 100,000 files takes seconds; renaming their folder takes none. What is in the trash was snapshotted before
 * it came here. It is emptied by a child process of low priority; what a stopped daemon leaves is emptied at the next
 * start.
 */
export interface Trash {
  /** Moves a folder or file here and has it deleted. A path that does not exist is fine. */
  throwAway(path: string): Promise<void>;
  /** Deletes what an earlier process left. */
  empty(): Promise<void>;
  /** Resolves when nothing is being deleted, or after that time. The deletion goes on without this process. */
  settled(limit?: { atMostMs: number }): Promise<void>;
}

export function openTrash(dataDir: string): Trash {
  const folder = join(dataDir, 'trash');
  let waiting: string[] = [];
  let running: Promise<void> | null = null;
  let count = 0;

  /** One deletion at a time; what comes meanwhile goes together into the next. */
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, 100);
      await deleteQuietly(batch);
    }
    running = null;
  }
  function remove(paths: string[]): void {
    waiting = [...waiting, ...paths];
    running ??= work();
  }

  return {
    async throwAway(path) {
      const name = join(folder, `${process.pid}-${Date.now()}-${count++}`);
      if (await moveAside(path, name, folder)) remove([name]);
    },
    async empty() {
      const left = await readdir(folder).catch(() => []);
      if (left.length > 0) remove(left.map((name) => join(folder, name)));
    },
    async settled({ atMostMs } = { atMostMs: Number.POSITIVE_INFINITY }) {
      // The deleting child does not keep this process alive, so the wait must.
      const awake = setInterval(() => undefined, 1000);
      let late: NodeJS.Timeout | undefined;
      const isLate = new Promise<void>((resolve) => {
        if (Number.isFinite(atMostMs)) late = setTimeout(resolve, atMostMs);
      });
      const isEmpty = (async () => {
        while (running) await running;
      })();
      await Promise.race([isEmpty, isLate]);
      clearTimeout(late);
      clearInterval(awake);
    },
  };
}

async function moveAside(path: string, name: string, folder: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (!found) return false;
  try {
    await rename(path, name);
  } catch {
    // A folder without write permission cannot be moved, and the trash folder itself may have been deleted.
    await mkdir(folder, { recursive: true });
    if (found.isDirectory()) await chmod(path, 0o700);
    await rename(path, name);
  }
  return true;
}

/** Tools such as Go's leave folders without write permission, which `rm` cannot empty before `chmod`. */
const DELETE = 'rm -rf -- "$@" 2>/dev/null || { chmod -R u+rwX -- "$@"; rm -rf -- "$@"; }';

function deleteQuietly(paths: string[]): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn('nice', ['-n', '19', 'sh', '-c', DELETE, 'sh', ...paths], { stdio: 'ignore', detached: true });
    child.unref();
    child.once('close', () => resolve());
    child.once('error', () => {
      // No such programs here: do it ourselves. What cannot be deleted stays in the trash for the next start.
      const all = Promise.allSettled(paths.map((path) => rm(path, { recursive: true, force: true, maxRetries: 2 })));
      all.then(() => resolve());
    });
  });
}
