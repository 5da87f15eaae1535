import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

/** Runs that one replay may ask for: tasks × variants × repetitions. */
export const MOST_REPLAY_RUNS = 600;
export const MOST_VARIANTS = 4;
export const DEFAULT_REPLAY_USD = 5;

/** A landed task of this repository, as it was before its change. */
export const RecordedTask = z.object({
  taskId: z.string(),
  number: z.number().int(),
  title: z.string(),
  /** The commit that its work was based on, and the commit that landed. */
  base: z.string(),
  commit: z.string(),
  /** The files that the landed change touched. */
  files: z.array(z.string()),
  landedAt: z.number(),
});
export type RecordedTask = z.infer<typeof RecordedTask>;

/** A lesson as it is tried: it does not change while its replay runs. */
export const TriedLesson = z.object({
  /** Null: a placebo, which says nothing useful. */
  lessonId: z.string().nullable(),
  /** `L7`, or `placebo`. */
  ref: z.string(),
  version: z.number().int(),
  text: z.string(),
  why: z.string().default(''),
});
export type TriedLesson = z.infer<typeof TriedLesson>;

/** One of the ways in which the tasks are done again. The first variant is what the others are compared with. */
export const ReplayVariant = z.object({
  name: z.string(),
  /** An entry of `agents`. Null: the one that builds usually. */
  agent: z.string().nullable(),
  /** A text that takes the place of the builder's prompt. */
  prompt: z.string().nullable(),
  lessons: z.array(TriedLesson),
});
export type ReplayVariant = z.infer<typeof ReplayVariant>;

/** What a replay is for: a person's comparison, or the trial of a lesson or a prompt. `id` names the lesson or the change. */
export const ReplayPurpose = z.object({ kind: z.enum(['bench', 'lesson', 'prompt']), id: z.string().nullable() });
export type ReplayPurpose = z.infer<typeof ReplayPurpose>;

/** A share with its 95 % confidence interval (Wilson). */
export const Share = z.object({ value: z.number(), low: z.number(), high: z.number() });
export type Share = z.infer<typeof Share>;

/** A mean with its 95 % confidence interval. Null where nothing was reported. */
export const Mean = z.object({ value: z.number(), low: z.number(), high: z.number() });
export type Mean = z.infer<typeof Mean>;

export const VariantFigures = z.object({
  name: z.string(),
  /** Runs with a result. */
  runs: z.number().int(),
  /** Runs that say nothing about the variant: the machine, the vendor or the recorded state was the cause. */
  void: z.number().int(),
  passed: z.number().int(),
  passRate: Share.nullable(),
  /** All gates passed at the first try, without being sent back. */
  firstTry: z.number().int(),
  firstTryRate: Share.nullable(),
  costUsd: Mean.nullable(),
  tokens: Mean.nullable(),
  durationMs: Mean.nullable(),
});
export type VariantFigures = z.infer<typeof VariantFigures>;

/** A variant against the first one, on the same tasks. */
export const PairedFigures = z.object({
  name: z.string(),
  /** Pairs in which both runs have a result. */
  pairs: z.number().int(),
  /** Pairs in which only this variant, or only the first one, passed at the first try. */
  better: z.number().int(),
  worse: z.number().int(),
  /** The difference of the shares that passed at the first try, with its 95 % confidence interval. */
  gain: Share.nullable(),
  /** How likely so many better pairs are if the variants are equal (one-sided sign test). */
  p: z.number(),
  /** The same for so many worse pairs. */
  pWorse: z.number(),
  /** Pairs in which only this variant, or only the first one, passed at all. */
  passedMore: z.number().int(),
  passedLess: z.number().int(),
  /** Its cost divided by that of the first one. */
  costRatio: z.number().nullable(),
});
export type PairedFigures = z.infer<typeof PairedFigures>;

export const ReplayReport = z.object({ variants: z.array(VariantFigures), pairs: z.array(PairedFigures) });
export type ReplayReport = z.infer<typeof ReplayReport>;

/**
 *   running ──all runs ended──▶ done
 *      └──stopped by a person, its money is spent──▶ stopping ──its jobs are ended──▶ stopped
 */
export const ReplayStatus = z.enum(['running', 'stopping', 'done', 'stopped']);
export type ReplayStatus = z.infer<typeof ReplayStatus>;

