import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UNKNOWN } from './shell-expansion.ts';

/** Where a path of a tool call really is. */
export interface Location {
  /** For people: relative to the worktree if it is inside, otherwise absolute. */
  shown: string;
  /** Its names, as written and with links resolved, in the form that globs are compared with. */
  forms: string[];
  /** The file itself; null when parts of the path are known only when the shell runs. */
  real: string | null;
  isOutside: boolean;
  /** Its location is completely unknown. */
  isUnknown: boolean;
}

const MOST_LINKS = 40;

/** Some file systems treat `.GIT` and `.git` as equal, and also two encodings of one letter. */
const comparable = (path: string): string => path.normalize('NFKC').toLowerCase();

export function locationOf(path: string, cwd: string, worktree: string, home: string): Location {
  const written = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
  const [head, tail] = cutAtUnknown(isAbsolute(written) ? written : `${cwd}/${written}`);
  if (written.startsWith(UNKNOWN) || head === null || /(^|\/)\.\.(\/|$)/.test(tail)) {
    const shown = path.replaceAll(UNKNOWN, '…');
    return { shown, forms: [comparable(`/${shown}`)], real: null, isOutside: true, isUnknown: true };
  }
  const real = followLinks(head);
  const isOutside = !isBelow(real, worktree);
  const forms = [real, resolve(head)].map((full) => comparable(withTail(named(full, worktree), tail)));
  return {
    shown: withTail(named(real, worktree), tail.replaceAll(UNKNOWN, '…')),
    forms: [...new Set(forms)],
    real: tail === '' ? real : null,
    isOutside,
    isUnknown: false,
  };
}

/** The known folder, and the rest of the path below it. */
function cutAtUnknown(path: string): [head: string | null, tail: string] {
  const at = path.indexOf(UNKNOWN);
  if (at < 0) return [path, ''];
  const folder = path.slice(0, at).lastIndexOf('/');
  return folder < 0 ? [null, path] : [path.slice(0, folder) || '/', path.slice(folder + 1)];
}

const isBelow = (path: string, folder: string) =>
  path === folder || path.startsWith(folder === sep ? sep : folder + sep);
const named = (path: string, worktree: string) => (isBelow(path, worktree) ? relative(worktree, path) || '.' : path);
const withTail = (path: string, tail: string) => (tail === '' ? path : path === '.' ? tail : `${path}/${tail}`);

/**
 * Resolves a path as the kernel does, link by link, so that `link/../x` is next to the link's target. Works for files that
 * do not exist yet, and follows dangling links: writing through one creates the file it names.
 */
export function followLinks(path: string): string {
  let real: string = sep;
  const ahead = path.split('/');
  for (let links = 0; ahead.length > 0; ) {
    const name = ahead.shift() as string;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const target = linkTarget(next);
    if (target === null) {
      real = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw new Error(`too many links in ${path}`);
    if (isAbsolute(target)) real = sep;
    ahead.unshift(...target.split('/'));
  }
  return real;
}

function linkTarget(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return null;
    throw error;
  }
}

/** `*`, `**`, `?` and `{a,b}`; a trailing `/**` means the folder and everything in it. */
export function globPattern(glob: string): RegExp {
  const source = comparable(glob).replace(
    /\/\*\*$|\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[\\^$.+()[\]|{}]/g,
    (found, choices) => {
      if (found === '/**') return '(?:/.*)?';
      if (found === '**/') return '(?:.*/)?';
      if (found === '**') return '.*';
      if (found === '*') return '[^/]*';
      if (found === '?') return '[^/]';
      if (choices !== undefined) return `(?:${choices.split(',').map(escaped).join('|')})`;
      return `\\${found}`;
    },
  );
  return new RegExp(`^${source}$`, 's');
}

const escaped = (text: string) => text.replace(/[\\^$.+()[\]|{}]/g, '\\$&').replaceAll('*', '[^/]*');
