import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { globPattern } from './location.ts';
import { UNKNOWN } from './shell-expansion.ts';

/** A search through everything in some folders. */
export interface Sweep {
  folders: string[];
  cwd: string;
  /** Globs: only these files, without those. A glob without a slash matches the file's name. */
  only?: string[];
  except?: string[];
  skipsHidden?: boolean;
  /** It skips what git ignores. */
  skipsIgnored?: boolean;
}

const MOST_ENTRIES = 5_000;
const SKIPPED = new Set(['node_modules', '.git', 'vendor', 'target', '.venv']);
/** A cheap filter, so that not every source file is checked: guards are only about such names. */
const NOTABLE = /^\.|^id_|\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc)$|credential|secret|service.account/i;

/** The files it would read whose names suggest that they are private. */
export function sweptFiles({ folders, cwd, only = [], except = [], skipsHidden, skipsIgnored }: Sweep): string[] {
  if (cwd.includes(UNKNOWN)) return [];
  return folders
    .filter((folder) => !folder.includes(UNKNOWN))
    .flatMap((folder) => {
      const top = resolve(cwd, folder);
      return notableFilesBelow(top, skipsHidden ?? false)
        .filter((file) => only.length === 0 || only.some((glob) => fits(glob, file, top, true)))
        .filter((file) => !except.some((glob) => fits(glob, file, top, false)));
    })
    .filter((file) => !skipsIgnored || !isIgnored(file));
}

/** A glob that cannot be parsed here gets the safer meaning. */
function fits(glob: string, file: string, top: string, ifUnclear: boolean): boolean {
  if (/[[\\(|]/.test(glob) || glob.includes(UNKNOWN)) return ifUnclear;
  const plain = glob.replace(/^(\.?\/)+/, '').replace(/^\*\*\/(?=[^/]*$)/, '');
  const subject = plain.includes('/') ? relative(top, file) : basename(file);
  return globPattern(plain).test(subject.normalize('NFKC').toLowerCase());
}

function notableFilesBelow(top: string, skipsHidden: boolean): string[] {
  const found: string[] = [];
  const ahead = [top];
  let seen = 0;
  for (let at = ahead.shift(); at !== undefined && seen < MOST_ENTRIES; at = ahead.shift()) {
    for (const entry of entriesIn(at)) {
      seen += 1;
      if (skipsHidden && entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) ahead.push(join(at, entry.name));
      } else if (NOTABLE.test(entry.name)) found.push(join(at, entry.name));
    }
  }
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // a file, or missing: nothing in it
  }
}

/** By the plain lines of `.gitignore`, up to the top of the checkout; if unsure, it counts as not ignored. */
function isIgnored(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const rules = linesOf(join(folder, '.gitignore')).reverse();
    const rule = rules.find((line) => isMeant(line.replace(/^!/, ''), relative(folder, file)));
    if (rule !== undefined) return !rule.startsWith('!');
    if (existsSync(join(folder, '.git')) || folder === dirname(folder)) return false;
  }
}

function isMeant(line: string, path: string): boolean {
  const rule = line.replace(/\/$/, '');
  if (rule === '' || rule.startsWith('#')) return false;
  const glob = globPattern(rule.replace(/^\//, ''));
  const names = path.toLowerCase().split('/');
  if (!rule.includes('/')) return names.some((name) => glob.test(name));
  return names.some((_, index) => glob.test(names.slice(0, index + 1).join('/')));
}

function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim());
}
