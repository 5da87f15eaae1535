import type { AgentEnvelope, AskedQuestion, FailureClass, Feedback, Mode, Usage } from '@tidemill/contract';
import type { ShownChange } from '@tidemill/core';
import type { GuardVerdict, ToolCall } from './guard.ts';
import type { ProcessControl } from './process-control.ts';

/** What an agent is started with; also the JSON object a `command` agent reads (plus `protocol`, and the request's `model` and `tools`). */
export interface AgentBrief {
  mode: Mode;
  prompt: string;
  /** What the run is about. */
  subjectId: string;
  /** Null where the run is not about a task. */
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
  /** For a reviewer: what its evidence may point at. */
  shown?: ShownChange;
}

export interface AgentSink {
  output(chunk: string): void;
  /**
   * What one or more requests have cost, on top of what was told before. `settled` says of how many requests that were
   * told without a cost this is the cost. What cannot be read (see ReportedUsage) counts as one request without a cost.
   */
  usage(usage: Usage, settled?: number): void;
  progress(percent: number, text: string): void;
  /** The vendor's session, as soon as it is known. */
  session(id: string): void;
  /** A tool use that was refused although no guard denied it, for the record: nobody could tell what it would do, say. */
  denied(call: ToolCall, guard: string, reason: string): void;
}

export type AgentEnd =
  | { kind: 'result'; envelope: AgentEnvelope }
  | {
      kind: 'failed';
      failure: FailureClass;
      message: string;
      exitCode: number | null;
      /** When the vendor said from when on it would answer again. */
      retryAt?: number;
    };

export interface AgentSession {
  /** Settles once, also after stop(); never rejects. No child is left when it has settled. */
  readonly end: Promise<AgentEnd>;
  /** SIGTERM, five seconds, SIGKILL, the whole process group. Resolves when all is gone. */
  stop(): Promise<void>;
}

export interface Agent {
  /** As configured, for the run's record: `command ./my-agent`. */
  readonly label: string;
  /** It costs nothing: a run that reports no request has made none that anybody pays for. */
  readonly isFree?: boolean;
  start(request: AgentRequest, sink: AgentSink): AgentSession;
}

export interface AgentRequest {
  runId: string;
  cwd: string;
  brief: AgentBrief;
  timeoutMs: number;
  maxTurns: number;
  /** Asked for by the prompt's head; null leaves the agent's own choice. */
  model: string | null;
  /** The tools the agent may use, in Claude Code's words; null leaves them to the mode. For agents that can be told. */
  tools: string[] | null;
  /** A session of an earlier run of the same task and agent to go on with, if the agent can. */
  resume: string | null;
  /** Every child of the agent is handed over to these. */
  control?: ProcessControl;
  /** Asked before each tool use, by agents that can be asked. Every denial is recorded by whoever gives this. */
  guard(call: ToolCall): Promise<GuardVerdict>;
  /** Asked when the agent wants to end, by agents that can be asked: why it should go on, or null. */
  beforeStop(): Promise<string | null>;
  /** Puts questions to a person while the agent works, and answers what the agent is told. Left out where nobody is. */
  ask?(questions: AskedQuestion[]): Promise<string>;
}

/** Chooses the agent for a mode: the `agents` entry of that name (`review`, `plan` …), else `default`. */
export type AgentFor = (mode: Mode) => Agent;
