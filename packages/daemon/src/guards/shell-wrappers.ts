import type { SimpleCommand } from './shell-command.ts';
import { UNKNOWN } from './shell-expansion.ts';

/** Programs that start the program named after them, with their options that take a value. */
const WRAPPERS: Record<string, string[]> = {
  sudo: [
    ...['-u', '-g', '-C', '-D', '-h', '-p', '-r', '-t', '-U', '-R', '-T', '-a', '-c'],
    ...['--user', '--group', '--close-from', '--chdir', '--host', '--prompt', '--role', '--type', '--other-user'],
    ...['--chroot', '--command-timeout', '--auth-type', '--login-class'],
  ],
  doas: ['-u', '-C'],
  env: ['-u', '-C', '--unset', '--chdir'],
  nohup: [],
  nice: ['-n', '--adjustment'],
  ionice: ['-c', '-n', '-p'],
  timeout: ['-k', '-s', '--kill-after', '--signal'],
  command: [],
  builtin: [],
  exec: ['-a'],
  stdbuf: ['-i', '-o', '-e'],
  setsid: [],
  chronic: [],
  busybox: [],
  watch: ['-n', '--interval'],
  flock: ['-w', '-E'],
  strace: ['-o', '-e', '-p'],
  time: ['-o', '-f'],
  unshare: [],
  bwrap: ['--bind', '--ro-bind', '--tmpfs', '--chdir', '--dev', '--proc', '--setenv'],
  npx: ['-p', '--package'],
  bunx: ['-p', '--package'],
  pnpx: ['-p', '--package'],
  uvx: ['-p', '--python', '--from', '--with'],
  chroot: [],
  'systemd-run': ['-p', '-E', '-u', '-M', '-H', '--property', '--setenv', '--unit', '--uid', '--gid', '--slice'],
  runuser: ['-u', '-g', '-G', '--user', '--group', '--supp-group'],
  taskset: [],
  chrt: [],
  setpriv: [],
  prlimit: [],
  fakeroot: [],
  'xvfb-run': ['-e', '-f', '-n', '-p', '-s', '-w'],
  'dbus-run-session': [],
  unbuffer: [],
  caffeinate: ['-t', '-w'],
  firejail: [],
  'cross-env': [],
  'cross-env-shell': [],
  dotenv: ['-e', '-f', '-v', '-c'],
};
/** Their first words that start a program: `pnpm exec`. */
const RUNNERS: Record<string, string[]> = {
  npm: ['exec', 'x'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'dlx'],
  bun: ['x'],
  bundle: ['exec'],
  poetry: ['run'],
  uv: ['run', 'tool run'],
  pipx: ['run'],
  pipenv: ['run'],
  pdm: ['run'],
  hatch: ['run'],
  rye: ['run'],
  pixi: ['run'],
  mise: ['exec', 'x'],
  direnv: ['exec'],
  asdf: ['exec'],
  volta: ['run'],
  fnm: ['exec'],
  nvm: ['exec'],
  dotenvx: ['run'],
  doppler: ['run'],
};
/** Programs that contain another one: `corepack npm`. */
const CONTAINERS: Record<string, string[]> = {
  corepack: ['npm', 'pnpm', 'yarn'],
  microk8s: ['kubectl', 'helm'],
  minikube: ['kubectl'],
  k3s: ['kubectl'],
};
/** What a runner may get before the program: a folder, a version. */
const RUNNER_VALUES = ['-p', '--package', '-c', '--call', '--with', '--from', '--node', '--using', '-f', '--env-file'];
/** Run files of JavaScript. */
const SCRIPT_RUNNERS = new Set(['node', 'nodejs', 'bun', 'deno', 'tsx', 'ts-node']);
const TIDEMILL_FILE =
  /(^|\/)tidemill(\.m?js)?$|(^|\/)tidemill\/(\S*\/)?main\.[jt]s$|(^|\/)packages\/daemon\/(src|dist)\/main\.[jt]s$/;
/** Options with two values. */
const PAIRED = ['--bind', '--ro-bind', '--setenv'];
/** How many of their own words come before the program. */
const LEADING: Record<string, number> = { timeout: 1, flock: 1, chroot: 1, taskset: 1, chrt: 1 };
/** Those of GNU, and `-J`, `-R` and `-S` of BSD. */
const XARGS_VALUES = [
  ...['-a', '-d', '-E', '-I', '-L', '-n', '-P', '-s', '-J', '-R', '-S'],
  ...['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs', '--process-slot-var'],
];
const PARALLEL_VALUES = [...XARGS_VALUES, '-j', '--jobs', '--colsep', '--delay', '--joblog', '--timeout', '--workdir'];
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash', 'fish']);

export const isShell = (name: string): boolean => SHELLS.has(name);

/** What a command passes to the next one in a pipe, as far as it is known. */
export type Fed =
  | { kind: 'printed'; text: string }
  /** Names of files in its working directory: some or all. */
  | { kind: 'names'; isAll: boolean };

/** Represents the names of all files. */
export const ALL_NAMES = `./${UNKNOWN}${UNKNOWN}`;

