import { z } from 'zod';
import { AccountView } from '../budget/budget.ts';
import { DeliveryStatus } from '../delivery/delivery.ts';
import { ComingConflictView } from '../forecast/forecast.ts';
import { Evidence } from '../gate/gate.ts';
import { InboxItem } from '../inbox/inbox.ts';
import { Question } from '../question/question.ts';
import { RunProgress } from '../run/progress.ts';
import { Mode, Run } from '../run/run.ts';
import { DesiredState, Role, WorkerHealth, WorkerStatus } from '../worker/worker.ts';
import { BlockReason, NewTask, Task } from './task.ts';

/** Shapes for readers only: what a surface shows, combined from several nouns. */

const after = z.array(z.number());

/** A line of a list. `after` holds numbers, because people do not see ids. */
export const TaskSummary = Task.pick({
  id: true,
  number: true,
  title: true,
  kind: true,
  pipeline: true,
  stage: true,
  stageSince: true,
  priority: true,
  unmet: true,
  files: true,
  branch: true,
  resumeStage: true,
  blocked: true,
  openQuestions: true,
  waiting: true,
  landedCommit: true,
}).extend({
  after,
  worker: z.string().nullable(),
  /** The numbers of tasks that it will conflict with; null is the target. */
  conflictsWith: z.array(z.number().nullable()).default([]),
});
export type TaskSummary = z.infer<typeof TaskSummary>;

/** Where a person may move a task. `via` is null when it cannot go there; `why` then says what is needed. */
export const TaskMove = z.object({
  to: z.string(),
  via: z.enum(['approve', 'reject', 'retry', 'cancel']).nullable(),
  why: z.string(),
  /** The person must add a note. */
  needsNote: z.boolean(),
});
export type TaskMove = z.infer<typeof TaskMove>;

/** A question with what it is about. */
export const QuestionView = Question.extend({
  task: z.object({ number: z.number(), title: z.string(), stage: z.string() }).nullable(),
  /** What it is about when that is no task: an idea (`I3`), a specification, feedback; and its page. */
  subject: z.object({ ref: z.string(), title: z.string(), page: z.string() }).nullable().default(null),
  /** The command that answers it. */
  command: z.string(),
});
export type QuestionView = z.infer<typeof QuestionView>;

const neighbour = TaskSummary.pick({ number: true, title: true, stage: true });

export const TaskDetail = z.object({
  task: Task.extend({ after }),
  /**
   * What it was made of: a specification, feedback, a proposal or an item of a tracker, which has its own address. Null when
   * somebody added it by hand.
   */
  origin: z
    .object({ text: z.string(), page: z.string(), url: z.string().nullable().default(null) })
    .nullable()
    .default(null),
  runs: z.array(Run),
  evidence: z.array(Evidence),
  questions: z.array(QuestionView),
  moves: z.array(TaskMove),
  /** The graph of its dependencies and dependents, direct and indirect. */
  related: z.array(neighbour.extend({ after })),
  coming: z.array(ComingConflictView).default([]),
  /** Its folder, if it exists. */
  worktree: z.string().nullable(),
  costUsd: z.number(),
});
export type TaskDetail = z.infer<typeof TaskDetail>;

/** A coming conflict, once: the task that will be reworked, and what it conflicts with. */
export const ComingPair = z.object({ task: neighbour, with: ComingConflictView });
export type ComingPair = z.infer<typeof ComingPair>;

/** A text that may be long: `isCut` says that it was cut. */
export const CutText = z.object({ text: z.string(), isCut: z.boolean() });
export type CutText = z.infer<typeof CutText>;

/** A task's worktree. */
export const WorktreeView = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  /** Why the task is blocked; null when it is not. */
  why: z.string().nullable(),
  path: z.string(),
  bytes: z.number(),
  /** It has more files than were counted. */
  isCut: z.boolean(),
});
export type WorktreeView = z.infer<typeof WorktreeView>;

