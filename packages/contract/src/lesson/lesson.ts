import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { SpecAction } from '../spec/draft.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';
import { PromotionConfig, ReflectionConfig } from './config.ts';

export const LessonKind = z.enum(['gotcha', 'pattern', 'preference']);
export type LessonKind = z.infer<typeof LessonKind>;

/**
 *   experiment ──seen twice──▶ validated ──paired replay shows a gain──▶ production
 *        ▲                         │                                         │
 *        └──────── figures fall ───┴──────────────── figures fall ───────────┘
 *   any of them ──does harm, or a person says so──▶ retired ──restored──▶ experiment
 */
export const LessonStage = z.enum(['experiment', 'validated', 'production', 'retired']);
export type LessonStage = z.infer<typeof LessonStage>;

const FilePattern = PlainLine.min(1)
  .max(200)
  .refine(
    (glob) => !glob.startsWith('/') && !/^[a-z]:/i.test(glob) && !glob.split('/').includes('..'),
    'is a path or a glob inside the repository, such as src/api/**',
  );

/** What somebody wants to be remembered. */
export const LessonDraft = z.strictObject({
  kind: LessonKind.default('gotcha'),
  text: PlainText.trim().min(1, 'says what to do or to avoid').max(600, 'a lesson has at most 600 characters'),
  /** What happens otherwise. */
  why: PlainText.trim().max(600, 'a reason has at most 600 characters').default(''),
  /** It is given to work on files that match one of them. */
  filePatterns: z.array(FilePattern).max(10, 'has at most 10 file patterns').default([]),
  action: SpecAction.nullable().default(null),
  topics: z.array(PlainLine.min(1).max(40)).max(10, 'has at most 10 topics').default([]),
  /** `all`: useful in other repositories too. */
  scope: z.enum(['project', 'all']).default('project'),
});
export type LessonDraft = z.infer<typeof LessonDraft>;

const fields = LessonDraft.shape;
/** What is left out stays as it is. */
export const LessonChange = z.strictObject({
  text: fields.text.optional(),
  why: fields.why.unwrap().optional(),
  filePatterns: fields.filePatterns.unwrap().optional(),
  action: fields.action.unwrap().optional(),
  topics: fields.topics.unwrap().optional(),
  scope: fields.scope.unwrap().optional(),
});
export type LessonChange = z.infer<typeof LessonChange>;

/** Where a lesson comes from. */
export const LessonOrigin = z.object({
  traceIds: z.array(z.string()).max(100).default([]),
  taskIds: z.array(z.string()).max(100).default([]),
  runId: z.string().nullable().default(null),
  by: Actor,
});
export type LessonOrigin = z.infer<typeof LessonOrigin>;

/** What a paired replay measured. Gains are differences of pass rates, from -1 to 1. */
export const LessonProof = z.object({
  replayId: z.string(),
  /** Tasks that were run with and without the lesson. */
  pairs: z.number().int().nonnegative(),
  gain: z.number().min(-1).max(1),
  /** The bounds of the gain. */
  low: z.number().min(-1).max(1),
  high: z.number().min(-1).max(1),
  /** What a lesson without content gained on the same tasks: the noise. */
  placeboGain: z.number().min(-1).max(1),
  costUsd: z.number().nonnegative().nullable(),
});
export type LessonProof = z.infer<typeof LessonProof>;

/** Runs that ended well, and all that could be measured. */
export const Tally = z.object({ good: z.number().int().nonnegative(), total: z.number().int().nonnegative() });
export type Tally = z.infer<typeof Tally>;

