import type { Api, Project } from '@tidemill/contract';
import { InvalidArgumentError } from 'commander';
import { rootOf } from '../git/repository.ts';
import { type Connection, connect, projectAt } from './connect.ts';
import type { Terminal } from './terminal.ts';

/** What every command gets from its caller. */
export interface CliContext {
  env: NodeJS.ProcessEnv;
  cwd: string;
  terminal: Terminal;
  setExitCode(code: number): void;
}

export interface Json {
  json?: boolean;
}

/** Runs a command against the project of the current folder, by daemon or by store, and closes the connection. */
export async function withProject<T>(
  { env, cwd }: CliContext,
  work: (api: Api, project: Project, daemon: Connection['daemon']) => Promise<T>,
): Promise<T> {
  // git runs while the command connects to the daemon. If both fail, the daemon's error is reported.
  const [connected, found] = await Promise.allSettled([connect(env), rootOf(cwd)]);
  if (connected.status === 'rejected') throw connected.reason;
  const connection = connected.value;
  try {
    if (found.status === 'rejected') throw found.reason;
    return await work(connection.api, await projectAt(connection.api, found.value), connection.daemon);
  } finally {
    await connection.close();
  }
}

export const jsonOption = ['--json', 'print JSON instead of text'] as const;

/** Parsers of option values; commander adds the option's name to the error. */
export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && text.trim() !== '' && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export const collect = (value: string, list: string[] = []): string[] => [...list, value];

/** `--after 3 --after 4,5` and `#6`. */
export function collectNumbers(value: string, list: number[] = []): number[] {
  const numbers = value.split(',').map((part) => {
    const digits = /^\s*#?(\d{1,15})\s*$/.exec(part)?.[1];
    if (!digits || Number(digits) === 0)
      throw new InvalidArgumentError(`"${part}" is not a task number. Use a number such as 12.`);
    return Number(digits);
  });
  return [...list, ...numbers];
}