/** A task's change. `of`: the current worktree, the commit that landed, or nothing yet. */
export const TaskDiff = CutText.extend({ of: z.enum(['worktree', 'landed', 'nothing']) });
export type TaskDiff = z.infer<typeof TaskDiff>;

export const BulkOperation = z.enum(['cancel', 'retry', 'approve', 'prioritise']);
export type BulkOperation = z.infer<typeof BulkOperation>;
export const BulkResult = z.object({
  done: z.array(TaskSummary),
  refused: z.array(z.object({ number: z.number(), code: z.string(), message: z.string(), hint: z.string() })),
});
export type BulkResult = z.infer<typeof BulkResult>;

/** A task of an import file: `after` names keys of the same file, or numbers of tasks that exist. */
export const ImportedTask = NewTask.extend({
  key: z.string().min(1).optional(),
  after: z.array(z.union([z.number().int().positive(), z.string().min(1)])).default([]),
});
export type ImportedTask = z.input<typeof ImportedTask>;
/** A list becomes one transaction, which blocks other writes. */
export const ImportedTasks = z
  .array(ImportedTask)
  .min(1, 'the file contains no tasks')
  .max(10_000, 'at most 10,000 tasks are added at once; split the list');

export const SandboxView = z.object({ active: z.boolean(), text: z.string() });
export type SandboxView = z.infer<typeof SandboxView>;

export const WorkerView = z.object({
  /** By `workerLabel`. */
  name: z.string(),
  role: Role,
  /** Not started by the daemon. */
  isOutside: z.boolean().default(false),
  task: z.object({ number: z.number(), title: z.string(), stage: z.string() }).nullable(),
  /** Since the worker took the task, or the job. */
  elapsedMs: z.number(),
  mode: z.string().nullable(),
  progress: RunProgress.nullable(),
  /** How long its run has taken so far, and how long such runs usually take. */
  runMs: z.number().nullable().default(null),
  usualMs: z.number().nullable().default(null),
  status: WorkerStatus,
  health: WorkerHealth,
  desired: DesiredState,
  desiredBy: z.string(),
  lastBeatAt: z.number().nullable(),
  memoryMb: z.number(),
  cpuPercent: z.number(),
  errors: z.number(),
  tasksCompleted: z.number(),
  lastError: z.string().nullable(),
});
export type WorkerView = z.infer<typeof WorkerView>;

/** What an emergency stop would end, over all projects of the daemon. */
export const EmergencyImpact = z.object({
  busy: z.array(z.object({ project: z.string(), worker: z.string(), number: z.number(), title: z.string() })),
  workers: z.number(),
  /** Deliveries that are on their way. They are stopped and rolled back. An older daemon names none. */
  deliveries: z.array(z.object({ project: z.string(), ref: z.string(), environment: z.string() })).default([]),
});
export type EmergencyImpact = z.infer<typeof EmergencyImpact>;

/** Why a task waits for a person, and the command that continues it. */
export const NeedsYou = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  why: z.string(),
  command: z.string(),
  /** The stage where it continues. */
  at: z.string().default(''),
  /** The kind of block, for surfaces with their own words. */
  holds: z.union([BlockReason, z.enum(['question', 'approval', 'waiting', 'cancelled_dependency'])]).default('waiting'),
});
export type NeedsYou = z.infer<typeof NeedsYou>;

export const DaemonInfo = z.object({
  pid: z.number(),
  url: z.string(),
  /** Its address for other machines, if they have access. */
  publicUrl: z.string().nullable().default(null),
  startedAt: z.number(),
  /** A page of another version reloads itself. */
  version: z.string().default(''),
});
export type DaemonInfo = z.infer<typeof DaemonInfo>;

/** How to reach the daemon of a data folder: the content of its `daemon.json`. The token gives full access. */
export const DaemonFile = DaemonInfo.extend({ token: z.string() });
export type DaemonFile = z.infer<typeof DaemonFile>;

/** What an environment has, and the delivery to it that is under way or waits. */
const EnvironmentState = z.object({
  name: z.string(),
  state: z.enum(['healthy', 'unknown', 'empty']),
  delivery: DeliveryStatus.nullable(),
});

