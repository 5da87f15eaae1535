import { basename } from 'node:path';
import type { SimpleCommand } from './shell-command.ts';
import { type Fed, fedWords } from './shell-wrappers.ts';

/** Programs that run a text as shell code, with the options that introduce it. */
const OPTIONS: Record<string, RegExp> = {
  script: /^(-[a-zA-Z]*c|--command)$/,
  su: /^(-[a-zA-Z]*c|--command|--session-command)$/,
  runuser: /^(-[a-zA-Z]*c|--command|--session-command)$/,
  sg: /^-c$/,
  npx: /^(-c|--call)$/,
  npm: /^(-c|--call)$/,
  'nix-shell': /^--(run|command)$/,
  nodemon: /^(-x|--exec)$/,
};
/** Programs that run each of their words as shell code. */
const EACH_WORD = new Set(['concurrently', 'hyperfine']);
/** Programs that read shell code. */
const READERS = new Set(['at', 'batch']);

/** The shell code that a program runs besides its own work. */
export function textsRun({ name, args, input }: SimpleCommand, fed: Fed | null): string[] {
  if (EACH_WORD.has(name)) return args.filter((arg) => !arg.startsWith('-'));
  if (READERS.has(name)) return [input ?? (fed?.kind === 'printed' ? fed.text : '')];
  const option = OPTIONS[name];
  if (!option) return [];
  return args.flatMap((arg, index) => {
    if (option.test(arg)) return args[index + 1] ?? [];
    const [, joined] = /^--\w[\w-]*=(.*)$/s.exec(arg) ?? [];
    return joined !== undefined && option.test(arg.slice(0, arg.indexOf('='))) ? joined : [];
  });
}

export const aliasOf = (given: string): [name: string, words: string[]] => {
  const [name = '', ...value] = given.split('=');
  return [name, value.join('=').trim().split(/\s+/)];
};

/** What a command prints, if that is known. */
export function printedBy(command: SimpleCommand, worktree: string): string | null {
  const { name, args } = command;
  if (name === 'git' && args.join(' ') === 'rev-parse --show-toplevel') return worktree;
  const program = name === 'which' ? args : name === 'command' && args[0] === '-v' ? args.slice(1) : [];
  // Which folder it is does not matter for a program that is started; it is outside the worktree.
  if (program.length === 1) return `/usr/bin/${basename(program[0] as string)}`;
  const fed = fedWords(command);
  return fed?.kind === 'printed' ? fed.text.replace(/\n+$/, '') : null;
}
