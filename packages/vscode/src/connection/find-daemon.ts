import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError, DaemonFile } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';

const PATIENCE_MS = 3000;

/** The data folder of the command line: the setting, TIDEMILL_HOME, or the folder in the home directory. */
export function dataFolderOf(setting: string, env: NodeJS.ProcessEnv): string {
  const wanted = setting.trim() || env.TIDEMILL_HOME || join(homedir(), '.tidemill');
  return resolve(wanted.replace(/^~(?=[\\/]|$)/, homedir()));
}

export const daemonFileIn = (dataFolder: string) => join(dataFolder, 'daemon.json');

/** The daemon that serves a data folder now; null when none does. A killed daemon leaves its file behind. */
export async function findDaemon(dataFolder: string): Promise<DaemonFile | null> {
  const file = await readDaemonFile(dataFolder);
  if (!file) return null;
  try {
    // Another program may have the port by now. Only the daemon itself knows its start time.
    const { pid, startedAt } = await createClient(file).health({}, AbortSignal.timeout(PATIENCE_MS));
    return pid === file.pid && startedAt === file.startedAt ? file : null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

async function readDaemonFile(dataFolder: string): Promise<DaemonFile | null> {
  let text: string;
  try {
    text = await readFile(daemonFileIn(dataFolder), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
  try {
    return DaemonFile.parse(JSON.parse(text));
  } catch {
    // Cut off, or of a version that writes something else: for this extension no daemon is there.
    return null;
  }
}
