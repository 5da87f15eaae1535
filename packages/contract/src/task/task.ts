import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { MetConflicts } from '../conflict/conflict.ts';
import { ComingConflict } from '../forecast/forecast.ts';
import { PullRequestRef } from '../forge/pull-request.ts';
import { OldChecks } from '../gate/old-checks.ts';
import { HandOff } from '../hand-off/hand-off.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';
import { Lease, Role } from '../worker/worker.ts';
import { Declarations, HilConfig, HilSetting, MatterContents } from './autonomy.ts';

export const TaskKind = z.enum(['feature', 'bug', 'chore', 'improvement']);
export type TaskKind = z.infer<typeof TaskKind>;

/** 0 is the most urgent. */
export const Priority = z.number().int().min(0).max(4);

/** Where a task comes from, when nobody added it by hand. `id`: the specification, feedback, proposal or tracker item. */
export const TaskOrigin = z.object({
  kind: z.enum(['person', 'spec', 'feedback', 'loop', 'tracker']),
  id: z.string(),
  /** The requirements of the specification that it serves. */
  requirements: z.array(z.string()).optional(),
  /** The loop's category. */
  category: z.string().optional(),
  /** Of an item of a tracker: its key, its address, who wrote it, and whether that person may push. */
  key: z.string().optional(),
  url: z.string().optional(),
  author: z.string().optional(),
  isTrusted: z.boolean().optional(),
});
export type TaskOrigin = z.infer<typeof TaskOrigin>;

export const Criterion = z.object({
  id: z.string(),
  text: z.string(),
  /** The last reviewer's verdict; null before the first review. */
  met: z.boolean().nullable().default(null),
  evidence: z.string().default(''),
  /** A reviewer derived it from the title and the description, because nobody had written any. */
  isDerived: z.literal(true).optional(),
});
export type Criterion = z.infer<typeof Criterion>;

/** What one run passes to the next: summaries, review feedback, a person's note. */
export const ContextEntry = z.object({
  runId: z.string().nullable(),
  source: z.enum(['agent', 'reviewer', 'engine', 'person']),
  entryType: z.string(),
  summary: z.string().max(8000),
  /** The agent's own summary, without the lists of a hand-off: it is a part of the commit's message. */
  said: z.string().optional(),
  at: z.number(),
  /** The person, if known. */
  by: Actor.optional(),
});
export type ContextEntry = z.infer<typeof ContextEntry>;

/** What an agent must address in its next run: gate output, review comments, conflicting files. */
export const Feedback = z.object({
  kind: z.enum(['gate', 'review', 'conflict', 'person', 'agent', 'result']),
  text: z.string(),
  files: z.array(z.string()).default([]),
  /** It shows only with the newest target merged in: the target is merged into the worktree before the agent starts. */
  needsTarget: z.boolean().optional(),
  /** Of a person, and no builder was told yet: it stays until one is, whatever becomes of a run that has already begun. */
  isUnread: z.boolean().optional(),
});
export type Feedback = z.infer<typeof Feedback>;

export const BlockReason = z.enum([
  'validation',
  'review_escalation',
  'no_criteria',
  'no_changes',
  'conflict',
  'agent_failed',
  'unverified_gate',
  'no_transition',
  'time_limit',
  'no_progress',
  'skipped',
]);
export type BlockReason = z.infer<typeof BlockReason>;

/** The candidate commit recorded before the target moves, so that recovery can find it after a crash. */
export const PreparedMerge = z.object({
  commit: z.string(),
  tree: z.string(),
  base: z.string(),
  /** Where the target moves to: the last commit of the batch. Absent: the commit itself. */
  lands: z.string().optional(),
});
export type PreparedMerge = z.infer<typeof PreparedMerge>;

export const TaskCounters = z.object({
  /** Failures since the last success, by class; verify, merge and conflict count until a person intervenes. */
  failures: z.record(z.string(), z.number()).default({}),
  reviewCycles: z.number().default(0),
  interruptions: z.number().default(0),
  /** How often the same failure occurred, by fingerprint; only a person resets them. */
  fingerprints: z.record(z.string(), z.number()).default({}),
});

