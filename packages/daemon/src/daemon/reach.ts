import { type Api, AppError } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { openDataFolder } from '../config/data-folder.ts';
import { type DaemonFile, pageLink, readDaemonFile } from './daemon-file.ts';

export { type DaemonFile, pageLink };

/**
 * The daemon that serves this data folder, if one is alive. A file left behind by a killed one is told apart. With
 * `patienceMs` one that does not answer for that long counts as none.
 */
export async function findDaemon(
  env: NodeJS.ProcessEnv,
  patienceMs?: number,
): Promise<{ api: Api; daemon: DaemonFile } | null> {
  const daemon = readDaemonFile(openDataFolder(env));
  if (!daemon || !isAlive(daemon.pid)) return null;
  const api = createClient(daemon);
  try {
    // Another program may have got the pid or the port meanwhile: only the daemon itself knows its own beginning.
    const { pid, startedAt } = await api.health(
      {},
      patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs),
    );
    return pid === daemon.pid && startedAt === daemon.startedAt ? { api, daemon } : null;
  } catch (error) {
    if (
      error instanceof AppError &&
      ['daemon_unreachable', 'unauthorized', 'forbidden', 'internal'].includes(error.code)
    )
      return null;
    throw error;
  }
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
