import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, AppError, type DaemonFile } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { type DataFolder, openDataFolder } from '../config/data-folder.ts';
import { pageLink, readDaemonFile } from './daemon-file.ts';
import { localFetch } from './local-fetch.ts';
import { isLockFree } from './lock.ts';

export { pageLink };

/** Commands respond within five seconds, including the start of the program. */
const PATIENCE_MS = 3_000;
/** Pause before a broken connection is retried. */
const AGAIN_MS = 50;

export interface Reached {
  api: Api;
  daemon: DaemonFile;
}

/**
 * Returns the daemon that serves this data folder, if one runs. Detects the file of a killed daemon. Throws if the
 * daemon does not respond in time: its store must not be opened by another process. Calls for an agent say so.
 */
export async function reachDaemon(env: NodeJS.ProcessEnv, agent: string | null = null): Promise<Reached | null> {
  const folder = openDataFolder(env);
  const found = await askDaemon(folder, PATIENCE_MS, agent);
  if (found === 'silent') throw silent(folder);
  return found;
}

/** The same for a forced stop: a daemon that does not respond for `patienceMs` counts as none. */
export async function findDaemon(env: NodeJS.ProcessEnv, patienceMs: number): Promise<Reached | null> {
  const found = await askDaemon(openDataFolder(env), patienceMs);
  return found === 'silent' ? null : found;
}

async function askDaemon(
  folder: DataFolder,
  patienceMs: number,
  agent: string | null = null,
): Promise<Reached | 'silent' | null> {
  const daemon = readDaemonFile(folder);
  if (!daemon || !isAlive(daemon.pid)) return null;
  const api = createClient({ ...daemon, fetch: localFetch, ...(agent === null ? {} : { agent }) });
  const patience = AbortSignal.timeout(patienceMs);
  for (;;) {
    try {
      // Another program may have the pid or the port by now. Only the daemon itself knows its start time.
      const { pid, startedAt } = await api.health({}, patience);
      return pid === daemon.pid && startedAt === daemon.startedAt ? { api, daemon } : null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (['unauthorized', 'forbidden', 'internal'].includes(error.code)) return null;
      if (error.code !== 'daemon_unreachable') throw error;
      // A refused connection means that it is stopping. Otherwise the lock shows whether an unresponsive daemon runs.
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
    ? `the daemon (pid ${pid}) is suspended by a signal, so it does not respond`
    : `the daemon (pid ${pid}) is running but busy: it did not respond within ${PATIENCE_MS / 1000} s`;
  const hint = isFrozen
    ? `\`kill -CONT ${pid}\` resumes it. \`tidemill stop --now\` ends it. Work is kept.`
    : 'Try again in a moment. If this continues, end it with `tidemill stop --now`. Work is kept.';
  return new AppError('daemon_unreachable', what, { hint, retriable: true });
}

/** For example by SIGSTOP or Ctrl-Z. Works only where /proc exists. */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** Follows the chain of causes. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ECONNREFUSED') || isRefused(error.cause);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
