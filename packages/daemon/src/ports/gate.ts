import type { GateCounts, Receipt } from '@tidemill/contract';
import type { CheckCommand, GateReads, TaskGate } from '@tidemill/core';
import type { CommandWatch, ProcessControl } from './process-control.ts';

/** What a command looked at below its folder, by paths relative to it. */
export interface FolderReads {
  /** Opened or executed. */
  files: string[];
  /** Listed; the folder itself is ''. */
  folders: string[];
  /** Looked for in vain. */
  missing: string[];
  /** Looked at without opening. */
  seen: string[];
}

export interface GateReport {
  receipt: Receipt;
  /** The part of the output that an agent needs for the fix. */
  excerpt: string;
  /** What a notice quotes of it, if that is less. */
  quote?: string;
  /** Files that the gate changed, if it is declared as one that fixes files. */
  fixed: string[];
  /** What identifies all findings of a scan, so that those of two trees can be compared. */
  findingKeys?: string[];
  /** What it looked at. Null: it was not observed. */
  reads?: FolderReads | null;
}

export interface GateRequest {
  /** The folder with the files of `tree`. */
  path: string;
  tree: string;
  /** The commit with this tree, where there is one. */
  commit?: string;
  /** Why the commit must not be pushed to ask CI about it. Absent: it may. */
  held?: string;
  /** The files of the change. Null: there is no change, the whole tree is checked. */
  files: string[] | null;
  /** The target has the change already, and people may have made it. */
  isLanded?: boolean;
  /** Only these gates and the gates that they need. */
  only?: string[];
  /** The gates of the tasks whose work it is. They run after the project's. */
  own?: readonly TaskGate[];
  /** Gates that just failed on this tree. Their receipts get attempt 2. */
  again?: string[];
  /**
   * Returns the files that differ from the tree. Called after each gate: a gate that changed files fails, unless it is
   * declared as one that fixes files. Then the run ends after it. Absent where nothing is to be proven.
   */
  changes?(): Promise<string[]>;
  /** Restores the files of the tree after a gate changed some, so that the next gate is not blamed for it. */
  reset?(): Promise<void>;
  /** The findings of a gate on the target. Null: it could not run there. Absent: there is nothing to compare with. */
  known?(gate: string): Promise<string[] | null>;
  /** How many tests a gate ran on the target. Null: unknown. Absent: there is nothing to compare with. */
  counted?(gate: string): Promise<GateCounts | null>;
  /** No gate ran a test on the target, and nobody said that there are none. Absent: it does not matter. */
  untested?(): Promise<boolean>;
  /** The text of files on the target. */
  before?(files: string[]): Promise<Map<string, string>>;
  /** Observe everything that the gates look at, although it takes longer. Otherwise only reads of the changed files. */
  observe?: boolean;
  /** Which summary of tests counts. `highest`: the one with the most passes, in case work forges a later one. Default: `last`. */
  figures?: 'last' | 'highest';
  /** As on a person's machine: without `CI=1`. */
  isElsewhere?: boolean;
  /** At another path than that of a proof, where a sandbox can show one. */
  isMoved?: boolean;
  /** Leaves out gates with a longer time limit than this, gates that only look for something, and gates that need them. */
  maxMs?: number;
  signal: AbortSignal;
  control?: ProcessControl;
  watch?: CommandWatch;
}

/** What a person or an agent can run to see what a gate says. */
export interface ProvingCommand extends CheckCommand {
  /** Its time limit in milliseconds. */
  timeout: number;
}

/** Runs a project's gates on a folder with a known tree. Output is stored under its hash. */
export interface Gates {
  /** Those that must pass. */
  readonly names: string[];
  /** Those that are asked about a change only, never about the target. */
  readonly ofChange?: string[];
  /** Those for which it is checked that they still notice faults (`engine/tripwire`). Absent: none. */
  readonly tripwired?: string[];
  /** Those whose test figures are compared with the target's. */
  readonly counted?: string[];
  /** Their commands: for builders, and to find the files that control what they check. */
  readonly checks: ProvingCommand[];
  run(request: GateRequest): Promise<GateReport[]>;
  /** What they were seen to read, on the target and in proofs. Absent where nothing is observed. */
  reads?(): Promise<GateReads[]>;
  /** Gates whose reads on the target are unknown, or were learned long ago. */
  unobserved?(): Promise<string[]>;
  /** The useful part of a stored output; empty when it is not stored here. Absent where no output is stored. */
  storedExcerpt?(logHash: string): Promise<string>;
}
