import type { CallEntry, Mode } from '@tidemill/contract';

/** A tool use of an agent, by Claude Code's names (`Write`, `Edit`, `Bash` …) for every agent. */
export interface ToolCall {
  tool: string;
  /** The folder that the call is relative to, if the agent reports it. Otherwise the worktree's root. */
  cwd?: string;
  input: Record<string, unknown>;
}

export type GuardVerdict = (
  | { kind: 'allow' }
  /** `asks`: in their own session, the person may allow it; `input` is then the whole input to use. */
  | { kind: 'deny'; guard: string; reason: string; asks?: true; input?: Record<string, unknown> }
  /** `input` is the whole input, not only what changed. */
  | { kind: 'rewrite'; guard: string; reason: string; input: Record<string, unknown> }
) & {
  /** Guards that only observe and would have denied the call. `isSlow`: the check took too long to know. */
  observed?: { guard: string; reason: string; isSlow?: true }[];
};

/** A person's own session, or an agent's run. */
export type SessionKind = 'own' | 'agent';

/** Where a call is made. */
export interface CallSituation {
  worktree: string;
  mode: Mode;
  /** An agent's run unless it is said. */
  session?: SessionKind;
  /** The current folder of the agent's shell. */
  cwd?: string;
  /** A guard that a person has bypassed for this call. The others decide. */
  without?: string;
}

/** A project's guards. Never rejects: a guard that throws or takes too long denies. */
export interface Guards {
  check(call: ToolCall, about: CallSituation): Promise<GuardVerdict>;
}

/** The newest calls of a project's agents and of a person's own sessions. A proposed guard is tested with them. */
export interface CallLog {
  /** Never throws: a call that cannot be kept is missing from the list. */
  record(entry: CallEntry): void;
  /** The newest first. */
  recent(limit: number): Promise<CallEntry[]>;
}
