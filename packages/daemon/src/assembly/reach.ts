import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, AppError } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { type DaemonFile, pageLink, readDaemonFile } from './daemon-file.ts';
import { localFetch } from './local-fetch.ts';
import { isLockFree } from './lock.ts';

export { type DaemonFile, pageLink };

/** Commands answer within five seconds; starting the program takes its part of that. */
const PATIENCE_MS = 3_000;
/** A connection that was torn down is tried again. */
const AGAIN_MS = 50;

export interface Reached {
  api: Api;
  daemon: DaemonFile;
}

/**
 * The daemon that serves this data folder, if one runs. A file left behind by a killed one is told apart. One that runs
 * and does not answer in time is an error: its store must not be opened behind its back.
 */
export async function reachDaemon(env: NodeJS.ProcessEnv): Promise<Reached | null> {
  const folder = openDataFolder(env);
  const found = await askDaemon(folder, PATIENCE_MS);
  if (found === 'silent') throw silent(folder);
  return found;
}

/** The same for whoever ends it anyway: one that does not answer for `patienceMs` counts as none. */
export async function findDaemon(env: NodeJS.ProcessEnv, patienceMs: number): Promise<Reached | null> {
  const found = await askDaemon(openDataFolder(env), patienceMs);
  return found === 'silent' ? null : found;
}

async function askDaemon(folder: DataFolder, patienceMs: number): Promise<Reached | 'silent' | null> {
  const daemon = readDaemonFile(folder);
  if (!daemon || !isAlive(daemon.pid)) return null;
  const api = createClient({ ...daemon, fetch: localFetch });
  const patience = AbortSignal.timeout(patienceMs);
  for (;;) {
    try {
      // Another program may have got the pid or the port meanwhile: only the daemon itself knows its own beginning.
      const { pid, startedAt } = await api.health({}, patience);
      return pid === daemon.pid && startedAt === daemon.startedAt ? { api, daemon } : null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (['unauthorized', 'forbidden', 'internal'].includes(error.code)) return null;
      if (error.code !== 'daemon_unreachable') throw error;
      // Nobody listens: it is on its way out. Else the lock tells whether somebody is there who only does not answer.
      if (isRefused(error) || isLockFree(folder.lockFile)) return null;
      if (patience.aborted) return 'silent';
      await delay(AGAIN_MS);
    }
  }
}

function silent(folder: DataFolder): AppError {
  const pid = readDaemonFile(folder)?.pid ?? 0;
  const isFrozen = isStopped(pid);
  const what = isFrozen
    ? `the daemon (pid ${pid}) is running but stopped by a signal, so it does not answer`
    : `the daemon (pid ${pid}) is running but busy: it did not answer within ${PATIENCE_MS / 1000} s`;
  const hint = isFrozen
    ? `\`kill -CONT ${pid}\` lets it go on; \`tidemill stop --now\` ends it, work is kept.`
    : 'Try again in a moment. If it stays so, `tidemill stop --now` ends it, work is kept.';
  return new AppError('daemon_unreachable', what, { hint, retriable: true });
}

/** Such as by SIGSTOP or Ctrl-Z; known where the system tells it. */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** Down to what the system said. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ECONNREFUSED') || isRefused(error.cause);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