export const Lesson = LessonDraft.extend({
  noun: z.literal('lesson'),
  id: z.string(),
  projectId: z.string(),
  /** Its name for people is `L7`. */
  number: z.number().int(),
  /** From 0 to 1. Below LEAST_CONFIDENCE it is not handed out. */
  confidence: z.number().min(0).max(1),
  /** In how many tasks it was seen. */
  occurrences: z.number().int(),
  supersededBy: z.string().nullable(),
  stage: LessonStage,
  /** Grows when its text changes. */
  version: z.number().int(),
  origin: LessonOrigin,
  /** Runs that were given it, and how they ended: measured by gates and reviews. */
  injected: z.number().int(),
  helped: z.number().int(),
  hurt: z.number().int(),
  /** Runs that it fits and that were not given it: before it existed, or as a control. */
  control: Tally,
  /** How often somebody recorded the opposite. */
  contradicted: z.number().int(),
  lastUsedAt: z.number().nullable(),
  replayId: z.string().nullable(),
  proof: LessonProof.nullable(),
  /** The file of instructions that has it, and the task that put it there. */
  promoted: z.object({ file: z.string(), taskId: z.string() }).nullable(),
  retiredWhy: z.string().nullable(),
  createdAt: z.number(),
}).strip();
export type Lesson = z.infer<typeof Lesson>;

export const isActiveLesson = ({ stage, supersededBy }: Pick<Lesson, 'stage' | 'supersededBy'>) =>
  stage !== 'retired' && supersededBy === null;

export const lessonName = ({ number }: Pick<Lesson, 'number'>) => `L${number}`;

export const lessonKind = recordKind(Lesson, (lesson) => ({
  parent: lesson.projectId,
  isOpen: isActiveLesson(lesson),
  dueAt: null,
}));

/** What is wrong with a lesson. */
export const LessonFault = z.enum(['secret', 'weakens', 'instructs', 'graded', 'broad', 'generic']);
export type LessonFault = z.infer<typeof LessonFault>;

/** A project's counters of lessons. */
export const KnowledgeBase = z.object({
  noun: z.literal('knowledge'),
  id: z.string(),
  projectId: z.string(),
  nextLesson: z.number().int(),
  /** All runs whose result could be measured. */
  runs: Tally,
  /** When agents recorded the newest lessons, for the limit per day. */
  recorded: z.array(z.number()),
  /** The newest ones of agents that were refused. */
  refused: z.array(z.object({ at: z.number(), fault: z.string() })).default([]),
});
export type KnowledgeBase = z.infer<typeof KnowledgeBase>;

/** It sorts before the ids of lessons, so that every transaction locks it before them. */
export const knowledgeId = (projectId: string) => `knowledge/${projectId}`;
export const knowledgeKind = recordKind(KnowledgeBase, ({ projectId }) => ({
  parent: projectId,
  isOpen: false,
  dueAt: null,
}));

/** How the run of a use ended. `neither`: nothing could be measured. */
export const LessonVerdict = z.enum(['helped', 'hurt', 'neither']);
export type LessonVerdict = z.infer<typeof LessonVerdict>;

/** A run and the lessons it was given. Open until its result is known. */
export const LessonUse = z.object({
  noun: z.literal('lesson_use'),
  /** `lesson_use/<runId>`. */
  id: z.string(),
  projectId: z.string(),
  runId: z.string(),
  taskId: z.string(),
  files: z.array(z.string()),
  lessonIds: z.array(z.string()),
  /** Those that fit and were held back, as a control. */
  heldBackIds: z.array(z.string()),
  verdict: LessonVerdict.nullable(),
  /** What was measured. */
  why: z.string(),
  at: z.number(),
});
export type LessonUse = z.infer<typeof LessonUse>;

export const lessonUseId = (runId: string) => `lesson_use/${runId}`;
export const lessonUseKind = recordKind(LessonUse, ({ taskId, verdict }) => ({
  parent: taskId,
  isOpen: verdict === null,
  dueAt: null,
}));

/** Files that agents read at their start. */
export const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md'] as const;
export type InstructionFile = (typeof INSTRUCTION_FILES)[number];

/** Lessons of less confidence are not handed out. */
export const LEAST_CONFIDENCE = 0.6;
/** A run gets at most this many. */
export const MOST_LESSONS = 5;

export const LearningConfig = z.strictObject({
  /** Whether runs are given lessons, and new ones are recorded. */
  enabled: z.boolean().default(true),
  /** Whether lessons that no replay has proven are given to runs. Without them only those in production are. */
  experiments: z.boolean().default(true),
  reflection: ReflectionConfig.prefault({}),
  /** Paired replays that decide whether a lesson goes to production. */
  promotion: PromotionConfig.prefault({}),
});
export type LearningConfig = z.infer<typeof LearningConfig>;
