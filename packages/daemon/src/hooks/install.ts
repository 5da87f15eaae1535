import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { createGuards } from '../guards/guards.ts';
import { ownProgram } from '../process/own-program.ts';
import { installCommands, uninstallCommands } from './command-files.ts';
import { gateCommands } from './gate-commands.ts';
import { excludeFromGit, includeInGit } from './git-exclude.ts';
import { type HookCommands, installHook, uninstallHook } from './settings.ts';

export interface HooksOptions {
  /** Top folder of the checkout. */
  root: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
}

/** The settings shared by everybody who works on the repository, and a person's own. */
const SHARED = '.claude/settings.json';
const LOCAL = '.claude/settings.local.json';

/** Applies the guards to every Claude Code session in this repository from now on. */
export async function installHooks({ root, dataDir, env }: HooksOptions, isLocal: boolean) {
  // Report a mistake in the guards now; otherwise every tool of a session would be refused because of it.
  await createGuards({ root, dataDir });
  const file = isLocal ? LOCAL : SHARED;
  const commands = hookCommands(env);
  const changed = installHook({ file: join(root, file), dataDir }, commands);
  const gates = await gatesOf(root, dataDir);
  const slash = installCommands({ root, dataDir });
  if (isLocal) excludeFromGit(root, [file, ...slash.changed]);
  return { file, command: commands.guard, changed, gates, commands: slash.changed, kept: slash.kept };
}

/** Also prepares the answer for the first session. A config with mistakes is for `tidemill config check`. */
async function gatesOf(root: string, dataDir: string): Promise<string[]> {
  try {
    return (await gateCommands(root, dataDir)).map(({ run }) => run);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

export function uninstallHooks({ root, dataDir }: HooksOptions) {
  // The folder that was created for the settings is removed with them, if it is empty by then.
  const { changed, kept } = uninstallCommands({ root, dataDir });
  const settings = [SHARED, LOCAL].filter((file) => uninstallHook({ file: join(root, file), dataDir }));
  includeInGit(root);
  return { files: [...settings, ...changed], kept };
}

/**
 * Claude Code runs the tool after any failure of a hook except exit code 2, even if the program is missing: hence the
 * `exit 2`. A session starts and ends also when the program fails: hence the `exit 0`.
 */
function hookCommands(env: NodeJS.ProcessEnv): HookCommands {
  const { command, args } = ownProgram(env);
  if (args.length === 0) return { guard: 'tidemill guard || exit 2', session: 'tidemill guard || exit 0' };
  const program = `${[command, ...args].map(quoted).join(' ')} guard`;
  return { guard: `${program} || exit 2 # tidemill guard`, session: `${program} || exit 0 # tidemill guard` };
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
