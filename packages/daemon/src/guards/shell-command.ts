import { basename, isAbsolute, resolve } from 'node:path';
import { UNKNOWN } from './shell-expansion.ts';

/** One program that a shell command would start, with what is known of its words and of where it runs. */
export interface SimpleCommand {
  /** Without its folder: `rm` for `/bin/rm`. */
  name: string;
  /** As it was named. */
  program: string;
  args: string[];
  /** The variables of the environment that its words and its input are made of. */
  variables: string[];
  /** Values given for this one command: `GIT_DIR=… git status`. */
  assigned: string[];
  /** Redirections. */
  reads: string[];
  writes: string[];
  /** A here-document or here-string. */
  input: string | null;
  /** Its output goes on to another command. */
  isPiped: boolean;
  cwd: string;
  /** It runs text that cannot be known beforehand. */
  isHidden: boolean;
}

export const commandText = ({ name, args }: SimpleCommand): string =>
  [name, ...args].join(' ').replaceAll(UNKNOWN, '$?');

/** The words of a command as its fields. */
export const named = ([program = '', ...args]: string[]) => ({ program, name: basename(program), args });

/** Where a path leads from a folder, as far as both are known. */
export const within = (cwd: string, target: string) =>
  target.includes(UNKNOWN) || (cwd.includes(UNKNOWN) && !isAbsolute(target)) ? UNKNOWN : resolve(cwd, target);
