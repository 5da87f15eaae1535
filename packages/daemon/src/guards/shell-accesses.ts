import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Access, AccessKind } from './access.ts';
import { commandText, type SimpleCommand } from './shell-command.ts';
import { UNKNOWN } from './shell-expansion.ts';
import { findSweep, gitGrepTouches, nameSweep, searchTouches } from './shell-searches.ts';
import { findRoots } from './shell-wrappers.ts';

type Touched = Pick<Access, 'path' | 'kind' | 'isWhole' | 'isSwept'>;

const names = (text: string) => new Set(text.split(' '));
/** Their words are text, not files. */
const SPEAKERS = names('echo printf : true false sleep exit return set unset shift wait kill date seq expr type which');
const LISTERS = names('ls ll dir stat test [ [[ file du tree realpath readlink basename dirname exa eza');
const READERS = names(
  'cat less more bat nl tac head tail wc diff cmp comm sort uniq od xxd hexdump strings base64 base32 md5sum sha1sum ' +
    'sha256sum sha512sum cksum cut paste column fold rev join source . openssl gpg zcat bzcat xzcat',
);
const WHOLE = names('cat less more bat nl tac');
/** Their first word that is not an option is a pattern or a program, not a file. */
const FILTERS = names('sed awk gawk mawk jq yq perl');
const SEARCHERS = names('grep egrep fgrep zgrep rg ag ack');
const REMOVERS = names('rm rmdir unlink shred');
const WRITERS = names(
  'tee touch mkdir truncate chmod chown chgrp mkfifo mknod sponge ed ex vi vim nano gzip gunzip xz unxz bzip2 bunzip2 split ' +
    'setfacl chattr',
);
const COPIERS = names('cp mv rsync scp install ditto');
const INTERPRETERS = names(
  'python python2 python3 pypy node nodejs deno bun ruby perl php lua Rscript osascript tclsh',
);

