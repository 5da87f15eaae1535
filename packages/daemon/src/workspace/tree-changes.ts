import { type ChangedFile, type FileFact, isLookedInto, LARGEST_LOOKED_INTO } from '@tidemill/core';
import type { Workspace } from '../ports.ts';
import { branchTip } from './candidate.ts';
import { changesBetween } from './capture.ts';
import type { Place, Site } from './site.ts';

/** Limit of the total size that is read. */
const MOST_BYTES = 8_000_000;
const GITLINK = '160000';

/** Implements `Workspace.changedFiles`. Reads only git objects, no files of a worktree. */
export async function changedFiles(
  site: Site,
  place: Place,
  { trees, alsoBefore }: Parameters<Workspace['changedFiles']>[1],
): ReturnType<Workspace['changedFiles']> {
  const { base, tree } = trees ?? (await ownTrees(site, place));
  const [changes, others] = await Promise.all([
    changesBetween(site, base, tree),
    site.resolver.resolve(alsoBefore.map((path) => `${base}:${path}`)),
  ]);
  const wanted = [
    ...others,
    ...changes
      .filter(({ path }) => isLookedInto(path))
      .flatMap(({ oldMode, newMode, oldOid, newOid }) => [
        oldMode === GITLINK ? null : oldOid,
        newMode === GITLINK ? null : newOid,
      ]),
  ];
  const texts = await textsOf(
    site,
    wanted.filter((oid): oid is string => oid !== null && !isNothing(oid)),
  );
  const fact = (oid: string, mode: string): FileFact | null =>
    isNothing(oid) ? null : { oid, mode, text: texts.get(oid) ?? null };
  const changed = changes.map(
    ({ path, oldOid, oldMode, newOid, newMode }): ChangedFile => ({
      path,
      before: fact(oldOid, oldMode),
      after: fact(newOid, newMode),
    }),
  );
  const before = alsoBefore.flatMap((path, index): [string, string][] => {
    const text = texts.get(others[index] ?? '');
    return text === undefined ? [] : [[path, text]];
  });
  return { changed, before: new Map(before) };
}

async function ownTrees(site: Site, place: Place): Promise<{ base: string; tree: string }> {
  const [tip, target] = await Promise.all([branchTip(site, place), site.target()]);
  return { base: await site.mergeBase(tip, target), tree: tip };
}

const isNothing = (oid: string) => /^0+$/.test(oid);

/** The text of each of these blobs that is text and not too long. */
async function textsOf(site: Site, oids: string[]): Promise<Map<string, string>> {
  const asked = [...new Set(oids)];
  if (asked.length === 0) return new Map();
  const all = await contentsOf(site, asked);
  if (!all.truncated) return textsIn(all.bytes);
  // A large file among them, such as a picture, must not hide the others.
  const { stdout } = await site.git(['cat-file', '--batch-check', '--buffer'], { input: lines(asked) });
  const short = stdout.split('\n').flatMap((line) => {
    const [oid = '', , size] = line.split(' ');
    return Number(size) <= LARGEST_LOOKED_INTO.bytes ? [oid] : [];
  });
  return textsIn((await contentsOf(site, short)).bytes);
}

const lines = (oids: string[]) => oids.map((oid) => `${oid}\n`).join('');

const contentsOf = (site: Site, oids: string[]) =>
  site.git(['cat-file', '--batch', '--buffer'], { input: lines(oids), maxBytes: MOST_BYTES });

/** `OID TYPE SIZE\n`, the content, and a line break, for each object. */
function textsIn(bytes: Buffer): Map<string, string> {
  const texts = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end < 0) break;
    const [oid = '', type, length] = bytes.toString('latin1', at, end).split(' ');
    const size = Number(length ?? 0);
    // One that is missing has no content; the last one may be cut.
    const content = type === 'missing' ? null : bytes.subarray(end + 1, end + 1 + size);
    at = content === null ? end + 1 : end + 2 + size;
    const isWhole = content !== null && content.length === size && size <= LARGEST_LOOKED_INTO.bytes;
    if (!isWhole || type !== 'blob' || content.includes(0)) continue;
    const text = content.toString();
    if (text.split('\n', LARGEST_LOOKED_INTO.lines + 1).length <= LARGEST_LOOKED_INTO.lines) texts.set(oid, text);
  }
  return texts;
}
