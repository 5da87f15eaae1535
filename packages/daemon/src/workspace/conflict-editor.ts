import { AppError } from '@tidemill/contract';
import type { ConflictEditor, WorktreeRef } from '../ports.ts';
import { hasBegun, openMerge, resolveInMerge, settleMerge } from './conflict.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';

type Work<T> = (place: RegisteredWorktree, notes: string[]) => Promise<T>;
interface Turns {
  at<T>(task: WorktreeRef, work: Work<T>): Promise<T>;
  /** Null when there is no worktree. */
  ifThere<T>(task: WorktreeRef, work: Work<T>): Promise<T | null>;
}

/** Only the first step may create a worktree. The others use the existing one. */
export function makeConflictEditor(context: GitContext, { at, ifThere }: Turns): ConflictEditor {
  return {
    openMerge: (task, mayTouch) =>
      at(task, async (place) => {
        await mayTouch();
        return openMerge(context, place);
      }),
    hasBegunMerge: async (task) => (await ifThere(task, (place) => hasBegun(context, place))) ?? false,
    resolveFile: async (task, path, resolution, mayTouch) => {
      const resolved = await ifThere(task, async (place) => {
        await mayTouch();
        return resolveInMerge(context, place, path, resolution);
      });
      return resolved ?? refuseWithoutWorktree(task);
    },
    settleMerge: async (task, settling, mayTouch, beforeCommit = async () => undefined) => {
      const settled = await ifThere(task, async (place, notes) => {
        await mayTouch();
        return settleMerge(context, place, { ...settling, notes, beforeCommit });
      });
      return settled ?? refuseWithoutWorktree(task);
    },
  };
}

function refuseWithoutWorktree({ number }: WorktreeRef): never {
  throw new AppError('conflict', `#${number} has no worktree, so no merge is in progress`, {
    hint: `Start it with \`tidemill conflicts show ${number}\`.`,
  });
}