const GIT_WRITERS = names(
  'rm mv checkout restore clean apply clone init worktree submodule archive bundle format-patch',
);
const WRITES_IN_CODE =
  /\bopen\s*\([^)]*['"][rbt]*[wax+]|writ|unlink|remove|rmtree|rmdir|rename|mkdir|truncate|chmod|copy|move|replace|touch|dump|system|exec|spawn|subprocess|`|\bFile\b/i;

/** Which files a command touches, and how, judged by its words. If unsure, it assumes the more dangerous access. */
export function shellAccesses(command: SimpleCommand): Access[] {
  const text = commandText(command);
  // git would write in the folder that its options name.
  const assignedKind: AccessKind = command.name === 'git' ? 'enter' : 'read';
  const touched: Touched[] = [
    ...command.reads.map((path) => ({ path, kind: 'read' as const })),
    ...command.writes.map((path) => ({ path, kind: 'write' as const })),
    ...command.assigned
      .flatMap((value) => likelyPaths(value, command.cwd))
      .map((each) => ({ ...each, kind: assignedKind })),
    ...(command.program.includes('/') ? [{ path: command.program, kind: 'read' as const }] : []),
    ...byProgram(command),
  ];
  return touched.filter(({ path }) => !isStream(path)).map((each) => ({ ...each, cwd: command.cwd, command: text }));
}

const isStream = (path: string) =>
  path === '' || path === '-' || /^\/dev\/(null|zero|full|tty|std(in|out|err)|fd\/\d+|u?random)$/.test(path);

function byProgram(command: SimpleCommand): Touched[] {
  const { name, args, cwd } = command;
  const plain = positionals(args);
  const all = (kind: AccessKind, paths = plain): Touched[] => paths.map((path) => ({ path, kind }));
  const options = () => optionValues(args).flatMap((value) => likelyPaths(value, cwd));
  if (SPEAKERS.has(name)) return [];
  if (name === 'cd' || name === 'pushd') return all('enter');
  if (name === 'git') return gitTouches(args, cwd);
  if (name === 'find' || name === 'fd') return findTouches(command);
  if (name === 'ln') return linkTouches(plain, args, cwd);
  if (name === 'dd') return args.flatMap((arg) => ddTouch(arg));
  if (name === 'tar' || name === 'unzip' || name === 'zip' || name === 'curl' || name === 'wget' || name === 'patch')
    return transferTouches(name, args, cwd);
  if (REMOVERS.has(name)) return all('remove');
  if (WRITERS.has(name)) return [...all('write', name.startsWith('ch') ? plain.slice(1) : plain), ...options()];
  if (COPIERS.has(name)) return copyTouches(name, args, plain);
  if (LISTERS.has(name)) return all('list');
  if (READERS.has(name)) {
    const isWhole = WHOLE.has(name) && !command.isPiped && command.writes.length === 0;
    return [...plain.map((path) => ({ path, kind: 'read' as const, isWhole })), ...nameSweep(plain, cwd), ...options()];
  }
  if (SEARCHERS.has(name)) return [...searchTouches(command), ...nameSweep(plain, cwd), ...options()];
  if (FILTERS.has(name) && !(name === 'perl' && !isInPlace(name, args)))
    return filterTouches(command, plain, options());
  if (INTERPRETERS.has(name)) return interpreterTouches(command, plain);
  return [...plain, ...optionValues(args)].flatMap((value) => likelyPaths(value, cwd));
}

function positionals(args: string[]): string[] {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  return [...before.filter((arg) => !/^-./.test(arg)), ...(end < 0 ? [] : args.slice(end + 1))];
}

/** `--file=x`, `-fx`, `if=x`: paths inside options. */
function optionValues(args: string[]): string[] {
  return args.flatMap((arg) => {
    const value = /^--?[\w-]+=(.+)$/s.exec(arg)?.[1] ?? /^-[A-Za-z]([./~].*)$/s.exec(arg)?.[1];
    return value === undefined ? [] : [value];
  });
}

/**
 * A word of an unknown program. It counts as a file when the file exists, or its folder exists; a pattern like
 * `/api/users` has neither.
 */
function likelyPaths(value: string, cwd: string): Touched[] {
  if (value.length > 4_096 || value.includes('\n')) return [];
  return [...new Set([value, ...value.split(/[:=,@]/)])].flatMap((path): Touched[] => {
    if (path === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return [];
    if (path.startsWith(UNKNOWN) || cwd.includes(UNKNOWN)) return [{ path, kind: 'read' }];
    const full = resolve(cwd, path.replaceAll(UNKNOWN, '_'));
    if (existsSync(full) || /(^|\/)\.[^/.]/.test(path)) return [{ path, kind: 'read' }];
    const isElsewhere = path.startsWith('/') || /(^|\/)\.\.(\/|$)/.test(path);
    return isElsewhere && dirname(full) !== '/' && existsSync(dirname(full)) ? [{ path, kind: 'write' }] : [];
  });
}

function copyTouches(name: string, args: string[], plain: string[]): Touched[] {
  const at = args.findIndex((arg) => arg === '-t' || arg.startsWith('--target-directory'));
  const target = at < 0 ? plain.at(-1) : (args[at]?.split('=')[1] ?? args[at + 1]);
  const from = plain.filter((path) => path !== target);
  return [
    ...from.map((path) => ({ path, kind: name === 'mv' ? ('remove' as const) : ('read' as const) })),
    ...(target === undefined ? [] : [{ path: target, kind: 'write' as const }]),
  ];
}

/** A link to a place outside would open that place for later commands: it counts as a write to both ends. */
function linkTouches(plain: string[], args: string[], cwd: string): Touched[] {
  const [target = '', link] = plain.length > 1 ? [plain[0], plain.at(-1)] : [plain[0], undefined];
  const isSymbolic = args.some((arg) => /^-[a-zA-Z]*s|^--symbolic$/.test(arg)) && !target.startsWith(UNKNOWN);
  const base =
    link !== undefined && !link.includes(UNKNOWN) && !cwd.includes(UNKNOWN) ? dirname(resolve(cwd, link)) : cwd;
  const path = isSymbolic && !base.includes(UNKNOWN) ? resolve(base, target) : target;
  return [{ path, kind: 'write' }, ...(link === undefined ? [] : [{ path: link, kind: 'write' as const }])];
}

function ddTouch(arg: string): Touched[] {
  const [, key, path] = /^(if|of)=(.*)$/s.exec(arg) ?? [];
  return path === undefined ? [] : [{ path, kind: key === 'of' ? 'write' : 'read' }];
}

function filterTouches({ name, args, cwd }: SimpleCommand, plain: string[], options: Touched[]): Touched[] {
  const hasOwnPattern = args.some((arg) => /^(-[a-zA-Z]*[ef]|--file|--expression)(=|$)/.test(arg));
  const files = hasOwnPattern ? plain : plain.slice(1);
  const inPlace = isInPlace(name, args);
  const program = name === 'sed' || name.endsWith('awk') ? programPaths(name, plain[0] ?? '') : [];
  return [
    ...files.map((path) => ({ path, kind: inPlace ? ('write' as const) : ('read' as const) })),
    ...program,
    ...options,
    ...nameSweep(files, cwd),
  ];
}

/** sed and awk can write files from within their program: `sed 'w ../x'`, `awk '{ print > "../x" }'`. */
function programPaths(name: string, program: string): Touched[] {
  const pattern = name === 'sed' ? /(?:^|[;{}/\s])[wWr]\s+([^\s;}]+)/g : /"([^"\s]*[/.][^"\s]*)"/g;
  return [...program.slice(0, 200_000).matchAll(pattern)].map(([, path = '']) => ({ path, kind: 'write' }));
}

function transferTouches(name: string, args: string[], cwd: string): Touched[] {
  return args.flatMap((arg, index): Touched[] => {
    const last = args[index - 1] ?? '';
    if (
      /^(-o|--output|-O|--output-document|-P|--directory-prefix|-C|--directory|-d|--output-dir)$/.test(last) &&
      name !== 'patch'
    ) {
      if (name === 'curl' && last === '-d') return arg.startsWith('@') ? [{ path: arg.slice(1), kind: 'read' }] : [];
      return [{ path: arg, kind: 'write' }];
    }
    if (name === 'tar' && (/^-?[a-zA-Z]*f$/.test(last) || /^--file$/.test(last))) return [{ path: arg, kind: 'write' }];
    if (name === 'curl' || name === 'wget') {
      const file =
        /^(?:[^=@]*=)?@(.+)$/s.exec(arg)?.[1] ?? (last === '-T' || last === '--upload-file' ? arg : undefined);
      return file === undefined ? likelyPaths(arg.replace(/^--?[\w-]+=/, ''), cwd) : [{ path: file, kind: 'read' }];
    }
    if (arg.startsWith('-')) return optionValues([arg]).map((path) => ({ path, kind: 'write' }));
    return [{ path: arg, kind: name === 'patch' ? 'write' : 'read' }];
  });
}

function findTouches({ args, isPiped, cwd }: SimpleCommand): Touched[] {
  const roots = findRoots(args);
  const wanted = args.flatMap((arg, index) => (/^-i?(name|path|wholename)$/.test(args[index - 1] ?? '') ? [arg] : []));
  const printed = args.flatMap((arg, index) => (/^-f(print0?|ls|printf)$/.test(args[index - 1] ?? '') ? [arg] : []));
  const runs = isPiped || args.some((arg) => /^-(exec|ok)/.test(arg));
  const isNarrow = wanted.length > 0 || args.some((arg) => arg === 'f' || arg === '-newer' || arg === '-empty');
  return [
    ...roots.map((path) => ({ path, kind: 'list' as const })),
    ...printed.map((path) => ({ path, kind: 'write' as const })),
    ...(runs && !args.includes('-delete') ? findSweep(args, cwd) : []),
    ...(args.includes('-delete')
      ? roots.map((root) => ({ path: isNarrow ? `${root}/${UNKNOWN}` : root, kind: 'remove' as const }))
      : []),
  ];
}

function gitTouches([sub = '', ...args]: string[], cwd: string): Touched[] {
  if (sub === '-c') return [];
  const words = args.filter((_, index) => !/^(-m|--message|-[a-z]*m|--author|--date)$/.test(args[index - 1] ?? ''));
  const plain = positionals(words);
  if (sub === 'grep') return gitGrepTouches(args, cwd);
  if (sub === 'rm') return plain.map((path) => ({ path, kind: 'remove' }));
  if (GIT_WRITERS.has(sub)) {
    const named = plain.flatMap((path) => likelyPaths(path, cwd)).map(({ path }) => ({ path, kind: 'write' as const }));
    return [...named, ...optionValues(words).flatMap((value) => likelyPaths(value, cwd))];
  }
  return [...plain, ...optionValues(words)].flatMap((value) => likelyPaths(value, cwd));
}

/** A filter that changes the files themselves. */
function isInPlace(name: string, args: string[]): boolean {
  return (
    (name === 'sed' || name === 'perl' || name === 'yq') && args.some((arg) => /^(-[a-zA-Z]*i|--in-place)/.test(arg))
  );
}

function interpreterTouches({ args, input, cwd }: SimpleCommand, plain: string[]): Touched[] {
  const flag = args.findIndex((arg) => /^(-[a-zA-Z]*[cerp]|--eval|--print)$/.test(arg));
  const code = [...(flag < 0 ? [] : [args[flag + 1] ?? '']), ...(input === null ? [] : [input])];
  const kind = code.some((text) => WRITES_IN_CODE.test(text)) ? 'write' : 'read';
  const others = flag < 0 ? plain : plain.filter((word) => word !== args[flag + 1]);
  return [
    ...code.flatMap((text) => quotedPaths(text, kind)).filter(({ path }) => path.startsWith('.') || isThere(path, cwd)),
    ...[...others, ...optionValues(args)].flatMap((word) => likelyPaths(word, cwd)),
  ];
}

function isThere(path: string, cwd: string): boolean {
  if (cwd.includes(UNKNOWN) || path.includes(UNKNOWN)) return true;
  const full = resolve(cwd, path);
  const isElsewhere = path.startsWith('/') || path.includes('..') || path.startsWith('~');
  return (
    existsSync(full) ||
    /(^|\/)\.[^/.]/.test(path) ||
    (isElsewhere && dirname(full) !== '/' && existsSync(dirname(full)))
  );
}

/** Pieces of a program's text that look like files: text in quotes, and words with a slash or a leading dot. */
function quotedPaths(code: string, kind: AccessKind): Touched[] {
  const pieces = code.slice(0, 200_000).match(/[^\s'"`()<>|;,={}[\]]+/g) ?? [];
  const likely = pieces.filter((piece) => /[/~]|^\.|\.\w+$/.test(piece) && piece.length < 1_024);
  return [...new Set(likely)].map((path) => ({ path, kind }));
}
