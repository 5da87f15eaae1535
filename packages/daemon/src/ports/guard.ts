import type { Mode } from '@tidemill/contract';

/** A tool an agent is about to use, in the words of Claude Code (`Write`, `Edit`, `Bash` …) whatever agent it is. */
export interface ToolCall {
  tool: string;
  /** The folder it is meant from, where the agent says so; else the worktree's root. */
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
  /** `cwd` is where the agent's shell stands, when it has left the worktree's root. */
  check(call: ToolCall, about: { worktree: string; mode: Mode; cwd?: string }): Promise<GuardVerdict>;
}
