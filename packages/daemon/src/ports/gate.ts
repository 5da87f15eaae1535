import type { Receipt } from '@tidemill/contract';
import type { Reins } from './reins.ts';
import type { Worktree } from './workspace.ts';

export interface GateReport {
  receipt: Receipt;
  /** The part of the output an agent needs to see to repair it. */
  excerpt: string;
}

/** Runs a project's gates on a worktree that shows `tree`. Output is kept under its hash. */
export interface Gates {
  readonly names: string[];
  run(worktree: Worktree, tree: string, files: string[], signal: AbortSignal, reins?: Reins): Promise<GateReport[]>;
}
