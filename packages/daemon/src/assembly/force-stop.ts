import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@tidemill/contract';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { killLeaked, type MarkedProcess } from '../process/leaks.ts';
import { sendSignal } from '../process/process-table.ts';
import { readDaemonFile, removeDaemonFile } from './daemon-file.ts';
import { isLockFree } from './lock.ts';

const LOOK_MS = 20;
const DIE_MS = 5_000;

export interface ForcedStop {
  /** The daemon that was killed; null when none ran. */
  pid: number | null;
  /** Processes that its agents and gates left running. */
  killed: MarkedProcess[];
}

/**
 * Kills an unresponsive daemon and all processes started for its data folder. No acknowledged write is lost: the next
 * start takes over the leases of the dead owner.
 */
export async function forceStop(env: NodeJS.ProcessEnv): Promise<ForcedStop> {
  const folder = openDataFolder(env);
  const pid = await endDaemon(folder);
  const killed = await killLeaked(folder.id);
  if (pid !== null) removeDaemonFile(folder);
  return { pid, killed };
}

/** The lock shows whether a daemon runs: the pid may belong to another program by now. */
async function endDaemon(folder: DataFolder): Promise<number | null> {
  if (isLockFree(folder.lockFile)) return null;
  const pid = readDaemonFile(folder)?.pid;
  if (pid === undefined)
    throw new AppError('daemon_running', `a daemon is just starting on ${folder.path}`, {
      hint: 'Try again in a moment.',
      retriable: true,
    });
  sendSignal(pid, 'SIGKILL');
  for (let waitedMs = 0; !isLockFree(folder.lockFile); waitedMs += LOOK_MS) {
    if (waitedMs > DIE_MS)
      throw new AppError('daemon_running', `the daemon (pid ${pid}) cannot be killed`, {
        hint: 'It may belong to another user.',
      });
    await delay(LOOK_MS);
  }
  return pid;
}
