import { type ChangedFile, type FileFact, isLookedInto, LARGEST_LOOKED_INTO } from '@tidemill/core';
import type { Workspace } from '../ports.ts';
import { branchTip } from './candidate.ts';
import { changesBetween } from './capture.ts';
import type { GitContext, TaskPaths } from './git-context.ts';

/** Limit of the total size that is read. */
const MOST_BYTES = 8_000_000;
const GITLINK = '160000';

/** Implements `Workspace.changedFiles`. Reads only git objects, no files of a worktree. */
export async function changedFiles(
  context: GitContext,
  place: TaskPaths | null,
  { trees, alsoBefore }: Parameters<Workspace['changedFiles']>[1],
): ReturnType<Workspace['changedFiles']> {
  const { base, tree } = trees ?? (await ownTrees(context, place!));
  const [changes, others] = await Promise.all([
    changesBetween(context, base, tree),
    context.resolver.resolve(alsoBefore.map((path) => `${base}:${path}`)),
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
    context,
    wanted.filter((oid): oid is string => oid !== null && !isNothing(oid)),
    LARGEST_LOOKED_INTO,
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

async function ownTrees(context: GitContext, place: TaskPaths): Promise<{ base: string; tree: string }> {
  const [tip, target] = await Promise.all([branchTip(context, place), context.target()]);
  return { base: await context.mergeBase(tip, target), tree: tip };
}

export const isNothing = (oid: string) => /^0+$/.test(oid);

interface Largest {
  bytes: number;
  lines: number;
}

/** The text of each of these blobs that is text and not too long. A large file, such as a picture, hides no other. */
export async function textsOf(context: GitContext, oids: string[], largest: Largest): Promise<Map<string, string>> {
  const contents = await context.blobs.read(oids, { largest: largest.bytes, total: MOST_BYTES });
  const texts = new Map<string, string>();
  for (const [oid, content] of contents) addText(texts, oid, content, largest);
  return texts;
}

/** The same with one git of its own; null when they are too large for that. */
export async function allTexts(
  context: GitContext,
  oids: string[],
  largest: Largest,
): Promise<Map<string, string> | null> {
  if (oids.length === 0) return new Map();
  const input = oids.map((oid) => `${oid}\n`).join('');
  const { bytes, truncated } = await context.git(['cat-file', '--batch', '--buffer'], { input, maxBytes: MOST_BYTES });
  return truncated ? null : textsIn(bytes, largest);
}

/** `OID TYPE SIZE\n`, the content, and a line break, for each object. */
function textsIn(bytes: Buffer, largest: Largest): Map<string, string> {
  const texts = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end < 0) break;
    const [oid = '', type, length] = bytes.toString('latin1', at, end).split(' ');
    const size = Number(length ?? 0);
    // One that is missing has no content; the last one may be cut.
    const content = type === 'missing' ? null : bytes.subarray(end + 1, end + 1 + size);
    at = content === null ? end + 1 : end + 2 + size;
    const isWhole = content !== null && content.length === size && size <= largest.bytes;
    if (isWhole && type === 'blob') addText(texts, oid, content, largest);
  }
  return texts;
}

function addText(texts: Map<string, string>, oid: string, content: Buffer, largest: Largest): void {
  if (content.includes(0)) return;
  const text = content.toString();
  if (text.split('\n', largest.lines + 1).length <= largest.lines) texts.set(oid, text);
}
