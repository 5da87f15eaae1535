import { createHash } from 'node:crypto';
import type { MergeLoss } from '@tidemill/contract';
import { type FoundLoss, mergeLosses } from '@tidemill/core';
import type { Merged } from '../git/output.ts';
import { branchTip, mergeOnPaper, treeOf } from './candidate.ts';
import type { GitContext, TaskPaths } from './git-context.ts';
import { keptSince, type Wanted } from './merge-loss-since.ts';
import { resolvedMerge } from './resolved-merge.ts';

/** A merge of the target into a task's branch. */
export interface TargetMerge {
  /** The task's commit before. */
  ours: string;
  /** The target's commit that was merged. */
  theirs: string;
}

/** Lines of one file that are named. The hash is over all of them. */
const MOST_LINES = 100;
const LONGEST_LINE = 300;

/** Implements `Workspace.mergeLosses`. Reads only git objects, no files of a worktree. */
export async function lossesOf(context: GitContext, place: TaskPaths): Promise<MergeLoss[]> {
  const [tip, target] = await Promise.all([branchTip(context, place), context.target()]);
  return context.losses(`${tip} ${target}`, async () => {
    const losses: Wanted[] = [];
    for (const { commit, ...merge } of await targetMerges(context, tip, target))
      losses.push(...(await lossesOfMerge(context, merge, commit, tip)));
    return described(await keptSince(context, target, losses));
  });
}

/**
 * What a merge lost and the branch still does not have. In the files that were in conflict, also what a later commit
 * removed: the resolution goes on until the work lands.
 */
async function lossesOfMerge(context: GitContext, merge: TargetMerge, commit: string, tip: string): Promise<Wanted[]> {
  const paper = await mergeOnPaper(context, merge.ours, merge.theirs);
  const atMerge = await lossesIn(context, merge, paper, commit);
  const conflicts = new Set(paper.conflicts);
  const [mergeTree, tipTree] = await Promise.all([treeOf(context, commit), treeOf(context, tip)]);
  const isOver = mergeTree === tipTree;
  if (isOver || (atMerge.length === 0 && conflicts.size === 0)) return wanted(merge, isOver ? atMerge : []);
  const now = await lossesIn(context, merge, paper, tip);
  const still = now.flatMap((loss): FoundLoss[] => {
    if (conflicts.has(loss.path)) return [loss];
    const before = atMerge.find(({ path, kind }) => path === loss.path && kind === loss.kind);
    if (!before || loss.lines.length === 0) return before ? [loss] : [];
    const known = new Set(before.lines.map(({ line }) => line));
    const lines = loss.lines.filter(({ line }) => known.has(line));
    return lines.length > 0 ? [{ ...loss, lines }] : [];
  });
  return wanted(merge, still);
}

const wanted = ({ theirs }: TargetMerge, losses: FoundLoss[]): Wanted[] => losses.map((loss) => ({ ...loss, theirs }));

/** What a merge in progress would lose if these files were committed. */
export async function lossesOfTree(context: GitContext, merge: TargetMerge, tree: string): Promise<MergeLoss[]> {
  const paper = await mergeOnPaper(context, merge.ours, merge.theirs);
  return described(await lossesIn(context, merge, paper, tree));
}

async function lossesIn(context: GitContext, merge: TargetMerge, paper: Merged, result: string): Promise<FoundLoss[]> {
  if (paper.conflicts.length === 0 && paper.tree === (await treeOf(context, result))) return [];
  return mergeLosses(await resolvedMerge(context, merge, paper, result));
}

/** Steps that are looked up without starting a git. */
const FIRST_STEPS = 16;

/** The merges on the branch that the target does not have, newest first. Most branches have none. */
async function targetMerges(
  context: GitContext,
  tip: string,
  target: string,
): Promise<(TargetMerge & { commit: string })[]> {
  const base = await context.mergeBase(tip, target);
  const names = Array.from({ length: FIRST_STEPS }, (_, i) => [
    `${tip}~${i}^{commit}`,
    `${tip}~${i}^2^{commit}`,
  ]).flat();
  const found = await context.resolver.resolve(names);
  for (let i = 0; i < FIRST_STEPS; i += 1) {
    if (found[2 * i] === base) return [];
    if (found[2 * i + 1]) break;
  }
  const options = ['--first-parent', '--parents', '--min-parents=2'];
  const { stdout } = await context.git(['rev-list', ...options, tip, `^${target}`, '--']);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', ours, theirs] = line.split(' ');
    return ours && theirs ? [{ commit, ours, theirs }] : [];
  });
}

function described(losses: FoundLoss[]): MergeLoss[] {
  return losses.map(({ path, kind, detail, lines }) => {
    const hash = createHash('sha256').update([path, kind, detail, ...lines.map(({ text }) => text)].join('\0'));
    const shown = lines.slice(0, MOST_LINES).map(({ line, text }) => ({ line, text: text.slice(0, LONGEST_LINE) }));
    return { path, kind, detail, lines: shown, lineCount: lines.length, content: hash.digest('hex') };
  });
}
