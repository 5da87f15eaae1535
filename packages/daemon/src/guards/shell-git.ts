import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { named, type SimpleCommand, within } from './shell-command.ts';
import { UNKNOWN } from './shell-expansion.ts';

const TAKE_VALUE = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env'];

/** A git command without git's own options: `git -C x push` becomes `git push`, running in x. */
export function gitCommands(command: SimpleCommand): SimpleCommand[] {
  let { cwd } = command;
  const args = [...command.args];
  const settings: string[] = [];
  const places: string[] = [];
  while (args[0]?.startsWith('-')) {
    const [option = '', value] = (args.shift() as string).split(/=(.*)/s);
    const given = TAKE_VALUE.includes(option) ? (value ?? args.shift() ?? '') : value;
    if (option === '-C') cwd = within(cwd, given ?? '');
    else if (option === '--git-dir' || option === '--work-tree') places.push(given ?? '');
    else if (option === '-c' || option === '--config-env') settings.push(given ?? '');
    // Where git finds its own programs. Without a value it is only printed.
    else if (option === '--exec-path' && given !== undefined) settings.push(`core.execPath=${given}`);
  }
  const plain = { ...command, assigned: [...command.assigned, ...places] };
  return [
    ...settings.map((setting) => ({ ...plain, cwd, args: ['-c', setting] })),
    ...(cwd === command.cwd ? [] : [{ ...plain, ...named(['cd', cwd]), reads: [], writes: [] }]),
    { ...plain, cwd, args: withMarkedFiles(args, cwd) },
  ];
}

/** `git checkout a.ts` restores a file and `git checkout main` switches. As in git, what exists decides. */
function withMarkedFiles(args: string[], cwd: string): string[] {
  if (args[0] !== 'checkout' || args.includes('--')) return args;
  const names = args.slice(1).filter((arg) => !arg.startsWith('-'));
  const flags = args.slice(1).filter((arg) => arg.startsWith('-'));
  const isFiles = names.length > 0 && flags.every((flag) => /^(-f|-q|--force|--quiet|--ours|--theirs)$/.test(flag));
  const exists = (name: string) => !name.includes(UNKNOWN) && !cwd.includes(UNKNOWN) && existsSync(resolve(cwd, name));
  return isFiles && names.every(exists) ? ['checkout', ...flags, '--', ...names] : args;
}
