import type { ConflictFile, MergeLoss, Resolution } from '@tidemill/contract';
import type { Captured, WorktreeRef } from './workspace.ts';

/** The merge of the target in a task's worktree, for a person to resolve. */
export interface OpenMerge {
  path: string;
  /** The target has moved since the merge began. */
  isBehind: boolean;
  files: ConflictFile[];
  /** What the files as they are would drop of the target. Empty while something is unresolved. */
  losses: MergeLoss[];
}

export type SettledMerge =
  | ({ kind: 'settled'; losses: MergeLoss[] } & Captured)
  /** It drops something of the target that the person has not accepted. Nothing was committed. */
  | { kind: 'lossy'; losses: MergeLoss[] }
  /** Files that are not resolved. Nothing was committed. */
  | { kind: 'left'; left: { path: string; why: string }[] };

/**
 * For resolving conflicts by a person. `mayTouch` is called under the task's lock before any write. It throws if the
 * task no longer waits for a person.
 */
export interface ConflictEditor {
  /** Begins the merge of the newest target, unless a merge is in progress. */
  openMerge(task: WorktreeRef, mayTouch: () => Promise<void>): Promise<OpenMerge>;
  /** Returns whether a file has been resolved. Reads only. */
  hasBegunMerge(task: WorktreeRef): Promise<boolean>;
  /** Accepts only a path that git lists as unmerged, or did before it was resolved. */
  resolveFile(
    task: WorktreeRef,
    path: string,
    resolution: Resolution,
    mayTouch: () => Promise<void>,
  ): Promise<ConflictFile>;
  /**
   * Commits the merge to the task's branch when nothing is left to resolve, and every loss is accepted. `beforeCommit` is
   * called once that is certain. A call after a crash finds the commit or creates it.
   */
  settleMerge(
    task: WorktreeRef,
    settling: { message: string; isAccepted(loss: MergeLoss): boolean },
    mayTouch: () => Promise<void>,
    beforeCommit?: () => Promise<void>,
  ): Promise<SettledMerge>;
}