export function fedWords({ name, args, cwd }: SimpleCommand): Fed | null {
  if (name === 'echo' || name === 'printf') {
    const text = args.some((arg) => arg.includes(UNKNOWN)) ? null : printedText(name, args);
    return text === null ? null : { kind: 'printed', text };
  }
  const isLister = ['find', 'fd', 'grep', 'rg', 'git', 'ls'].includes(name) && !cwd.includes(UNKNOWN);
  const staysBelow = !args.some(
    (arg) => arg.startsWith('/') || arg.startsWith(UNKNOWN) || /(^|\/)\.\.(\/|$)/.test(arg),
  );
  if (!isLister || !staysBelow) return null;
  const words = args.filter((arg) => !arg.startsWith('-'));
  return {
    kind: 'names',
    isAll: name === 'git' ? words.join(' ') === 'ls-files' : name === 'ls' && words.length === 0,
  };
}

/** Null if it needs more than simple formats and escapes. */
function printedText(name: string, args: string[]): string | null {
  if (name === 'echo') {
    const text = args.filter((arg) => !/^-[neE]+$/.test(arg)).join(' ');
    return text.includes('\\') ? null : text;
  }
  const [format = '', ...values] = args[0] === '--' ? args.slice(1) : args;
  const isSimple = !/%(?![s%])|\\(?![nt0])|^-/.test(format);
  if (!isSimple) return null;
  let text = '';
  do {
    text += format.replace(/%[s%]|\\[nt0]/g, (found) => {
      if (found === '%s') return values.shift() ?? '';
      return found === '%%' ? '%' : '\n';
    });
  } while (values.length > 0 && format.includes('%s'));
  return text;
}

/** The words of the programs that a command starts; empty when it starts none. */
export function innerWords(name: string, args: string[], fed: Fed | null): string[][] {
  if (name === 'xargs' || name === 'parallel') return [xargsWords(name, args, fed)].filter((words) => words.length > 0);
  if (name === 'find' || name === 'fd') return findWords(args);
  // It only says where a program is.
  if (name === 'command' && /^-p?[vV]/.test(args[0] ?? '')) return [];
  const known = knownWords(name, args);
  if (known) return [known];
  const [verb = '', ...after] = args;
  if (CONTAINERS[name]?.includes(verb)) return [[verb, ...afterOptions(after, [])]];
  const phrase = RUNNERS[name]?.find((words) => words === args.slice(0, words.split(' ').length).join(' '));
  if (phrase !== undefined) {
    const rest = afterRunner(name, args.slice(phrase.split(' ').length));
    return [withoutVersion(rest)].filter((words) => words.length > 0);
  }
  const valued = WRAPPERS[name];
  if (!valued) return [];
  const split = name === 'env' ? args.findIndex((arg) => /^(-S|--split-string)/.test(arg)) : -1;
  if (split >= 0) {
    const text = [(args[split] as string).replace(/^(-S|--split-string=?)/, ''), ...args.slice(split + 1)].join(' ');
    return [text.trim().split(/\s+/)].filter(([program]) => program !== '');
  }
  const rest = afterOptions(args, valued);
  while (rest.length > 0 && /^[A-Za-z_]\w*=/.test(rest[0] as string)) rest.shift();
  rest.splice(0, LEADING[name] ?? 0);
  return rest.length > 0 ? [/x$/.test(name) ? withoutVersion(rest) : rest] : [];
}

/** `find` and `python -m x` are commands of their own, besides the one that they start. */
export const alsoActs = (name: string, args: string[]): boolean =>
  name === 'find' || name === 'fd' || knownWords(name, args) !== null;

/** Programs that guards know by name, however they are started: a script's file, a package's script, a module of Python. */
function knownWords(name: string, args: string[]): string[] | null {
  if (SCRIPT_RUNNERS.has(name)) {
    const at = args.findIndex((arg) => TIDEMILL_FILE.test(arg));
    if (at >= 0) return ['tidemill', ...args.slice(at + 1)];
  }
  if (/^python[\d.]*$/.test(name)) {
    const at = args.indexOf('-m');
    if (at >= 0 && args.slice(0, at).every((arg) => arg.startsWith('-')) && args[at + 1]) return args.slice(at + 1);
  }
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(name)) return null;
  const rest = /^run(-script)?$/.test(args[0] ?? '') ? args.slice(1) : args;
  return rest[0] === 'tidemill' ? rest.filter((arg) => arg !== '--') : null;
}

/** The program and its words: after `--`, or after options and a leading folder or version. */
function afterRunner(name: string, args: string[]): string[] {
  const end = ['mise', 'dotenvx', 'doppler'].includes(name) ? args.indexOf('--') : -1;
  if (end >= 0) return args.slice(end + 1);
  const rest = afterOptions(args, RUNNER_VALUES);
  return name === 'direnv' || (name === 'nvm' && /^v?\d|^(lts|node)\b/.test(rest[0] ?? '')) ? rest.slice(1) : rest;
}

