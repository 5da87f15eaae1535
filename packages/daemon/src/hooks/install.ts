import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createGuards } from '../guards/guards.ts';
import { installHook, uninstallHook } from './settings.ts';

export interface HooksOptions {
  /** Top folder of the checkout. */
  root: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
}

/** Shared with everyone who works on the repository, and a person's own. */
const SHARED = '.claude/settings.json';
const LOCAL = '.claude/settings.local.json';

/** The guards hold for every Claude Code session in this repository from now on. */
export async function installHooks({ root, dataDir, env }: HooksOptions, isLocal: boolean) {
  // A session in which every tool is refused because of a typing error is better told now.
  await createGuards({ root, dataDir });
  const file = isLocal ? LOCAL : SHARED;
  const command = guardCommand(env);
  const isNew = installHook({ file: join(root, file), dataDir }, command);
  return { file, command, changed: isNew };
}

export function uninstallHooks({ root, dataDir }: HooksOptions): { files: string[] } {
  return { files: [SHARED, LOCAL].filter((file) => uninstallHook({ file: join(root, file), dataDir })) };
}

/**
 * Claude Code goes on after any failure of a hook but exit code 2, a missing program included: hence the `exit 2`.
 * A program that only this shell, or a package's scripts, have on their PATH is named in full.
 */
function guardCommand(env: NodeJS.ProcessEnv): string {
  const folders = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !/node_modules\/\.bin\/?$/.test(folder));
  if (folders.some((folder) => isProgram(join(folder, 'tidemill')))) return 'tidemill guard || exit 2';
  const launcher = join(import.meta.dirname, ...LAUNCHER);
  return `${quoted(process.execPath)} ${quoted(launcher)} guard || exit 2 # tidemill guard`;
}

/** From src/hooks in a checkout, from dist in a package. */
const LAUNCHER = import.meta.filename.endsWith('.js')
  ? ['..', 'bin', 'tidemill.mjs']
  : ['..', '..', 'bin', 'tidemill.mjs'];

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not to be run
  }
}
