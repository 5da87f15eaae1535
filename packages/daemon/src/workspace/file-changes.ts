import { evenCap } from '@tidemill/core';
import type { Git } from '../git/program.ts';
import type { Change, FileChange } from '../ports.ts';
import { cutSection, isBinarySection, linesIn, nameBinary, sectionsIn, visible } from './diff-section.ts';

/**
 * Nothing that a repository configures is run for it. Everything is compared as text, since attributes (`-diff`,
 * `binary`) are files of the repository like any other and would hide a change; what is no text is told by its content.
 */
const OPTIONS = [
  '--text',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--find-renames',
  '--submodule=short',
  '--ignore-submodules=dirty',
];
/** Larger files are only named: git would need them in memory twice. */
const HUGE_BYTES = 100_000_000;
/** A file that is shown at all is shown with at least this much. */
const LEAST_SHOWN = 2_000;
/** Files that are too long to be shown whole are read one by one, so that git can be stopped within each. */
const MOST_SINGLE_READS = 50;
/** Arguments of one command have a limit. */
const PATHS_PER_READ = 500;

export interface ChangeLimits {
  maxBytes: number;
  signal?: AbortSignal;
}

interface Entry extends FileChange {
  oldOid: string;
  newOid: string;
}

/**
 * A change file by file. Every changed file is named with its size, whatever the limit; each text has its share of the
 * limit, so that a long file cannot push another one out of sight.
 */
export async function readChange(
  git: Git,
  revisions: string[],
  limits: ChangeLimits,
  /** Of a file that is compared as it lies in the worktree. */
  sizeOf: (path: string) => Promise<number> = async () => 0,
): Promise<Change> {
  const ask = (args: string[], more = {}) => git(args, { ...more, ...(limits.signal && { signal: limits.signal }) });
  const entries = rawEntries(
    (await ask(['diff', '--raw', '-z', '--no-abbrev', ...OPTIONS, ...revisions, '--'])).stdout,
  );
  if (entries.length === 0) return { files: [], sections: [], isCut: false };
  await measure(entries, ask, sizeOf);
  const readable = entries.filter(({ bytes }) => bytes <= HUGE_BYTES);
  const read = (what: string[], paths: Entry[], maxBytes?: number) =>
    ask(
      ['--literal-pathspecs', 'diff', ...what, ...OPTIONS, ...revisions, '--', ...pathsOf(paths, entries)],
      maxBytes === undefined ? {} : { maxBytes },
    );
  for (const some of chunks(readable, entries)) countLines(entries, (await read(['--numstat', '-z'], some)).stdout);
  const files = () => entries.map(({ oldOid: _old, newOid: _new, ...file }) => file);
  if (limits.maxBytes === 0) return { files: files(), sections: [], isCut: true };
  const share = Math.max(LEAST_SHOWN, evenCap(readable.map(roomOf), limits.maxBytes));
  const short = readable.filter((entry) => roomOf(entry) <= share);
  const long = readable.filter((entry) => roomOf(entry) > share).slice(0, MOST_SINGLE_READS);
  const shown: { at: number; text: string }[] = [];
  let left = limits.maxBytes;
  let isCut = short.length + long.length < entries.length;
  const add = (section: string, entry: Entry | undefined, isWhole: boolean) => {
    const isBinary = isBinarySection(section);
    if (isBinary && entry) entry.isBinary = true;
    // git itself does not count the lines of what it takes for binary, and neither what attributes call so.
    else if (entry && entry.added === null && isWhole) Object.assign(entry, linesIn(section));
    const text = isBinary ? nameBinary(section) : visible(section);
    const cut = cutSection(text, Math.min(left, share), isBinary || isWhole);
    isCut ||= cut.isCut;
    left -= Buffer.byteLength(cut.text);
    // One whose name git has quoted comes after the one before it.
    if (cut.text !== '') shown.push({ at: entry ? entries.indexOf(entry) : (shown.at(-1)?.at ?? 0), text: cut.text });
  };
  for (const some of chunks(short, entries)) {
    const most = some.reduce((sum, entry) => sum + roomOf(entry), 0);
    const { stdout, truncated } = await read([], some, 2 * most);
    isCut ||= truncated;
    for (const section of sectionsIn(stdout)) add(section, entryOf(section, some), true);
  }
  for (const entry of long) {
    if (left <= 0) isCut = true;
    else {
      const { stdout, truncated } = await read([], [entry], Math.min(share, left) + 1);
      for (const section of sectionsIn(stdout)) add(section, entry, !truncated);
    }
  }
  const sections = shown.sort((a, b) => a.at - b.at).map(({ text }) => text);
  return { files: files(), sections, isCut };
}

