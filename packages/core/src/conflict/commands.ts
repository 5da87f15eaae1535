import type { Actor, FileResolution, MergeLoss } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { steeredTask } from '../task-lookup.ts';
import { abortConflict, beginSettle, resolveFile, retryConflict, settleConflict } from './conflict.ts';

/** Commands of a person. They record what is in the worktree and decide where the task goes. */
export interface ConflictCommands {
  'conflict.resolve_file': { taskId: string; path: string; how: FileResolution; by: Actor };
  /** `accepts`: the losses that the person accepts, by `content`. */
  'conflict.begin_settle': { taskId: string; by: Actor; accepts?: string[] };
  'conflict.settle': { taskId: string; by: Actor; accepts?: MergeLoss[] } & {
    commit: string;
    tree: string;
    notes: string[];
  };
  'conflict.abort': { taskId: string; by: Actor; snapshot: string | null };
  /** From the engine, while nothing else is about to land. */
  'conflict.retry': { taskId: string };
}

export const conflictCommands: CommandParts<keyof ConflictCommands> = {
  'conflict.resolve_file': { scope: ({ taskId }) => [look('task', taskId)], decide: resolveFile },
  'conflict.begin_settle': { scope: ({ taskId }) => [look('task', taskId)], decide: beginSettle },
  'conflict.settle': { scope: steeredTask, decide: settleConflict },
  'conflict.abort': { scope: steeredTask, decide: abortConflict },
  'conflict.retry': { scope: steeredTask, decide: retryConflict },
};
