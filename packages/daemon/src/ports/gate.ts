import type { Receipt } from '@tidemill/contract';
import type { CheckCommand } from '@tidemill/core';
import type { ProcessControl } from './process-control.ts';

export interface GateReport {
  receipt: Receipt;
  /** The part of the output an agent needs to see to repair it. */
  excerpt: string;
  /** Files that the gate changed and may change: it is declared as one that repairs. */
  fixed: string[];
}

export interface GateRequest {
  /** The folder that shows `tree`. */
  path: string;
  tree: string;
  /** The files of the change. Null: there is no change, the tree itself is looked at. */
  files: string[] | null;
  /** Only these gates, and those that they need. */
  only?: string[];
  /** Gates that failed on this tree just before: their receipts say that it is the second time. */
  again?: string[];
  /**
   * Which files differ from the tree by now. Asked after each gate: one that changed something fails, unless it is declared as
   * one that repairs; then the run ends with it. Left out where nothing is to be proven.
   */
  changes?(): Promise<string[]>;
  signal: AbortSignal;
  control?: ProcessControl;
}

/** Runs a project's gates on a folder that shows a known tree. Output is kept under its hash. */
export interface Gates {
  readonly names: string[];
  /** What they run, as far as it tells which files decide what they check. */
  readonly checks: CheckCommand[];
  run(request: GateRequest): Promise<GateReport[]>;
}
