import type { Mode } from '@tidemill/contract';

/** A tool use of an agent, by Claude Code's names (`Write`, `Edit`, `Bash` …) for every agent. */
export interface ToolCall {
  tool: string;
  /** The folder that the call is relative to, if the agent reports it. Otherwise the worktree's root. */
  cwd?: string;
  input: Record<string, unknown>;
}

export type GuardVerdict =
  | { kind: 'allow' }
  | { kind: 'deny'; guard: string; reason: string }
  /** `input` is the whole input, not only what changed. */
  | { kind: 'rewrite'; guard: string; reason: string; input: Record<string, unknown> };

/** A project's guards. Never rejects: a guard that throws or takes too long denies. */
export interface Guards {
  /** `cwd`: the current folder of the agent's shell. */
  check(call: ToolCall, about: { worktree: string; mode: Mode; cwd?: string }): Promise<GuardVerdict>;
}
