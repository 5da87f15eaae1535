import type { ChangeSize, MergeLoss } from '@tidemill/contract';
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
  /** Files that differ from the base. Empty: the work changed nothing. */
  files: string[];
  /** What had to be corrected: the agent committed, switched branches, deleted its worktree … */
  notes: string[];
  /**
   * Files that git cannot or must not store, each with the reason. They are not in the tree. The notes contain them
   * too.
   */
  refused: string[];
}

export interface FileChange {
  path: string;
  /** The old path of a renamed file. */
  from: string | null;
  /** Lines. Null: not counted. */
  added: number | null;
  removed: number | null;
  /** Size of the larger version. */
  bytes: number;
  isBinary: boolean;
}

/** A change for display: the names of all files, and as much of each file as fits. */
export interface Change {
  files: FileChange[];
  /** The parts of the diff, one per shown file. */
  sections: string[];
  isCut: boolean;
}

/** A problem that stops all work on the repository. */
export interface Outage {
  kind: 'disk_full' | 'repository_gone' | 'target_gone' | 'taken_over';
  /** For a person: the problem and the fix. */
  text: string;
}

export type Candidate =
  | { kind: 'clean'; tree: string; base: string; files: string[] }
  | { kind: 'conflict'; base: string; files: string[] }
  | { kind: 'empty'; base: string };

export type Landing = { kind: 'landed' } | { kind: 'moved' } | { kind: 'waiting'; why: string };

/** A person's file that Tidemill was to commit. `why` completes the sentence "Not committed: …". */
export type FileCommit = { kind: 'committed'; commit: string } | { kind: 'unchanged' } | { kind: 'left'; why: string };

/** What would happen if a branch were merged with others now. */
export interface Forecast {
  /** The size of its own change. Counted only if there is a conflict. */
  size: ChangeSize | null;
  /** Files in which it conflicts with the newest target. Null: unknown. */
  withTarget: string[] | null;
  /** Each of the other commits that could be compared. Without files: no conflict. */
  compared: { commit: string; files: string[]; size: ChangeSize | null }[];
}

/** The target's branch at its remote. */
export interface RemoteTarget {
  /** For people: `origin/main`. */
  name: string;
  commit: string;
}

/**
 * The remote's target compared with the local one:
 *
 *   none         there is no remote, or the settings do not use it
 *   unreachable  offline, refused, no credentials, no answer in time
 *   new, gone    the remote has no such branch: it never had one, or it was deleted
 *   same, ahead, behind, diverged   as git says of the local target
 *   rewritten    it no longer contains what it had: somebody pushed by force
 */
export type RemoteState =
  | { kind: 'none' }
  | { kind: 'unreachable'; name: string; why: string }
  | { kind: 'new' | 'gone'; name: string }
  | ({
      kind: 'same' | 'ahead' | 'behind' | 'diverged' | 'rewritten' /** The local target. */;
      local: string;
    } & RemoteTarget);

/** `moved`: the remote has commits that are not here. `refused`: it does not allow the push. */
export type Pushed =
  | { kind: 'none' }
  | { kind: 'pushed'; name: string }
  | { kind: 'moved' | 'refused' | 'unreachable'; name: string; why: string };

/** A commit that has both the local target and the remote's, or the files in which they conflict. */
export type Joined =
  | { kind: 'clean'; commit: string; tree: string; base: string }
  | { kind: 'conflict'; files: string[] };

/** Lines of a landed commit that a later commit removed or replaced. */
export interface Rewrite {
  landed: string;
  files: string[];
  lines: number;
  /** The beginning of the change to these files. */
  patch: string;
}

/** A commit of the target that Tidemill did not make. */
export interface PersonCommit {
  commit: string;
  at: number;
  author: string;
  subject: string;
  body: string;
  /** The commits that it says it reverts. */
  reverts: string[];
  rewrites: Rewrite[];
}

export interface PersonCommitQuery {
  /** Only commits that are not older. */
  since: number;
  /** Landed commits whose lines are looked for. */
  landed: readonly string[];
  /** Commits that are left out. */
  seen: ReadonlySet<string>;
}

export interface Snapshot {
  ref: string;
  number: number;
  at: number;
  why: string;
  commit: string;
}

/**
 * A clean checkout of one commit, for gates to run in. It contains exactly the commit's tree and prepared files, and
 * nothing of an agent's worktree.
 */
