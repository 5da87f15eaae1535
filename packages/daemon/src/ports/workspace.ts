import type { ChangedFile } from '@tidemill/core';

export interface WorktreeRef {
  number: number;
  branch: string;
}

export interface Worktree extends WorktreeRef {
  path: string;
  /** The target's commit the branch started from, or was last merged with. */
  base: string;
  /** The newest commit of the branch. */
  tip: string;
}

export interface Captured {
  commit: string;
  tree: string;
  /** Files that differ from the base; empty means the work changed nothing. */
  files: string[];
  /** What had to be put right: the agent committed itself, switched branches, deleted its worktree … */
  notes: string[];
  /** Files that git cannot or may not store, each with the reason: they are not in the tree. Notes hold them, too. */
  refused: string[];
}

export interface FileChange {
  path: string;
  /** What it was called before, when it was renamed. */
  from: string | null;
  /** Lines; null where they were not counted. */
  added: number | null;
  removed: number | null;
  /** Of the larger of both versions. */
  bytes: number;
  isBinary: boolean;
}

/** A change as it can be shown: all files by name, and as much of each as there is room for. */
export interface Change {
  files: FileChange[];
  /** The parts of the diff, one for each file that is shown. */
  sections: string[];
  isCut: boolean;
}

/** What keeps all work on the repository from going on, whatever the task. */
export interface Outage {
  kind: 'disk_full' | 'repository_gone' | 'target_gone';
  /** For a person: what is wrong, and what puts it right. */
  text: string;
}

export type Candidate =
  | { kind: 'clean'; tree: string; base: string; files: string[] }
  | { kind: 'conflict'; base: string; files: string[] }
  | { kind: 'empty'; base: string };

export type Landing = { kind: 'landed' } | { kind: 'moved' } | { kind: 'waiting'; why: string };

export interface Snapshot {
  ref: string;
  number: number;
  at: number;
  why: string;
  commit: string;
}

/**
 * A clean checkout of one commit, for gates to run in. It holds exactly the commit's tree, and beside it only what was
 * prepared; nothing of an agent's worktree.
 */
export interface CleanCheckout {
  name: string;
  path: string;
  commit: string;
  tree: string;
  /** Files that differ from the tree by now: tracked ones that changed, and new ones that git does not ignore. */
  changes(): Promise<string[]>;
  /** Files and folders there that git ignores. */
  ignored(): Promise<string[]>;
  /** Puts it back to its tree. What is kept stays. */
  reset(): Promise<void>;
  /** The tree of the files as they are now, without the ignored ones. */
  writeTree(): Promise<string>;
  /** These ignored paths stay when the checkout is reset, and for its next use. */
  keep(paths: string[]): void;
  /** Must be called once it is no longer used. */
  close(): Promise<void>;
}

/** The repository, as the engine may touch it. Whatever is destructive snapshots first. */
/** A folder that is there for the length of a job. */
export interface Scratch {
  path: string;
  remove(): Promise<void>;
}

export interface Workspace {
  /** The task's worktree, made from the newest target when there is none. Leftover work in it stays. */
  open(task: WorktreeRef): Promise<Worktree>;
  /** Commits what lies in the worktree onto the task's branch, whatever the agent did to HEAD or index meanwhile. */
  capture(task: WorktreeRef, message: string): Promise<Captured>;
  /** Puts the worktree back to the branch's last commit (a reviewer's stray writes). Snapshots when that loses anything. */
  restore(task: WorktreeRef, why: string): Promise<string | null>;
  /** Saves all that is in the worktree to a hidden ref; null when it equals the branch's commit. */
  snapshot(task: WorktreeRef, why: string): Promise<string | null>;
  /** The committed change against the base. Long files are cut so that all of it has at most `maxBytes`. */
  diff(task: WorktreeRef, maxBytes: number): Promise<Change>;
  /**
   * A hash of what the branch's commit changes in these files, against its base. The same change on a newer base has the
   * same hash, as long as the lines around it are the same.
   */
  changeIn(task: WorktreeRef, files: string[]): Promise<string>;
  /**
   * The files that differ between two trees, with their content before and after, and the text of further files as they
   * were before. Without trees: the branch's commit against its base. No file of a worktree is read.
   */
  changedFiles(
    task: WorktreeRef,
    asked: { trees?: { base: string; tree: string }; alsoBefore: string[] },
  ): Promise<{ changed: ChangedFile[]; before: Map<string, string> }>;
  /** A dry-run merge of the branch's commit with the newest target. */
  candidate(task: WorktreeRef): Promise<Candidate>;
  /** The commit that would land: squash, rebase or merge of the candidate's tree, with this message. Moves nothing. */
  seal(task: WorktreeRef, candidate: { tree: string; base: string }, message: string): Promise<string>;
  /** A clean checkout of that commit, for gates to run in. */
  checkOut(commit: string): Promise<CleanCheckout>;
  /** Files of the commit that fit one of the globs, each with the hash of its content. */
  filesAt(commit: string, globs: string[]): Promise<[path: string, hash: string][]>;
  /** Those of the files, if they were in the person's checkout, that git ignores there. */
  ignoredInCheckout(files: string[]): Promise<string[]>;
  treeOf(commit: string): Promise<string>;
  /** The target's newest commit. */
  targetCommit(): Promise<string>;
  /** Puts a tree that a gate repaired onto the task's branch, and into its worktree. */
  amend(task: WorktreeRef, tree: string, message: string): Promise<Captured>;
  /** Fast-forwards the target from `base` to `commit`; never touches a checkout that is dirty. */
  land(commit: string, base: string): Promise<Landing>;
  isLanded(commit: string): Promise<boolean>;
  /** The newest commits of the target that name their evidence, newest first. */
  provenCommits(limit: number): Promise<{ commit: string; evidence: string; at: number }[]>;
  /** A small repository of its own for a job that needs no code. Leftovers of a crash are collected as garbage. */
  scratch(name: string): Promise<Scratch>;
  /** Null when work is possible. `isSuspected`: something failed, so it is looked at more closely. */
  outage(isSuspected: boolean): Promise<Outage | null>;
  /** Why landing would have to wait for a person, or null. */
  landingObstacle(): Promise<string | null>;
  /** Pushes the target to its remote; `none` without one. Never forces. */
  push(): Promise<{ kind: 'pushed' | 'none' } | { kind: 'failed'; why: string }>;
  /** Merges the newest target into the worktree and leaves the conflict markers for an agent. */
  mergeTarget(task: WorktreeRef): Promise<{ files: string[] }>;
  /** Removes worktree and branch, quickly; what is not landed is snapshotted. */
  remove(task: WorktreeRef): Promise<void>;
  /** Worktrees and task branches that belong to none of these tasks. */
  leaks(alive: WorktreeRef[]): Promise<string[]>;
  collectGarbage(alive: WorktreeRef[]): Promise<string[]>;
  snapshots(): Promise<Snapshot[]>;
}
