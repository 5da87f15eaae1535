import { z } from 'zod';
import { Lesson, LessonKind, LessonStage, LessonUse } from './lesson.ts';

export const LessonView = Lesson.omit({ noun: true }).extend({
  /** Of the runs that were given it and could be measured, the share that ended well, with its bounds. */
  rate: z.object({ share: z.number(), low: z.number(), high: z.number() }).nullable(),
  /** The share of comparable runs without it that ended well. */
  baseRate: z.number(),
  /** Not handed out for 90 days. */
  isUnused: z.boolean(),
  /** Whether runs get it now, and why not. */
  state: z.string(),
});
export type LessonView = z.infer<typeof LessonView>;

export const LessonUseView = LessonUse.pick({ runId: true, taskId: true, verdict: true, why: true, at: true }).extend({
  taskNumber: z.number().int().nullable(),
  taskTitle: z.string(),
  /** It was held back in this run, as a control. */
  isHeldBack: z.boolean(),
});
export type LessonUseView = z.infer<typeof LessonUseView>;

export const LessonDetail = LessonView.extend({
  /** Newest first. */
  uses: z.array(LessonUseView),
  /** The tasks that it was learned from. */
  tasks: z.array(z.object({ number: z.number().int(), title: z.string() })),
  supersedes: z.array(z.string()),
});
export type LessonDetail = z.infer<typeof LessonDetail>;

/** A lesson as an agent gets it. */
export const KnownLesson = z.object({
  /** `L7`, or `gotchas.yaml`. */
  ref: z.string(),
  lessonId: z.string().nullable(),
  kind: LessonKind,
  text: z.string(),
  why: z.string(),
  confidence: z.number(),
  /** Null for the project's own file. */
  stage: LessonStage.nullable(),
});
export type KnownLesson = z.infer<typeof KnownLesson>;

export const KnowledgeAnswer = z.object({
  lessons: z.array(KnownLesson),
  /** An estimate of the tokens that they take. */
  tokens: z.number().int(),
  /** How many more fit. */
  more: z.number().int(),
});
export type KnowledgeAnswer = z.infer<typeof KnowledgeAnswer>;

/** What was learned in a week. */
export const MemorySummary = z.object({
  from: z.number(),
  to: z.number(),
  gotchas: z.number().int(),
  patterns: z.number().int(),
  preferences: z.number().int(),
  /** Seen again in other work. */
  confirmed: z.number().int(),
  retired: z.number().int(),
  /** Put into a file of instructions. */
  promoted: z.number().int(),
  /** In use now. */
  active: z.number().int(),
  byStage: z.record(z.string(), z.number()),
  /** Runs that were given lessons, and how they ended. */
  uses: z.object({ runs: z.number().int(), helped: z.number().int(), hurt: z.number().int() }),
  /** Not handed out for 90 days. */
  unused: z.number().int(),
  /** The most useful one, in words; empty without one. */
  top: z.string(),
});
export type MemorySummary = z.infer<typeof MemorySummary>;

/** A lesson on its way into a file of instructions. */
export const PromotedLesson = z.object({
  lesson: z.number().int(),
  file: z.string(),
  task: z.object({ number: z.number().int(), title: z.string() }),
});
export type PromotedLesson = z.infer<typeof PromotedLesson>;
