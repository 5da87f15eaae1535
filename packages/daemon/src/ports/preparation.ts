import type { CheckCommand } from '@tidemill/core';
import type { CommandWatch, ProcessControl } from './process-control.ts';
import type { CleanCheckout, Worktree } from './workspace.ts';

/** The result of preparing a folder. */
export type Prepared =
  | { kind: 'ready' }
  | {
      kind: 'failed';
      /** The output of the step and a hint. */
      text: string;
      /** The input files are those of the target, or the network failed, so the change is not the cause. */
      isEnvironment: boolean;
    };

export interface PreparationRequest {
  /** The target's commit that the work is based on. */
  base?: string;
  /** The number of the task whose work it is. */
  taskNumber?: number;
  signal: AbortSignal;
  control?: ProcessControl;
  watch?: CommandWatch;
}

export interface RunningStep {
  step: string;
  since: number;
}

/** Adds untracked files that the commands need to a folder: the project's `prepare` steps and `include` files. */
export interface Preparation {
  /** Called before an agent works there. Repeated only when the input files have changed. */
  worktree(worktree: Worktree, request: PreparationRequest): Promise<Prepared>;
  /** Called before gates run there. Reverts changes of earlier gates to prepared files. */
  checkout(checkout: CleanCheckout, request: PreparationRequest): Promise<Prepared>;
  /** The commands of the steps: their scripts decide what gates see. */
  readonly checks: readonly CheckCommand[];
  /** Files that the steps were seen to read, besides those that say what is installed. */
  reads(): Promise<ReadonlySet<string>>;
  /** The steps that run now, and when each began. */
  readonly running: readonly RunningStep[];
  /** Removes what was made from the work of tasks that are not alive. */
  tidy(isAlive: (task: number) => boolean): Promise<void>;
  /** Resolves when no copy is being made in advance. */
  settled(): Promise<void>;
}
