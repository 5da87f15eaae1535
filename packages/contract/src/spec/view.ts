import { z } from 'zod';
import { QuestionView } from '../task/view.ts';
import { SpecTask } from './draft.ts';
import { Gotcha, Spec, SpecComment, SpecVersion } from './spec.ts';

/** Shapes of specifications for readers. */

const Readiness = z.object({
  score: z.number(),
  missing: z.array(z.object({ name: z.string(), weight: z.number(), advice: z.string() })),
  isReady: z.boolean(),
});

/** A task of the document, with what became of it. */
export const SpecTaskView = SpecTask.extend({
  readiness: Readiness,
  gotchas: z.array(Gotcha),
  /** The task that was made of it; null before approval. */
  number: z.number().nullable(),
  stage: z.string().nullable(),
  landedCommit: z.string().nullable(),
  /** Gates that passed on exactly what landed. */
  gates: z.array(z.string()),
  /** Criteria that its reviewer found met, of all. */
  met: z.number(),
});
export type SpecTaskView = z.infer<typeof SpecTaskView>;

export const RequirementView = z.object({
  id: z.string(),
  kind: z.string(),
  text: z.string(),
  /** The document's names of its tasks. */
  tasks: z.array(z.string()),
  done: z.number(),
  total: z.number(),
  /** The judge's verdict; null before. */
  met: z.boolean().nullable(),
  evidence: z.string(),
});
export type RequirementView = z.infer<typeof RequirementView>;

export const SpecSummary = Spec.pick({
  id: true,
  number: true,
  title: true,
  status: true,
  why: true,
  version: true,
  createdAt: true,
  endedAt: true,
}).extend({
  source: Spec.shape.source.shape.kind,
  tasks: z.number(),
  done: z.number(),
  /** Blocking questions that are open. */
  questions: z.number(),
});
export type SpecSummary = z.infer<typeof SpecSummary>;

export const SpecDetail = z.object({
  spec: Spec,
  /** The version shown; null before the first. */
  version: SpecVersion.pick({ version: true, by: true, at: true, draft: true }).nullable(),
  versions: z.array(SpecVersion.pick({ version: true, by: true, at: true }).extend({ comments: z.number() })),
  comments: z.array(SpecComment),
  /** What the critic found in the version shown. Null: no critic has read it yet, or none was asked. */
  critique: Spec.shape.critique,
  /** `spec.md` and `tasks.md` as one text; comments name its lines. */
  document: z.string(),
  requirements: z.array(RequirementView),
  /** In the order in which they are built. */
  tasks: z.array(SpecTaskView),
  /** Its questions that are open or have an answer. */
  questions: z.array(z.object({ ref: z.string(), text: z.string(), type: z.string(), answer: z.string().nullable() })),
  /** Those that wait for an answer, the most urgent first. */
  openQuestions: z.array(QuestionView),
});
export type SpecDetail = z.infer<typeof SpecDetail>;
