import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, DaemonFile } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';

const PATIENCE_MS = 3000;

export const daemonFileIn = (dataFolder: string) => join(dataFolder, 'daemon.json');

/**
 * The daemon that serves a data folder now; null when none does. A killed daemon leaves its file behind. Throws when one
 * answers that this extension does not understand.
 */
export async function findDaemon(dataFolder: string): Promise<DaemonFile | null> {
  const written = await readDaemonFile(dataFolder);
  const file = DaemonFile.safeParse(written);
  try {
    if (!file.success) throw new AppError('version_mismatch', 'the file daemon.json cannot be read');
    // Another program may have the port by now. Only the daemon itself knows its start time.
    const { pid, startedAt } = await createClient(file.data).health({}, AbortSignal.timeout(PATIENCE_MS));
    return pid === file.data.pid && startedAt === file.data.startedAt ? file.data : null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'version_mismatch' && isAlive(written)) throw error;
    return null;
  }
}

/** Whether the process that the file names runs. Otherwise the file was left behind, and another program answers. */
function isAlive(written: unknown): boolean {
  if (typeof written !== 'object' || written === null || !('pid' in written)) return false;
  try {
    process.kill(Number(written.pid), 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function readDaemonFile(dataFolder: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(daemonFileIn(dataFolder), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null; // cut off
  }
}
