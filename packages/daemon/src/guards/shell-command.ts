import { basename, isAbsolute, resolve } from 'node:path';
import { UNKNOWN } from './shell-expansion.ts';

/** One program that a shell command would start, with what is known about its words and its working directory. */
export interface SimpleCommand {
  /** Without its folder: `rm` for `/bin/rm`. */
  name: string;
  /** As written. */
  program: string;
  args: string[];
  /** The environment variables that its words and its input contain. */
  variables: string[];
  /** Variables set for this command only: `GIT_DIR=… git status`. */
  assigned: string[];
  /** Redirections. */
  reads: string[];
  writes: string[];
  /** A here-document or here-string. */
  input: string | null;
  /** Its output is piped to another command. */
  isPiped: boolean;
  cwd: string;
  /** It runs text that cannot be known beforehand. */
  isHidden: boolean;
}

export const commandText = ({ name, args }: SimpleCommand): string =>
  [name, ...args].join(' ').replaceAll(UNKNOWN, '$?');

/** The words of a command as its fields. */
export const named = ([program = '', ...args]: string[]) => ({ program, name: basename(program), args });

/** Resolves a path against a folder, as far as both are known. */
export const within = (cwd: string, target: string) =>
  target.includes(UNKNOWN) || (cwd.includes(UNKNOWN) && !isAbsolute(target)) ? UNKNOWN : resolve(cwd, target);
