import type {
  AgentEnvelope,
  AskedQuestion,
  FailureClass,
  Feedback,
  HilConfig,
  Mode,
  ProgressReport,
  Usage,
} from '@tidemill/contract';
import type { ShownChange } from '@tidemill/core';
import type { GuardVerdict, ToolCall } from './guard.ts';
import type { ProcessControl } from './process-control.ts';
import type { RunDoor } from './run-access.ts';

/**
 * The input of an agent. A `command` agent reads it as JSON (plus `protocol`, and the request's `model` and `tools`).
 */
export interface AgentBrief {
  mode: Mode;
  prompt: string;
  /** The subject of the run. */
  subjectId: string;
  /** Null for a run without a task. */
  task: {
    id: string;
    number: number;
    title: string;
    body: string;
    acceptance: { id: string; text: string }[];
    files: string[];
    stage: string;
  } | null;
  attempt: number;
  feedback: Feedback[];
  /** What the agent may decide itself, as the prompt says it in words. */
  hilConfig: HilConfig;
  /** For a reviewer: what its evidence may refer to. */
  shown?: ShownChange;
}

export interface AgentSink {
  output(chunk: string): void;
  /**
   * The cost of one or more requests, in addition to earlier reports. `settled`: how many requests that were reported
   * without a cost this cost covers. Unreadable usage (see ReportedUsage) counts as one request without a cost.
   */
  usage(usage: Usage, settled?: number): void;
  /** Only what the agent shows: a percent that it does not know is not made up. */
  progress(report: ProgressReport): void;
  /** The vendor's session, as soon as it is known. */
  session(id: string): void;
  /**
   * A tool use that was refused although no guard denied it, for the record. For example because its effect is unknown.
   */
  denied(call: ToolCall, guard: string, reason: string): void;
}

export type AgentEnd =
  | { kind: 'result'; envelope: AgentEnvelope }
  | {
      kind: 'failed';
      failure: FailureClass;
      message: string;
      exitCode: number | null;
      /** When the vendor accepts requests again, if it said so. */
      retryAt?: number;
    };

export interface AgentSession {
  /** Settles once, also after stop(), and never rejects. No child process is left then. */
  readonly end: Promise<AgentEnd>;
  /** Sends SIGTERM, after five seconds SIGKILL, to the whole process group. Resolves when all processes are gone. */
  stop(): Promise<void>;
}

export interface Agent {
  /** As configured, for the run's record: `command ./my-agent`. */
  readonly label: string;
  /** Agents with the same one share the vendor's limits and login. Absent: its label. */
  readonly account?: string;
  /** It costs nothing: a run without reported requests is free. */
  readonly isFree?: boolean;
  start(request: AgentRequest, sink: AgentSink): AgentSession;
}

export interface AgentRequest {
  runId: string;
  cwd: string;
  brief: AgentBrief;
  timeoutMs: number;
  maxTurns: number;
  /** Set in the head of the prompt. Null: the agent's own choice. */
  model: string | null;
  /** The tools the agent may use, by Claude Code's names. Null: the default of the mode. Not all agents support it. */
  tools: string[] | null;
  /** A session of an earlier run of the same task and agent to resume, if the agent supports it. */
  resume: string | null;
  /** Controls every child process of the agent. */
  control?: ProcessControl;
  /** Called before each tool use, if the agent supports it. It records every denial. */
  guard(call: ToolCall): Promise<GuardVerdict>;
  /** Called when the agent wants to stop, if the agent supports it. Returns why it should continue, or null. */
  beforeStop(): Promise<string | null>;
  /** Tidemill's MCP server, with a token for this run. Absent where there is none. */
  mcp?: RunDoor;
  /** Asks a person while the agent works. Returns the reply for the agent. Absent where questions are not possible. */
  ask?(questions: AskedQuestion[]): Promise<string>;
}

/**
 * Returns the agent for a mode: the `agents` entry of that name (`review`, `plan` …), else `default`. `name`: this entry
 * instead, whatever the mode.
 */
export type AgentFor = (mode: Mode, name?: string) => Agent;