export const ProjectStatus = z.object({
  project: z.object({ id: z.string(), name: z.string(), root: z.string(), target: z.string() }),
  daemon: DaemonInfo.nullable(),
  /** True while a daemon is working on this project. */
  running: z.boolean(),
  /** No work is left that does not need a person. */
  idle: z.boolean(),
  tasks: z.record(z.string(), z.number()),
  total: z.number(),
  /** Where tasks come from: what is under way there. */
  sources: z
    .object({
      ideas: z.number(),
      specs: z.number(),
      feedback: z.number(),
      proposals: z.number(),
      /** Issues that wait for a person before they become tasks. */
      issues: z.number().default(0),
    })
    .default({ ideas: 0, specs: 0, feedback: 0, proposals: 0, issues: 0 }),
  /** Where landed work goes, in the order of the settings. */
  environments: z.array(EnvironmentState).default([]),
  workers: z.array(WorkerView),
  /** The `prepare` steps that run now. */
  preparing: z.array(z.object({ step: z.string(), elapsedMs: z.number() })).default([]),
  needsYou: z.array(NeedsYou),
  /** Open questions, the most urgent first; at most 20. */
  questions: z.array(QuestionView).default([]),
  gates: z.array(z.string()),
  sandbox: SandboxView,
  /** The project's account, and the one of all projects together. */
  budget: z.object({ project: AccountView, all: AccountView }).optional(),
  /** How many things wait for a person, and how many of them are conflicts. */
  inbox: z.number().default(0),
  conflicts: z.number().default(0),
  /** Open alerts, the worst first; at most 5. */
  alerts: z.array(InboxItem).default([]),
  /** Why no new work starts, a sentence each. */
  holds: z.array(z.string()).default([]),
  /** Notes on its settings: replaced values, a changed file that cannot be used. */
  warnings: z.array(z.string()).default([]),
  lastSeq: z.number(),
});
export type ProjectStatus = z.infer<typeof ProjectStatus>;

export const Finding = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warning', 'problem']),
  text: z.string(),
  hint: z.string(),
});
export type Finding = z.infer<typeof Finding>;

export const Verification = z.object({
  commit: z.string(),
  subject: z.string(),
  task: z.number().nullable(),
  tree: z.string(),
  ok: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), text: z.string() })),
});
export type Verification = z.infer<typeof Verification>;

export const SnapshotView = z.object({
  ref: z.string(),
  number: z.number(),
  at: z.number(),
  why: z.string(),
  commit: z.string(),
});

/** The prompt an agent would get now, and the settings of its template; null leaves them to the agent and the mode. */
export const PromptView = z.object({
  number: z.number(),
  mode: Mode,
  prompt: z.string(),
  promptTokens: z.number(),
  dropped: z.array(z.string()),
  model: z.string().nullable(),
  tools: z.array(z.string()).nullable(),
  maxTurns: z.number().nullable(),
  timeoutMs: z.number().nullable(),
});
export type PromptView = z.infer<typeof PromptView>;

/** A piece of a run's output; `offset` is where the next piece starts, in bytes. */
export const LogChunk = z.object({ offset: z.number(), text: z.string() });
export type LogChunk = z.infer<typeof LogChunk>;

/** What a search found in one log. A log is never returned whole. */
export const LogSearch = z.object({
  kind: z.enum(['run', 'gate', 'file']),
  /** The run, the receipt, or the path. */
  id: z.string(),
  /** The mode of the run, or the name of the gate. */
  label: z.string(),
  bytes: z.number(),
  /** How many lines match; without words, how many there are. */
  matches: z.number(),
  lines: z.array(z.object({ line: z.number(), text: z.string() })),
  /** Where the search goes on, in bytes; null at the end. */
  next: z.number().nullable(),
  /** Why there is nothing to search. */
  note: z.string().nullable().default(null),
});
export type LogSearch = z.infer<typeof LogSearch>;
