import { AppError } from '@tidemill/contract';
import type { Clock } from '../ports.ts';
import { eachProcess, processFile } from '../process/process-table.ts';
import { OWNER_VARIABLE } from './git-context.ts';

const PATIENCE_MS = 120_000;

/**
 * Git processes of a killed daemon continue. They get time to finish before unfinished work is cleaned up. Works only
 * with /proc.
 */
export async function awaitOrphans(dataDir: string, clock: Clock): Promise<void> {
  const until = clock.now() + PATIENCE_MS;
  for (;;) {
    const orphans = await findOrphans(dataDir);
    if (orphans.length === 0) return;
    if (clock.now() > until) {
      throw new AppError('git_failed', `git processes of an earlier Tidemill still run: ${orphans.join(', ')}`, {
        hint: 'Wait for them or stop them, then start again.',
        retriable: true,
      });
    }
    await clock.sleep(20);
  }
}

async function findOrphans(dataDir: string): Promise<number[]> {
  const found: number[] = [];
  await eachProcess((pid) => {
    if (isOrphan(pid, dataDir)) found.push(pid);
  });
  return found;
}

function isOrphan(pid: number, dataDir: string): boolean {
  const environment = processFile(pid, 'environ');
  if (!environment?.includes(`${OWNER_VARIABLE}=`)) return false;
  const entries = environment.toString().split('\0');
  const mark = entries.find((entry) => entry.startsWith(`${OWNER_VARIABLE}=`));
  const [, owner, folder] = /^[^=]+=(\d+):(.*)$/s.exec(mark ?? '') ?? [];
  return folder === dataDir && owner !== undefined && !isAlive(Number(owner));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
