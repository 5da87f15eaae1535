import type {
  AgentEnvelope,
  AskedQuestion,
  ChannelConfig,
  EndedRun,
  Evidence,
  FailureClass,
  Feedback,
  HilConfig,
  LoggedEvent,
  Mode,
  Project,
  Question,
  Receipt,
  RecordNoun,
  RecordOf,
  Run,
  SessionFile,
  Severity,
  StoredRecord,
  Task,
  TaskSpan,
  Usage,
  Worker,
} from '@tidemill/contract';
import type { Command, Reply } from '@tidemill/core';

/** Time. The simulator has its own; everything that waits, waits through here. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Unique and ascending in time: `task_…`. */
  next(prefix: string): string;
}

export interface EventFilter {
  projectId?: string;
  taskId?: string;
  types?: string[];
}

/** How far a project is from having nothing left that a machine could do. */
export interface Workload {
  leased: number;
  /** Claimable now or after a backoff, tasks that wait for a person left out. */
  ready: number;
  /** Claimable, but held up by something only a person can change (`task.waiting`). */
  waiting: number;
  /** Blocked by a merge conflict that a person has to settle. */
  conflicts: number;
  byStage: Record<string, number>;
  /** The earliest moment a claimable task comes out of its backoff, if it is in the future. */
  nextNotBefore: number | null;
}

/** A row of the projection, of whatever noun. */
export type StoredRow =
  | { noun: 'project'; row: Project }
  | { noun: 'task'; row: Task }
  | { noun: 'run'; row: Run }
  | { noun: 'worker'; row: Worker }
  | { noun: 'evidence'; row: Evidence }
  | { noun: 'record'; row: StoredRecord };

/** Tasks for which all of this is true. An empty list fits none. */
export interface TaskQuery {
  projectId: string;
  stages?: string[];
  ids?: string[];
  numbers?: number[];
  /** Those that depend on one of these. */
  waitingFor?: string[];
  /** Those that depend on a cancelled task. */
  isStranded?: true;
  /** Claimable, but held up by something only a person can change. */
  isWaiting?: true;
  /** Every word must be in the title, whatever its letters' case, or name the number (`12`, `#12`). */
  search?: string;
  newestFirst?: boolean;
  /** Above this number; below it when the newest come first. 0 is no bound. */
  afterNumber?: number;
  limit?: number;
}

export interface RecordQuery<N extends RecordNoun> {
  noun: N;
  projectId?: string;
  taskId?: string;
  isOpen?: boolean;
  /** Only those somebody has to look at by then, the most pressing first. Else they come in the order of their ids. */
  dueBefore?: number;
  limit?: number;
}

/**
 * The one door to state. `execute` loads the command's scope, decides, appends the events and saves the rows in one
 * durable transaction; calls of the same moment share it (group commit). Reads see only committed state.
 */
export interface Store {
  execute(command: Command): Promise<Reply>;

  projects(): Promise<Project[]>;
  project(id: string): Promise<Project | null>;
  projectByRoot(root: string): Promise<Project | null>;
  task(id: string): Promise<Task | null>;
  taskByNumber(projectId: string, number: number): Promise<Task | null>;
  /** Ascending by number, unless the newest are wanted first. */
  tasks(query: TaskQuery): Promise<Task[]>;
  /** Their numbers alone, by id; what does not exist is left out. */
  taskNumbers(ids: string[]): Promise<Map<string, number>>;
  /** The same tasks at a fraction of the cost: of every task only when it came and where it is since when. */
  taskSpans(query: { projectId: string; afterNumber: number; limit: number }): Promise<TaskSpan[]>;
  leased(projectId: string): Promise<Task[]>;
  /** Counts every task: for people and for the question whether all is done, not for every turn of a loop. */
  workload(projectId: string): Promise<Workload>;
  /** `workload().nextNotBefore` alone, at a cost that does not grow with the number of tasks. */
  nextNotBefore(projectId: string): Promise<number | null>;
  workers(projectId: string): Promise<Worker[]>;
  run(id: string): Promise<Run | null>;
  runs(taskId: string): Promise<Run[]>;
  /** By their end, which lies after `after`. */
  runsEnded(query: { projectId: string; after: number; limit?: number }): Promise<EndedRun[]>;
  record<N extends RecordNoun>(noun: N, id: string): Promise<RecordOf<N> | null>;
  records<N extends RecordNoun>(query: RecordQuery<N>): Promise<RecordOf<N>[]>;
  /** When the first record of the noun is due. */
  nextDue(noun: RecordNoun, projectId?: string): Promise<number | null>;
  /** Ascending by position. */
  evidence(query: { projectId: string; afterPosition?: number; limit?: number; taskId?: string }): Promise<Evidence[]>;
  evidenceForTree(projectId: string, tree: string): Promise<Evidence[]>;
  evidenceByHash(hash: string): Promise<Evidence | null>;
  evidenceById(id: string): Promise<Evidence | null>;

