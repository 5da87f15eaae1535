import { z } from 'zod';
import { LessonDraft } from '../lesson/lesson.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

/** How what was done differs from what was planned. Good ones are kept, bad ones are learned from. */
export const DIVERGENCES = {
  enhancement: 'good',
  optimisation: 'good',
  best_practice: 'good',
  scope_creep: 'bad',
  shortcut: 'bad',
  mistake: 'bad',
  deviation: 'bad',
  missed_requirement: 'bad',
  neutral: 'neutral',
} as const;
export const DivergenceKind = z.enum(Object.keys(DIVERGENCES) as [keyof typeof DIVERGENCES]);
export type DivergenceKind = z.infer<typeof DivergenceKind>;

export const Divergence = z.object({
  what: PlainText.trim().min(1).max(500),
  kind: DivergenceKind,
});
export type Divergence = z.infer<typeof Divergence>;

/** The first call: which assumption failed. It has no score: an agent does not rate itself. */
export const ReflectionResult = z.object({
  divergences: z.array(Divergence).max(10).default([]),
  assumption: PlainText.trim().min(20, 'says which assumption failed, in a sentence').max(600),
  /** What of the facts shows it: a gate, a file, a comment. */
  evidence: PlainText.trim().min(1, 'names the gate, the file or the comment that shows it').max(600),
});
export type ReflectionResult = z.infer<typeof ReflectionResult>;

/** The second call: how to prevent it. A lesson as anybody would record it. */
export const PreventionResult = z.object({
  kind: LessonDraft.shape.kind,
  text: LessonDraft.shape.text,
  why: LessonDraft.shape.why,
  filePatterns: LessonDraft.shape.filePatterns,
  action: LessonDraft.shape.action,
  topics: LessonDraft.shape.topics,
});
export type PreventionResult = z.infer<typeof PreventionResult>;

/** Figures of a task or a specification, counted and not judged. */
export const ReflectionMetrics = z.object({
  tasks: z.number().int(),
  /** Tasks that landed at the first try: no gate and no review sent them back. */
  firstPass: z.number().int(),
  /** Tasks that were given lessons, and those of them that landed at the first try. */
  taught: z.number().int(),
  taughtFirstPass: z.number().int(),
  durationMs: z.number(),
  tokens: z.number(),
});
export type ReflectionMetrics = z.infer<typeof ReflectionMetrics>;

/**
 *   reflecting ──▶ preventing ──▶ prevented ──▶ done: its lesson is recorded, known or refused
 *       └──────────────┴──▶ failed, or nothing learned
 */
export const ReflectionStatus = z.enum(['reflecting', 'preventing', 'prevented', 'done', 'failed']);
export type ReflectionStatus = z.infer<typeof ReflectionStatus>;

/** What can be learned from a task or a specification that ended otherwise than planned. */
export const Reflection = z.object({
  noun: z.literal('reflection'),
  id: z.string(),
  projectId: z.string(),
  about: z.object({ kind: z.enum(['task', 'spec']), id: z.string(), number: z.number().int(), title: z.string() }),
  /** Why it was worth it: `a gate sent the agent back twice`. */
  why: PlainLine,
  /** What happened, from the log: planned and done, gates, reviews. */
  facts: z.string(),
  files: z.array(z.string()),
  traceIds: z.array(z.string()),
  metrics: ReflectionMetrics,
  status: ReflectionStatus,
  result: ReflectionResult.nullable(),
  prevention: PreventionResult.nullable(),
  /** The run that wrote the prevention. */
  runId: z.string().nullable(),
  lessonId: z.string().nullable(),
  /** What became of it. */
  outcome: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Reflection = z.infer<typeof Reflection>;

export const reflectionKind = recordKind(Reflection, ({ about, status }) => ({
  parent: about.id,
  isOpen: status !== 'done' && status !== 'failed',
  dueAt: null,
}));

/** The same for each ending of a task or a specification, so that a repetition changes nothing. */
export const reflectionId = (subjectId: string, endedAt: number) => `reflection_${subjectId}_${endedAt}`;

/** The longest facts that an agent gets. */
export const MOST_FACTS = 6_000;

export const ReflectionView = Reflection.omit({ noun: true, facts: true }).extend({
  lesson: z.string().nullable(),
});
export type ReflectionView = z.infer<typeof ReflectionView>;
