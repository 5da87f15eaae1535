import type { ProcessControl } from './process-control.ts';
import type { CleanCheckout, Worktree } from './workspace.ts';

/** What became of preparing a folder. */
export type Prepared =
  | { kind: 'ready' }
  | {
      kind: 'failed';
      /** What the step said, and what would help. */
      text: string;
      /** The files that decide are those of the target, or the network failed: no change is to blame. */
      isEnvironment: boolean;
    };

export interface PreparationRequest {
  /** The target's commit that a checkout's work stands on. */
  base?: string;
  signal: AbortSignal;
  control?: ProcessControl;
}

/** Gives a folder what git does not track and its commands need: the project's `prepare` steps and `include` files. */
export interface Preparation {
  /** Before an agent works there. Done again only when the files that decide have changed. */
  worktree(worktree: Worktree, request: PreparationRequest): Promise<Prepared>;
  /** Before gates run there. What an earlier gate changed in it is put right. */
  checkout(checkout: CleanCheckout, request: PreparationRequest): Promise<Prepared>;
  /** Resolves when nothing is made ahead of need. */
  settled(): Promise<void>;
}