  /** Every row there is, read in pages: for `doctor`, which compares them with the log. */
  rows(): AsyncIterable<StoredRow>;

  lastSeq(): Promise<number>;
  /** Events after `after` and not beyond `upTo`: the oldest first, or the newest. */
  events(
    query: EventFilter & { after?: number; upTo?: number; newestFirst?: boolean; limit: number },
  ): Promise<LoggedEvent[]>;
  /** Every event after the cursor, in order, none skipped or repeated, until the signal aborts. */
  subscribe(after: number, filter: EventFilter, signal: AbortSignal): AsyncIterable<LoggedEvent>;
  /**
   * Called after each commit that this process knows of; a wake-up, not a delivery. `isQuiet` when it held nothing but
   * signs of life. Returns the unsubscriber.
   */
  onCommit(listener: (isQuiet: boolean) => void): () => void;
  close(): Promise<void>;
}

export interface WorktreeRef {
  number: number;
  branch: string;
}

export interface Worktree extends WorktreeRef {
  path: string;
  /** The target's commit the branch started from, or was last merged with. */
  base: string;
}

export interface Captured {
  commit: string;
  tree: string;
  /** Files that differ from the base; empty means the work changed nothing. */
  files: string[];
  /** What had to be put right: the agent committed itself, switched branches, deleted its worktree … */
  notes: string[];
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

/** The repository, as the engine may touch it. Whatever is destructive snapshots first. */
export interface Workspace {
  /** The task's worktree, made from the newest target when there is none. Leftover work in it stays. */
  open(task: WorktreeRef): Promise<Worktree>;
  /** Commits what lies in the worktree onto the task's branch, whatever the agent did to HEAD or index meanwhile. */
  capture(task: WorktreeRef, message: string): Promise<Captured>;
  /** Puts the worktree back to the branch's last commit (a reviewer's stray writes). Snapshots when that loses anything. */
  restore(task: WorktreeRef, why: string): Promise<string | null>;
  /** Saves all that is in the worktree to a hidden ref; null when it equals the branch's commit. */
  snapshot(task: WorktreeRef, why: string): Promise<string | null>;
  /** The diff against the base, cut at `maxBytes` with a mark. */
  diff(task: WorktreeRef, maxBytes: number): Promise<string>;
  /** A dry-run merge of the branch's commit with the newest target. */
  candidate(task: WorktreeRef): Promise<Candidate>;
  /** The commit that would land: squash, rebase or merge of the candidate's tree, with this message. Moves nothing. */
  seal(task: WorktreeRef, candidate: { tree: string; base: string }, message: string): Promise<string>;
  /** Shows that commit in the worktree, for gates to run on. */
  show(task: WorktreeRef, commit: string): Promise<Worktree>;
  /** Fast-forwards the target from `base` to `commit`; never touches a checkout that is dirty. */
  land(commit: string, base: string): Promise<Landing>;
  isLanded(commit: string): Promise<boolean>;
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

/** Child processes of a worker, or something that keeps their time. */
export interface Reined {
  /** They stand still until thawed, and no limit of time runs on meanwhile. */
  freeze(): void;
  thaw(): void;
  /** All of them, at once, without a word. */
  kill(): void;
  /** Zero where it cannot be found out. `cpuMs` only grows. */
  usage(): Promise<{ memoryMb: number; cpuMs: number }>;
}

/** What holds a worker's children. Whoever starts one hands it over, and lets go when it has ended. */
export interface Reins {
  take(part: Reined): () => void;
}

/** What an agent is started with; also the JSON object a `command` agent reads (plus `protocol`, and the request's `model` and `tools`). */
export interface AgentBrief {
  mode: Mode;
  prompt: string;
  task: {
    id: string;
    number: number;
    title: string;
    body: string;
    acceptance: { id: string; text: string }[];
    files: string[];
    stage: string;
  };
  attempt: number;
  feedback: Feedback[];
}

export interface AgentSink {
  output(chunk: string): void;
  /**
   * What one or more requests have cost, on top of what was told before. `settled` says of how many requests that were
   * told without a cost this is the cost.
   */
  usage(usage: Usage, settled?: number): void;
  progress(percent: number, text: string): void;
  /** The vendor's session, as soon as it is known. */
  session(id: string): void;
  /** A tool use that was refused although no guard denied it, for the record: nobody could tell what it would do, say. */
  denied(call: ToolCall, guard: string, reason: string): void;
}

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
  reins?: Reins;
  /** Asked before each tool use, by agents that can be asked. Every denial is recorded by whoever gives this. */
  guard(call: ToolCall): Promise<GuardVerdict>;
  /** Asked when the agent wants to end, by agents that can be asked: why it should go on, or null. */
  beforeStop(): Promise<string | null>;
  /** Puts questions to a person while the agent works, and answers what the agent is told. Left out where nobody is. */
  ask?(questions: AskedQuestion[]): Promise<string>;
}

/** Chooses the agent for a mode: the `agents` entry of that name (`review`, `plan` …), else `default`. */
export type AgentFor = (mode: Mode) => Agent;

export interface GateReport {
  receipt: Receipt;
  /** The part of the output an agent needs to see to repair it. */
  excerpt: string;
}

/** Runs a project's gates on a worktree that shows `tree`. Output is kept under its hash. */
export interface Gates {
  readonly names: string[];
  run(worktree: Worktree, tree: string, files: string[], signal: AbortSignal, reins?: Reins): Promise<GateReport[]>;
}

/** What a person is told: one or more notices, or the questions of a batch. */
export interface ChannelMessage {
  /** The same for every attempt to send it. */
  id: string;
  project: string;
  severity: Severity;
  title: string;
  at: number;
  parts: MessagePart[];
}

export interface MessagePart {
  /** The notification's, by which an answer names its question. */
  id: string;
  severity: Severity;
  title: string;
  text: string;
  question: Question | null;
}

/** An answer as it came in: an option of a part by its place (from 0), or words to a part or to a whole message. */
export type ChannelAnswer = {
  /** `telegram:@ada`. */
  by: string;
} & ({ partId: string; option: number } | { partId: string; text: string } | { reference: string; text: string });

/** Gives back what to tell whoever answered. Never rejects. */
export type HearAnswer = (answer: ChannelAnswer) => Promise<{ isTaken: boolean; text: string }>;

/** A way to reach people. Its errors are `ChannelTrouble`, without secrets. */
export interface Channel {
  /** Those with the same line hear each other's answers: the same bot, the same app. */
  readonly line: string;
  /** Resolves once the other side has taken it, with what it calls the message; null when it has no name for it. */
  send(message: ChannelMessage, signal: AbortSignal): Promise<string | null>;
  /** Left out where a channel carries nothing back. Runs until the signal aborts; rejects when it hears no more. */
  listen?(hear: HearAnswer, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
export type OpenChannel = (config: ChannelConfig) => Promise<Channel>;

/** Where a run's output goes: capped, flushed at least every 3 s. */
export interface RunLog {
  write(chunk: string): void;
  close(): Promise<void>;
}
export type OpenRunLog = (runId: string) => RunLog;

/** What an agent is told, and what its template's head asks for. */
export interface Briefing {
  prompt: string;
  /** An estimate: nobody but the vendor counts exactly. */
  promptTokens: number;
  /** What was left out or cut to keep within the budget of tokens. */
  dropped: string[];
  model: string | null;
  tools: string[] | null;
  maxTurns: number | null;
  timeoutMs: number | null;
}

/** From the templates. */
export interface Prompts {
  render(input: {
    task: Task;
    mode: Mode;
    target: string;
    diff: string;
    gates: string;
    hilConfig: HilConfig;
  }): Promise<Briefing>;
}

/** The files that tell other programs of the workers. Writing them may fail without hurting anybody. */
export interface SessionFiles {
  put(file: SessionFile): void;
  drop(agentId: string): void;
  /** Removes what workers that are gone left behind. */
  keepOnly(agentIds: string[]): Promise<void>;
  /** Settles when all that was asked for is on the disk, or given up. */
  settled(): Promise<void>;
}

/** What happens in a project that may be worth a question, and what is known when it does. */
export interface TriggerFacts {
  /** An agent cannot go on and did not say what it needs to know. */
  missing_context: { number: number; title: string; missing: string };
  /** A task was blocked because its agent failed, the gates failed, or nothing changed from try to try. */
  task_failed_repeatedly: { number: number; title: string; error: string; runs: number; tried: string };
  /** The same, when several gates fail at once. */
  multiple_failures: { number: number; title: string; count: number; failing: string };
  /** A run took or cost a multiple of what runs of its kind usually do. */
  task_complexity_exceeded: { number: number; title: string; times: number; expected: string; actual: string };
  /** Half of all tasks are done, or all of them. */
  milestone_reached: { done: number; total: number; percent: number };
  /** Work has landed with every gate passed. */
  validation_passed: { number: number; title: string; gates: number; checks: string };
}
export type Trigger = keyof TriggerFacts;

export interface RaisedQuestion {
  question: AskedQuestion;
  effect: Question['effect'];
}

/** The questions that Tidemill asks by itself, from data files. */
export interface Catalogue {
  raise<T extends Trigger>(trigger: T, facts: TriggerFacts[T]): RaisedQuestion[];
}