/** What a file's part of the diff may come to at most, roughly. */
const roomOf = ({ bytes, path, from }: Entry) =>
  2 * bytes + Math.floor(bytes / 10) + 300 + 4 * Buffer.byteLength(path + (from ?? ''));

/** `:mode mode oid oid S NUL path NUL`, and both names of what was renamed. */
function rawEntries(text: string): Entry[] {
  const parts = text.split('\0');
  const entries: Entry[] = [];
  for (let at = 0; at + 1 < parts.length; ) {
    const [, , oldOid = '', newOid = '', status = ''] = parts[at]!.replace(/^:/, '').split(' ');
    const isMoved = /^[RC]/.test(status);
    const from = isMoved ? parts[at + 1]! : null;
    const path = parts[at + (isMoved ? 2 : 1)] ?? '';
    at += isMoved ? 3 : 2;
    entries.push({ path, from, added: null, removed: null, bytes: 0, isBinary: false, oldOid, newOid });
  }
  return entries;
}

async function measure(
  entries: Entry[],
  ask: (args: string[], more: { input: string }) => Promise<{ stdout: string }>,
  sizeOf: (path: string) => Promise<number>,
): Promise<void> {
  const isKnown = (oid: string) => !/^0+$/.test(oid);
  const oids = [...new Set(entries.flatMap(({ oldOid, newOid }) => [oldOid, newOid]).filter(isKnown))];
  const { stdout } = await ask(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: oids.map((oid) => `${oid}\n`).join(''),
  });
  const sizes = new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
  const known = (oid: string) => Number(sizes.get(oid) ?? 0) || 0;
  for (const entry of entries) {
    const now = isKnown(entry.newOid) ? known(entry.newOid) : await sizeOf(entry.path);
    entry.bytes = Math.max(known(entry.oldOid), now);
  }
}

/** `added TAB removed TAB path NUL`; a renamed file has both names after an empty one. */
function countLines(entries: Entry[], text: string): void {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const parts = text.split('\0');
  for (let at = 0; at < parts.length; at += 1) {
    const [added, removed, name] = parts[at]!.split('\t');
    if (removed === undefined) continue;
    const entry = byPath.get(name === '' ? (parts[at + 2] ?? '') : (name ?? ''));
    if (name === '') at += 2;
    if (!entry || added === '-') continue;
    [entry.added, entry.removed] = [Number(added), Number(removed)];
  }
}

/** Without names where all are meant: names that are no UTF-8 could not be given back to git. */
const pathsOf = (some: Entry[], all: Entry[]) =>
  some.length === all.length ? [] : some.flatMap(({ path, from }) => (from === null ? [path] : [from, path]));

function chunks(some: Entry[], all: Entry[]): Entry[][] {
  if (some.length === 0) return [];
  if (some.length === all.length) return [some];
  return Array.from({ length: Math.ceil(some.length / PATHS_PER_READ) }, (_, index) =>
    some.slice(index * PATHS_PER_READ, (index + 1) * PATHS_PER_READ),
  );
}

const entryOf = (section: string, entries: Entry[]) => {
  const head = section.slice(0, section.indexOf('\n'));
  return entries.find(({ path }) => head.endsWith(` b/${path}`));
};
