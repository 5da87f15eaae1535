/** Where a project's pull requests are. Every call may throw an AppError that says whether it passes by itself. */

export interface PullRequest {
  number: number;
  url: string;
  state: 'open' | 'closed' | 'merged';
  branch: string;
  /** The newest commit of its branch. */
  head: string;
  /** Null while it is open. */
  closedAt: string | null;
  /** The commit on the target. Null before it is merged. */
  mergeCommit: string | null;
  title: string;
  body: string;
  /** Something other than a check keeps it from being merged, such as a review that is required. Null: nothing known. */
  obstacle: string | null;
}

/** What somebody said on a pull request. */
export interface PullComment {
  /** Grows with each one of its kind. */
  id: number;
  kind: 'comment' | 'line' | 'review';
  author: string;
  /** Whether its author may push. What others say starts no work. */
  isTrusted: boolean;
  /** An approving review asks for nothing. */
  isApproval: boolean;
  text: string;
  /** `src/a.ts:12`, for a comment on a line. */
  place: string | null;
}

export interface CheckResult {
  name: string;
  state: 'pending' | 'passed' | 'failed';
  /** The end of its output, as far as the forge has it. */
  summary: string;
  url: string | null;
}

export interface BranchChecks {
  /** What the forge requires before a merge. */
  required: string[];
  /** Merges go through a queue of the forge. */
  hasQueue: boolean;
  results: CheckResult[];
}

/** Where the project's CI sees a commit. */
export interface BranchCi {
  /** Pushes the commit to a branch of its own. Returns why it could not, or null. */
  offer(commit: string): Promise<string | null>;
  results(commit: string): Promise<CheckResult[]>;
  /** Removes that branch. */
  withdraw(commit: string): Promise<void>;
}

export interface GateResult {
  gate: string;
  state: 'passed' | 'failed' | 'pending';
  /** At most a line. */
  text: string;
}

export type PullMerge =
  | { kind: 'merged'; commit: string }
  /** The forge merges it when everything is green. */
  | { kind: 'queued' }
  /** `moved`: its head is another commit. */
  | { kind: 'refused' | 'moved'; why: string };

/** A pull request and the forge's merge queue. */
export interface QueuePlace {
  isQueued: boolean;
  /** The last time that it was taken out. `commit`: what the queue had built of it, with the results of its checks. */
  removal: { id: string; reason: string; commit: string | null } | null;
}

export interface Forge {
  /** `owner/name`. */
  repository(): Promise<string>;
  /** The open pull request of a branch, else its newest one. Null: it never had one. */
  pullOf(branch: string): Promise<PullRequest | null>;
  pull(number: number): Promise<PullRequest>;
  /** Returns the one that is there when somebody was faster. */
  open(about: { branch: string; target: string; title: string; body: string }): Promise<PullRequest>;
  /** Changes only what is given. */
  edit(number: number, change: { title?: string; body?: string; state?: 'open' }): Promise<void>;
  comments(number: number): Promise<PullComment[]>;
  checks(commit: string, target: string): Promise<BranchChecks>;
  /** Publishes the results of gates at the commit. Repeating it changes nothing. */
  report(commit: string, results: GateResult[]): Promise<void>;
  merge(
    pull: PullRequest,
    how: {
      commit: string;
      method: 'squash' | 'merge' | 'rebase';
      by: 'us' | 'forge' | 'queue';
      title: string;
      message: string;
    },
  ): Promise<PullMerge>;
  queue(number: number): Promise<QueuePlace>;
  /** The forge no longer merges it by itself. Nothing happens if it would not have. */
  unqueue(number: number): Promise<void>;
  /** A text that differs when anything above differs. Cheap while nothing does. */
  glance(number: number, target: string): Promise<string>;
}