export interface CleanCheckout {
  name: string;
  path: string;
  commit: string;
  tree: string;
  /** Submodules without files there: the person has not initialised them. */
  emptySubmodules?: readonly string[];
  /** Files that differ from the tree: changed tracked files, and new files that git does not ignore. */
  changes(): Promise<string[]>;
  /** Files and folders there that git ignores. */
  ignored(): Promise<string[]>;
  /** Resets it to its tree. Kept paths stay. */
  reset(): Promise<void>;
  /** Shows the tree of another commit instead, until the next reset. Kept paths stay. */
  showInstead(commit: string): Promise<void>;
  /** The tree of the current files, without the ignored ones. */
  writeTree(): Promise<string>;
  /** Keeps these ignored paths over resets and for the next use. */
  keep(paths: string[]): void;
  /** Must be called once it is no longer used. */
  close(): Promise<void>;
}

/** A commit with the first line of its message. */
export interface PastCommit {
  commit: string;
  at: number;
  subject: string;
}

/** A temporary folder of a job. */
export interface Scratch {
  path: string;
  remove(): Promise<void>;
}

/**
 * A repository of its own that ends at an earlier commit: an agent that works there does not see what came later. Its
 * files are read like those of a worktree.
 */
export interface BorrowingRepository {
  path: string;
  base: string;
  /** Commits the files on top of the base. No ref keeps the commit. */
  capture(message: string): Promise<Pick<Captured, 'commit' | 'tree' | 'files' | 'refused'>>;
  remove(): Promise<void>;
}

