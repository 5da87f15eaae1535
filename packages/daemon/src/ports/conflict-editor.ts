import type { ConflictFile, Resolution } from '@tidemill/contract';
import type { Captured, WorktreeRef } from './workspace.ts';

/** The merge of the target in a task's worktree, as a person finds it. */
export interface OpenMerge {
  path: string;
  /** The target has moved on since it began. */
  isBehind: boolean;
  files: ConflictFile[];
}

export type SettledMerge =
  | ({ kind: 'settled' } & Captured)
  /** What is not resolved yet; nothing was committed. */
  | { kind: 'left'; left: { path: string; why: string }[] };

/**
 * Where a person resolves a conflict. `mayTouch` is asked in the task's turn, before anything is written: it throws once the
 * task is no longer a person's.
 */
export interface ConflictEditor {
  /** Begins the merge of the newest target, unless one is under way; that one is not disturbed. */
  openMerge(task: WorktreeRef, mayTouch: () => Promise<void>): Promise<OpenMerge>;
  /** Has a file of it been resolved? Looks only. */
  hasBegunMerge(task: WorktreeRef): Promise<boolean>;
  /** Only a path that git itself calls unmerged, or did before it was resolved. */
  resolveFile(
    task: WorktreeRef,
    path: string,
    resolution: Resolution,
    mayTouch: () => Promise<void>,
  ): Promise<ConflictFile>;
  /**
   * Commits the merge onto the task's branch when nothing is left to resolve. `beforeCommit` is called once that is
   * certain. Called again after a crash it finds the commit, or makes it.
   */
  settleMerge(
    task: WorktreeRef,
    message: string,
    mayTouch: () => Promise<void>,
    beforeCommit?: () => Promise<void>,
  ): Promise<SettledMerge>;
}
