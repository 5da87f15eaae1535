import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export interface ProgramSearch {
  /** The setting `tidemill.program`. */
  setting: string;
  root: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  canRun(path: string): boolean;
}

/** A path that can be started: the setting, the repository's own installation, or one on the PATH. Null: there is none. */
export function findProgram({ setting, root, env, platform, canRun }: ProgramSearch): string | null {
  const names = platform === 'win32' ? ['tidemill.cmd', 'tidemill.exe'] : ['tidemill'];
  const wanted = setting.trim();
  if (wanted !== '') {
    const path = isAbsolute(wanted) ? wanted : join(root, wanted);
    return canRun(path) ? path : null;
  }
  const folders = [
    join(root, 'node_modules', '.bin'),
    ...(env.PATH ?? '').split(delimiter).filter((each) => each !== ''),
  ];
  for (const folder of folders) for (const name of names) if (canRun(join(folder, name))) return join(folder, name);
  return null;
}

export function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