/** The engine's access to the repository. Destructive operations snapshot first. */
export interface Workspace {
  /** Returns the task's worktree, created from the newest target if there is none. Existing work in it stays. */
  open(task: WorktreeRef): Promise<Worktree>;
  /** Commits the files of the worktree to the task's branch, whatever the agent did to HEAD or the index. */
  capture(task: WorktreeRef, message: string): Promise<Captured>;
  /**
   * Resets the worktree to the branch's last commit (stray writes of a reviewer). Snapshots first if that loses
   * anything.
   */
  restore(task: WorktreeRef, why: string): Promise<string | null>;
  /** Saves the worktree to a hidden ref. Null when it equals the branch's commit. */
  snapshot(task: WorktreeRef, why: string): Promise<string | null>;
  /** The committed change against the base. Long files are cut so that the total is at most `maxBytes`. */
  diff(task: WorktreeRef, maxBytes: number): Promise<Change>;
  /**
   * A hash of the branch's change to these files, against its base. The same change on a newer base has the same hash,
   * if the lines around it are the same.
   */
  changeIn(task: WorktreeRef, files: string[]): Promise<string>;
  /**
   * The files that differ between two trees, with their content before and after, and the text of further files as they
   * were before. Without trees: the branch's commit against its base. No file of a worktree is read.
   * With trees no task is needed.
   */
  changedFiles(
    task: WorktreeRef | null,
    asked: { trees?: { base: string; tree: string }; alsoBefore: string[] },
  ): Promise<{ changed: ChangedFile[]; before: Map<string, string> }>;
  /** The files that a commit changed, against its first parent, its base on the target or another commit. Empty if it is unknown. */
  filesIn(commit: string, against: 'parent' | 'base' | { commit: string }): Promise<string[]>;
  /**
   * Merges a commit with the target and with other commits, each alone, in objects that are thrown away. A commit that
   * is gone is left out; null if it is the first one. Files that only the target changed are not reported for another
   * commit.
   */
  forecast(commit: string, others: string[]): Promise<Forecast | null>;
  /** A dry-run merge of the branch's commit with the newest target, or with another commit that contains it. */
  candidate(task: WorktreeRef, onto?: string): Promise<Candidate>;
  /** Creates the commit to land: squash, rebase or merge of the candidate's tree, with this message. Moves no ref. */
  seal(task: WorktreeRef, candidate: { tree: string; base: string }, message: string): Promise<string>;
  /** A clean checkout of that commit, for gates to run in. */
  checkOut(commit: string): Promise<CleanCheckout>;
  /** Files of the commit that match one of the globs, each with the hash of its content and its mode. */
  filesAt(commit: string, globs: string[] | 'all'): Promise<[path: string, hash: string][]>;
  /** Returns those of the files that git ignores in the person's checkout. */
  ignoredInCheckout(files: string[]): Promise<string[]>;
  treeOf(commit: string): Promise<string>;
  /** The target's newest commit. */
  targetCommit(): Promise<string>;
  /** Commits a tree that a gate fixed to the task's branch, and updates its worktree. */
  amend(task: WorktreeRef, tree: string, message: string): Promise<Captured>;
  /** Fast-forwards the target from `base` to `commit`; never touches a checkout that is dirty. */
  land(commit: string, base: string): Promise<Landing>;
  isLanded(commit: string): Promise<boolean>;
  /** The newest commits of the target with an evidence trailer, newest first. */
  provenCommits(limit: number): Promise<{ commit: string; evidence: string; at: number }[]>;
  /** The newest commits of the target, newest first, each with the commits that it says it reverts. */
  recentCommits(limit: number): Promise<{ commit: string; subject: string; reverts: string[] }[]>;
  /** The commits that `to` has and `from` has not, newest first. Without `from`: all that `to` has. */
  commitsBetween(from: string | null, to: string, limit: number): Promise<PastCommit[]>;
  /** The newest tag before a commit; null when there is none. */
  tagBefore(commit: string): Promise<string | null>;
  /** The commit that a tag, a branch or a shortened hash names; null when there is none. */
  commitNamed(name: string): Promise<string | null>;
  /** The newest commits of the target that Tidemill did not make, with what they change of landed work. */
  commitsByPeople(query: PersonCommitQuery): Promise<PersonCommit[]>;
  /** A small repository for a job that needs no code. Leftovers of a crash are garbage-collected. */
  scratch(name: string): Promise<Scratch>;
  /** A folder with the repository as it was at a commit, for work that never lands. */
  borrowingRepository(name: string, commit: string): Promise<BorrowingRepository>;
  /** A commit of the first one's tree with some files of another commit in it. No ref keeps it. */
  withFilesOf(commit: string, other: string, files: string[]): Promise<{ commit: string; tree: string }>;
  /** A commit like the first one in which some files have another text, or with more in its message. No ref keeps it. */
  withTexts(
    commit: string,
    texts: ReadonlyMap<string, string>,
    addition?: string,
  ): Promise<{ commit: string; tree: string }>;
  /** A commit on top of `base` with this tree, in which these files are as `base` has them, or missing. No ref keeps it. */
  putBack(tree: string, base: string, files: string[]): Promise<{ commit: string; tree: string }>;
  /** A commit of the tree on top of another commit. No ref keeps it. */
  commitOf(tree: string, parent: string): Promise<string>;
  /** The first parent of a commit. Null when the commit is unknown or has none. */
  parentOf(commit: string): Promise<string | null>;
  /** Null when work is possible. `isSuspected`: something failed, so it checks more closely. */
  outage(isSuspected: boolean): Promise<Outage | null>;
  /** Returns why landing must wait for a person, or null. */
  landingObstacle(): Promise<string | null>;
  /** Fetches the target's remote, with a time limit and without asking anybody. Moves no branch. */
  fetchTarget(): Promise<RemoteState>;
  /** Merges the remote's target and the local one into a commit. Moves no branch. */
  joinRemote(remote: RemoteTarget): Promise<Joined>;
  /** Whether the remote's target had the commit when it was fetched last. */
  isPublished(commit: string): Promise<boolean>;
  /** Pushes a commit to the remote's target. Never forces. */
  pushTarget(commit: string): Promise<Pushed>;
  /**
   * Commits the proven tree to the task's branch, with this message, and pushes the branch. Never forces. `base` is the
   * target's commit that the tree contains: the target itself may have moved since.
   */
  pushBranch(
    task: WorktreeRef,
    proven: { tree: string; base: string; message: string },
  ): Promise<{ pushed: Pushed; commit: string }>;
  /**
   * The branch up to `head` was merged into the target as `commit`, perhaps as one new commit. Merges that into the branch,
   * so that only what came after `head` is left as its change. Nothing happens if the two conflict.
   */
  followMerge(task: WorktreeRef, merged: { head: string; commit: string }): Promise<void>;
  /** Merges the newest target into the worktree and leaves conflict markers for an agent. */
  mergeTarget(task: WorktreeRef): Promise<{ files: string[] }>;
  /**
   * What the target changed and a merge of the target into the branch dropped, as far as the branch still lacks it and the
   * target still has it. Empty when no merge is on the branch.
   */
  mergeLosses(task: WorktreeRef): Promise<MergeLoss[]>;
  /** Removes the worktree and branch. Work that has not landed is snapshotted. */
  remove(task: WorktreeRef): Promise<void>;
  /** The branches of those tasks that still have a worktree or a branch. */
  present(tasks: WorktreeRef[]): Promise<string[]>;
  /** Worktrees and task branches that belong to none of these tasks. */
  leaks(alive: WorktreeRef[]): Promise<string[]>;
  collectGarbage(alive: WorktreeRef[]): Promise<string[]>;
  snapshots(): Promise<Snapshot[]>;
  /** Removes these snapshots for good, all or none. One that no longer has this commit stays. */
  dropSnapshots(snapshots: readonly Pick<Snapshot, 'ref' | 'commit'>[]): Promise<void>;
}
