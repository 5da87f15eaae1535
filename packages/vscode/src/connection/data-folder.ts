import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The data folder of the command line: the setting, TIDEMILL_HOME, or the folder in the home directory. */
export function dataFolderOf(setting: string, env: NodeJS.ProcessEnv): string {
  const wanted = setting.trim() || env.TIDEMILL_HOME || join(homedir(), '.tidemill');
  return resolve(wanted.replace(/^~(?=[\\/]|$)/, homedir()));
}

/** For a program that is started: it must use the folder in which the daemon is looked for. */
export const dataFolderEnv = (setting: string): Record<string, string> =>
  setting.trim() === '' ? {} : { TIDEMILL_HOME: dataFolderOf(setting, {}) };
