import { type FoundLoss, type LineIndex, lineIndex } from '@tidemill/core';
import type { GitContext } from './git-context.ts';
import { changesWithRenames } from './resolved-merge.ts';
import { textsOf } from './tree-changes.ts';

/** A loss, and the target's commit that was merged. */
export interface Wanted extends FoundLoss {
  theirs: string;
}

const LARGEST = { bytes: 2_000_000, lines: 50_000 };

/** Without what the target itself has removed since the merge. */
export async function keptSince(context: GitContext, target: string, losses: Wanted[]): Promise<FoundLoss[]> {
  const kept: FoundLoss[] = [];
  for (const theirs of new Set(losses.map((loss) => loss.theirs))) {
    const those = losses.filter((loss) => loss.theirs === theirs);
    kept.push(...(theirs === target ? those : await stillThere(context, theirs, target, those)));
  }
  return kept.map(({ path, kind, detail, lines }) => ({ path, kind, detail, lines }));
}

async function stillThere(
  context: GitContext,
  theirs: string,
  target: string,
  losses: FoundLoss[],
): Promise<FoundLoss[]> {
  const [changes = []] = await changesWithRenames(context, [[theirs, target]]);
  const changed = new Map(changes.filter(({ status }) => status !== 'A').map((change) => [change.from, change]));
  const added = new Set(changes.filter(({ status }) => status === 'A').map(({ path }) => path));
  const texts = await textsOf(
    context,
    losses
      .flatMap(({ path }) => (changed.get(path)?.status === 'D' ? [] : [changed.get(path)?.newOid ?? '']))
      .filter(Boolean),
    LARGEST,
  );
  return losses.flatMap((loss): FoundLoss[] => {
    const change = changed.get(loss.path);
    if (loss.kind === 'deleted_file') return added.has(loss.path) ? [] : [loss];
    if (!change) return [loss];
    if (change.status === 'D') return loss.kind === 'deleted_lines' ? [loss] : [];
    const text = texts.get(change.newOid);
    if (text === undefined || loss.lines.length === 0) return [loss];
    const lines = linesLeft(loss, lineIndex(text));
    return lines.length > 0 ? [{ ...loss, lines }] : [];
  });
}

/** Lines that the target has, or, for deleted ones, does not have. */
const linesLeft = ({ kind, lines }: FoundLoss, index: LineIndex) =>
  lines.filter(({ text }) => index.has(text) !== (kind === 'deleted_lines'));
