import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { realPath, replaceFile, textOf } from '../hooks/text-file.ts';
import { ownProgram } from '../process/own-program.ts';
import { type ClientName, clients } from './client.ts';

export interface ClientPlace {
  client: ClientName;
  env: NodeJS.ProcessEnv;
  /** The repository; null: for all projects of the user. */
  root: string | null;
}

/** Adds the server to a client's configuration. `changed` is false when it was there already. */
export function installClient(place: ClientPlace, options: string[]): { file: string; changed: boolean } {
  const { client, env } = place;
  const file = fileOf(place);
  const { command, args } = ownProgram(env);
  const before = textOf(file);
  const after = clients[client].format({ command, args: [...args, 'mcp', ...options] }).add(before, file);
  if (after === before) return { file, changed: false };
  replaceFile(file, after, 0o600);
  return { file, changed: true };
}

/** Removes it. `changed` is false when it was not there. */
export function uninstallClient(place: ClientPlace): { file: string; changed: boolean } {
  const file = fileOf(place);
  const before = textOf(file);
  if (before === null || before.trim() === '') return { file, changed: false };
  const after = clients[place.client].format({ command: '', args: [] }).remove(before, file);
  if (after === before) return { file, changed: false };
  if (after === null) rmSync(realPath(file));
  else replaceFile(file, after, 0o600);
  return { file, changed: true };
}

function fileOf({ client, env, root }: ClientPlace): string {
  const { userFile, projectFile, title } = clients[client];
  if (root === null) return userFile(env);
  if (projectFile !== null) return join(root, projectFile);
  throw new AppError('bad_input', `${title} has no configuration for a single project`, {
    hint: 'Leave --project out.',
  });
}