/** Recorded tasks that are done again, in isolation. Nothing of it lands. */
export const Replay = z.object({
  noun: z.literal('replay'),
  id: z.string(),
  projectId: z.string(),
  /** Shown as R3. */
  number: z.number().int(),
  purpose: ReplayPurpose,
  variants: z.array(ReplayVariant),
  /** Chosen before the first run, and not changed afterwards. */
  tasks: z.array(RecordedTask),
  /** How often each task is done in each variant. */
  repeats: z.number().int(),
  /** The gates run with the tests of the landed change. */
  withLandedTests: z.boolean(),
  limitUsd: z.number(),
  status: ReplayStatus,
  /** Why it was stopped. */
  why: z.string(),
  report: ReplayReport.nullable(),
  spentUsd: z.number(),
  by: Actor,
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Replay = z.infer<typeof Replay>;
export const replayKind = recordKind(Replay, ({ projectId, status }) => ({
  parent: projectId,
  isOpen: status === 'running' || status === 'stopping',
  dueAt: null,
}));
export const replayRef = (number: number) => `R${number}`;

/** What one run of a replay showed. The engine's gates decide, whatever the agent says. */
export const ReplayResult = z.object({
  verdict: z.enum(['passed', 'failed', 'void']),
  /** How often the agent handed in work. 1: the gates passed or failed at the first try. */
  tries: z.number().int(),
  isFirstTry: z.boolean(),
  /** The gates that failed last. */
  gates: z.array(z.string()),
  why: z.string(),
  runId: z.string().nullable(),
  costUsd: z.number().nullable(),
  tokens: z.number(),
  durationMs: z.number(),
});
export type ReplayResult = z.infer<typeof ReplayResult>;

/** A recorded task, done once in one variant. */
export const ReplayRun = z.object({
  noun: z.literal('replay_run'),
  id: z.string(),
  projectId: z.string(),
  replayId: z.string(),
  taskId: z.string(),
  /** Positions in the replay's lists, from 0. */
  variant: z.number().int(),
  repeat: z.number().int(),
  jobId: z.string(),
  result: ReplayResult.nullable(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type ReplayRun = z.infer<typeof ReplayRun>;
export const replayRunKind = recordKind(ReplayRun, ({ replayId, result }) => ({
  parent: replayId,
  isOpen: result === null,
  dueAt: null,
}));
/** The same for a repetition of the request, which then changes nothing. */
export const replayRunId = (replayId: string, taskId: string, variant: number, repeat: number): string =>
  `${replayId}/${taskId}/${variant}/${repeat}`;

/** What a person asks for. Lists that are left out: the newest tasks, the usual agent, the prompt as it is. */
export const ReplayOrder = z.strictObject({
  /** Task numbers. */
  tasks: z.array(z.number().int().positive()).max(200).optional(),
  /** How many of the newest, when no numbers are given. */
  last: z.number().int().min(1).max(200).default(10),
  agents: z
    .array(z.string().min(1).max(100))
    .max(MOST_VARIANTS, `compares at most ${MOST_VARIANTS} agents`)
    .default([]),
  /** A builder's prompt to compare with the one in use. */
  prompt: PlainText.max(100_000).optional(),
  /** A lesson, such as L7: without it, with it, and with a placebo, on tasks that it was not learned from. */
  lesson: PlainLine.min(1).max(50).optional(),
  repeats: z.number().int().min(1).max(20).default(1),
  withLandedTests: z.boolean().default(false),
  limitUsd: z.number().positive('is more than 0 USD').max(10_000).default(DEFAULT_REPLAY_USD),
});
export type ReplayOrder = z.infer<typeof ReplayOrder>;

export const ReplayView = Replay.omit({ noun: true, variants: true }).extend({
  ref: z.string(),
  variants: z.array(z.string()),
  /** Runs that have ended, and all of them. */
  ended: z.number().int(),
  planned: z.number().int(),
  /** So far, while it runs. */
  report: ReplayReport,
});
export type ReplayView = z.infer<typeof ReplayView>;

export const ReplayDetail = ReplayView.extend({
  runs: z.array(
    ReplayRun.pick({ id: true, variant: true, repeat: true, result: true }).extend({
      task: z.number().int(),
      title: z.string(),
    }),
  ),
});
export type ReplayDetail = z.infer<typeof ReplayDetail>;

/** A landed task and whether it can be done again. */
export const RecordedTaskView = RecordedTask.partial({ base: true }).extend({
  /** Why not; null when it can. */
  unusable: z.string().nullable(),
});
export type RecordedTaskView = z.infer<typeof RecordedTaskView>;
