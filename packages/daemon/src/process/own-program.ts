import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Seen from src/process in a checkout and from dist in a package. */
const LAUNCHER = import.meta.filename.endsWith('.js')
  ? ['..', 'bin', 'tidemill.mjs']
  : ['..', '..', 'bin', 'tidemill.mjs'];

/**
 * How other programs start this one. A program that is only on the PATH of this shell, or of a package's scripts, is named
 * by its full path.
 */
export function ownProgram(env: NodeJS.ProcessEnv): { command: string; args: string[] } {
  const folders = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !/node_modules\/\.bin\/?$/.test(folder));
  if (folders.some((folder) => isProgram(join(folder, 'tidemill')))) return { command: 'tidemill', args: [] };
  return { command: process.execPath, args: [join(import.meta.dirname, ...LAUNCHER)] };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // missing, or not executable
  }
}
