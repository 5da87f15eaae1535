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

/** The indented file names git lists under a refusal to overwrite something. */
export const listedFiles = (stderr: string): string[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('\t'))
    .map((line) => line.slice(1));
