/** Readers of git's machine formats. Paths are always NUL-separated: they may hold spaces, quotes and newlines. */

export const nulList = (text: string): string[] => text.split('\0').filter((part) => part !== '');

export interface RawChange {
  path: string;
  status: string;
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
}

const GITLINK = '160000';
export const isGitlink = (change: RawChange): boolean => change.oldMode === GITLINK || change.newMode === GITLINK;

/** `diff-tree -r -z --raw --no-renames`: `:mode mode oid oid S NUL path NUL`. */
export function rawChanges(text: string): RawChange[] {
  const parts = nulList(text);
  const changes: RawChange[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = parts[i]!.replace(/^:/, '').split(' ');
    changes.push({ path: parts[i + 1]!, status, oldMode, newMode, oldOid, newOid });
  }
  return changes;
}

/** The same with `-M`: a renamed file is one change with two paths. */
export interface RenamedChange extends RawChange {
  /** The path before; equal to `path` unless the file was renamed. */
  from: string;
}

/** `diff-tree --stdin -r -z --raw -M`: for each pair of trees a line with their names, then its changes. */
export function changesOfPairs(text: string): RenamedChange[][] {
  const parts = text.split('\0');
  const pairs: RenamedChange[][] = [];
  for (let i = 0; i < parts.length; ) {
    const lines = parts[i]!.split('\n');
    for (let heads = lines.length - 1; heads > 0; heads -= 1) pairs.push([]);
    const fields = lines.at(-1)!;
    if (!fields.startsWith(':')) break;
    const isTwo = /[RC]\d*$/.test(fields);
    const [change] = rawChanges(`${fields}\0${parts[i + (isTwo ? 2 : 1)]}\0`);
    if (change) pairs.at(-1)?.push({ ...change, from: parts[i + 1]! });
    i += isTwo ? 3 : 2;
  }
  return pairs;
}

export interface StatusEntry {
  /** Two letters, staged and unstaged: ` M`, `A `, `??`. */
  code: string;
  path: string;
}

/** `status --porcelain=v1 -z`; a rename's second name follows as its own field. */
export function statusEntries(text: string): StatusEntry[] {
  const parts = nulList(text);
  const entries: StatusEntry[] = [];
  for (let i = 0; i < parts.length; i++) {
    const code = parts[i]!.slice(0, 2);
    entries.push({ code, path: parts[i]!.slice(3) });
    if (/[RC]/.test(code)) entries.push({ code: 'D ', path: parts[++i] ?? '' });
  }
  return entries;
}

export interface Merged {
  tree: string;
  /** Index entries of the conflicting files, as `update-index --index-info` takes them, one character per byte. */
  stages: string[];
  conflicts: string[];
}

/** `merge-tree --write-tree -z`: the tree, then `mode oid stage TAB path` up to an empty field, then messages. */
export function mergeTreeOutput(bytes: Buffer): Merged {
  const [tree = '', ...rest] = bytes.toString('latin1').split('\0');
  const end = rest.indexOf('');
  const stages = end < 0 ? rest : rest.slice(0, end);
  const names = stages.map((stage) => Buffer.from(stage.slice(stage.indexOf('\t') + 1), 'latin1').toString());
  return { tree: tree.trim(), stages, conflicts: [...new Set(names)] };
}

/**
 * `merge-tree --stdin --name-only --no-messages`: for each merge `1` (clean) or `0`, the tree, the names of conflicting
 * files, an empty field. Returns the names of each merge; null when it is clean.
 */
export function mergeListOutput(text: string): (string[] | null)[] {
  const fields = text.split('\0');
  const merges: (string[] | null)[] = [];
  for (let at = 0; at + 2 < fields.length; ) {
    const end = fields.indexOf('', at + 2);
    if (end < 0) break;
    merges.push(fields[at] === '1' ? null : fields.slice(at + 2, end));
    at = end + 1;
  }
  return merges;
}

/** The indented file names git lists under a refusal to overwrite something. */
export const listedFiles = (stderr: string): string[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('\t'))
    .map((line) => line.slice(1));