export const Task = z.object({
  id: z.string(),
  projectId: z.string(),
  number: z.number().int(),
  title: z.string(),
  body: z.string(),
  kind: TaskKind,
  pipeline: z.string(),
  stage: z.string(),
  stageSince: z.number(),
  /** The role the stage needs; null when no worker can act. */
  role: Role.nullable(),
  criteria: z.array(Criterion),
  files: z.array(z.string()),
  dependsOn: z.array(z.string()),
  /** Dependencies not done yet; maintained in the transaction that finishes one, so that "ready" is an index. */
  unmet: z.number().int(),
  priority: Priority,
  createdAt: z.number(),
  lease: Lease.nullable(),
  /** Grows with each claim; a write that carries an older one is refused. */
  fence: z.number().int(),
  branch: z.string(),
  /** The engine's last commit on the branch and its tree, if any. */
  head: z.object({ commit: z.string(), tree: z.string() }).nullable(),
  builders: z.array(z.string()),
  counters: TaskCounters,
  rework: z.boolean(),
  feedback: z.array(Feedback),
  context: z.array(ContextEntry),
  /** What the last run passed on; null when nothing was, or when it is no longer valid. */
  handOff: HandOff.nullable().default(null),
  plan: z.string(),
  subtasks: z.array(z.string()),
  /** Where a parked task resumes. */
  resumeStage: z.string().nullable(),
  blocked: z.object({ reason: BlockReason, text: z.string() }).nullable(),
  /** Open questions that hold the task: it continues when all of them are answered. */
  openQuestions: z.array(z.object({ id: z.string(), text: z.string() })),
  /** Questions about this task, by fingerprint: none is asked twice within a day. */
  asked: z.record(z.string(), z.object({ questionId: z.string(), at: z.number() })).default({}),
  /** The number of questions about it so far. */
  questionCount: z.number().int().default(0),
  /** Matters that a person has approved for this task. */
  approved: z.array(HilConfig.keyof()).default([]),
  /** And the content they approved, where files show it. */
  approvedContents: MatterContents.default({}),
  /** And the decisions they approved, where the agent declared them. */
  approvedDeclared: Declarations.default({}),
  /** What the last plan declares. */
  declared: Declarations.default({}),
  /** Contents of changed checks that a person approved; see `checks` of an approval. */
  approvedChecks: z.array(z.string()).default([]),
  /** What the target's versions of changed checks said about the work, the newest last. */
  oldChecks: z.array(OldChecks).default([]),
  /** Losses of a merge that a person accepted; see `content` of a loss. */
  acceptedLosses: z.array(z.string()).default([]),
  /** Overrides the project's autonomy. */
  hilConfig: HilConfig.nullable().default(null),
  /** Gates that fail on the target itself and that this task repairs. */
  repairs: z.array(z.string()).default([]),
  /** The command that shows that it is done, from an approved specification. It is the task's own gate; empty: none. */
  validate: z.string().default(''),
  /** How long agents should need for it, as its specification says. */
  estimateMinutes: z.number().nullable().default(null),
  /** Null: a person added it. */
  origin: TaskOrigin.nullable().default(null),
  /** The only worker that may take it, if a person assigned it. */
  assignee: z.string().nullable().default(null),
  /** Set while a stage cannot continue because of a person's work, such as a dirty checkout. */
  waiting: z.string().nullable(),
  /** Until then a person lets it be silent: it is neither interrupted nor asked about. */
  leftAloneUntil: z.number().default(0),
  notBefore: z.number(),
  prepared: PreparedMerge.nullable(),
  /** Its branch was pushed as this, for others to merge. Null when it is not, or has changed since. */
  offered: z
    .object({
      commit: z.string(),
      tree: z.string(),
      name: z.string(),
      at: z.number().default(0),
      /** It was put into the forge's merge queue. This was its last removal from there before; empty: none. */
      queuedAfter: z.string().optional(),
    })
    .nullable()
    .default(null),
  /** Its pull request, if it lands by one. */
  pull: PullRequestRef.nullable().default(null),
  /** What a person decided about its pull request; see `pull` of an approval. */
  approvedPulls: z.array(z.string()).default([]),
  /** Who is settling the conflict, until the merge commit is recorded. */
  settling: z
    .object({ by: Actor, at: z.number(), accepts: z.array(z.string()).default([]) })
    .nullable()
    .default(null),
  /** Null while it met no conflict. */
  conflicts: MetConflicts.nullable().default(null),
  landedCommit: z.string().nullable(),
  /** Conflicts that will come when it lands as it is. */
  forecast: z.array(ComingConflict).default([]),
  lastRunId: z.string().nullable(),
  /** Runs so far, by mode. */
  runs: z.record(z.string(), z.number()),
});
export type Task = z.infer<typeof Task>;

/** When a task was created and ended, and its number of runs, for figures. */
export const TaskSpan = Task.pick({ id: true, number: true, stage: true, createdAt: true, stageSince: true }).extend({
  /** Runs so far, of all modes. */
  runs: z.number().int(),
});
export type TaskSpan = z.infer<typeof TaskSpan>;

/** A person's input for a new task. `after` holds task numbers. */
export const NewTask = z.strictObject({
  title: PlainLine.min(1, 'a task needs a title').max(300, 'a title has at most 300 characters'),
  body: PlainText.max(200_000).default(''),
  kind: TaskKind.default('feature'),
  pipeline: z.string().optional(),
  accept: z.array(PlainText.trim().min(1)).default([]),
  files: z.array(z.string().min(1)).default([]),
  after: z.array(z.number().int().positive()).default([]),
  priority: Priority.default(2),
  hilConfig: HilSetting.optional(),
  /** Gates that fail on the target itself and that this task repairs. */
  repairs: z.array(z.string().min(1)).default([]),
});
export type NewTask = z.input<typeof NewTask>;

/** What a person may change in an unfinished task. Missing fields stay. */
export const TaskEdit = z.strictObject({
  title: NewTask.shape.title.optional(),
  body: PlainText.max(200_000).optional(),
  accept: z.array(PlainText.trim().min(1)).optional(),
  files: z.array(z.string().min(1)).optional(),
  priority: Priority.optional(),
  /** Empty: the task has no gate of its own any more. */
  validate: PlainLine.trim().max(500).optional(),
});
export type TaskEdit = z.infer<typeof TaskEdit>;