/** `npm@latest` starts npm. */
const withoutVersion = ([program = '', ...rest]: string[]): string[] =>
  program === '' ? rest : [program.replace(/^(@?[^@]+)@.*$/, '$1'), ...rest];

function afterOptions(args: string[], valued: string[]): string[] {
  const rest = [...args];
  while (rest[0]?.startsWith('-')) {
    const option = rest.shift() as string;
    if (option === '--') break;
    if (takesNext(option, valued)) rest.splice(0, PAIRED.includes(option) ? 2 : 1);
  }
  return rest;
}

/** `-u root`, and in `-nu root` the last of several letters; in `-uroot` the value is in the same word. */
function takesNext(option: string, valued: string[]): boolean {
  if (option.startsWith('--')) return valued.includes(option);
  const at = [...option].findIndex((letter) => valued.includes(`-${letter}`));
  return at >= 0 && at === option.length - 1;
}

/** The values of an option of `xargs`: `-a x`, `-ax`, `-0a x`, `--arg-file x`, `--arg-file=x`. */
function valuesOf(options: string[], short: string, long: string): string[] {
  const form = new RegExp(`^(?:-[0oprtx]*${short}|${long}(?:=|$))(.*)$`);
  return options.flatMap((option, index) => {
    const value = form.exec(option)?.[1];
    return value === '' ? (options[index + 1] ?? []) : (value ?? []);
  });
}

/** The files whose lines `xargs` passes on. */
export const xargsFiles = (args: string[]): string[] =>
  valuesOf(args.slice(0, args.length - afterOptions(args, XARGS_VALUES).length), 'a', '--arg-file');

/** What `xargs` replaces with a line. */
function markOf(options: string[]): string | undefined {
  if (options.some((option) => option === '--replace' || /^-[0prtx]*i$/.test(option))) return '{}';
  return valuesOf(options, 'I', '--replace')[0];
}

function xargsWords(name: string, args: string[], fed: Fed | null): string[] {
  const words = afterOptions(args, name === 'parallel' ? PARALLEL_VALUES : XARGS_VALUES);
  if (words.length === 0) return [];
  const names = fed?.kind === 'names' && fed.isAll ? ALL_NAMES : `./${UNKNOWN}`;
  const given = fed?.kind === 'printed' ? fed.text.trim().split(/\s+/) : fed?.kind === 'names' ? [names] : [UNKNOWN];
  const mark = markOf(args.slice(0, args.length - words.length));
  if (mark === undefined) return [...words, ...given];
  // A whole line stands for the mark.
  const lines = fed?.kind === 'printed' ? fed.text.trim().split('\n') : given;
  return words.flatMap((word) => (word.includes(mark) ? lines.map((value) => word.replaceAll(mark, value)) : [word]));
}

/** `find a b -name x -exec rm {} +`: the program sees files below a and b. */
function findWords(args: string[]): string[][] {
  const roots = findRoots(args);
  const inner: string[][] = [];
  args.forEach((arg, index) => {
    if (!['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'].includes(arg)) return;
    const end = args.findIndex((word, at) => at > index && (word === ';' || word === '+'));
    const words = args.slice(index + 1, end < 0 ? undefined : end);
    const below = roots.map((root) => `${root.replace(/\/$/, '')}/${UNKNOWN}`);
    inner.push(
      words.flatMap((word) => (word.includes('{}') ? below.map((value) => word.replaceAll('{}', value)) : [word])),
    );
  });
  return inner;
}

export function findRoots(args: string[]): string[] {
  const end = args.findIndex((arg) => /^(-[a-zA-Z]{2,}|--?[a-z-]+|!|\()$/.test(arg) && !/^-[HLPOD]/.test(arg));
  const roots = args.slice(0, end < 0 ? undefined : end).filter((arg) => !arg.startsWith('-'));
  return roots.length > 0 ? roots : ['.'];
}

/** The shell text that a command runs; null when it runs a file, or nothing. An unknown text is `UNKNOWN`. */
export function shellCode({ name, args, input }: SimpleCommand, fed: Fed | null): string | null {
  if (name === 'eval') return args.join(' ');
  if (name === 'trap') return args.length > 1 ? (args[0] as string) : null;
  if (name === 'alias') return args.map((arg) => arg.replace(/^\w+=/, '')).join(' ; ');
  if (name === 'source' || name === '.') return args[0]?.startsWith(UNKNOWN) ? UNKNOWN : null;
  const flag = args.findIndex((arg) => /^-[a-zA-Z]*c$/.test(arg));
  if (flag >= 0) return args[flag + 1] ?? UNKNOWN;
  const script = args.find((arg) => !arg.startsWith('-'));
  if (script?.startsWith(UNKNOWN)) return UNKNOWN;
  if (script !== undefined && script !== '/dev/stdin' && !args.includes('-s')) return null;
  if (input !== null) return input;
  if (fed?.kind === 'printed') return fed.text;
  // It reads the output of another program, which is not known.
  return args.some((arg) => arg === '--version' || arg === '--help') ? null : UNKNOWN;
}
