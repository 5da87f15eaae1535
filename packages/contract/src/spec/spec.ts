import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';
import { SpecAction, SpecDraft, SpecKey, SpecPhase, SpecText } from './draft.ts';

export const RequirementVerdict = z.object({
  requirement: SpecKey,
  met: z.boolean(),
  /** Where the landed code shows it, or what is missing. */
  evidence: SpecText.default(''),
});
export type RequirementVerdict = z.infer<typeof RequirementVerdict>;

/** What a judging run says about a built specification. */
export const SpecJudgement = z.object({ requirements: z.array(RequirementVerdict).min(1) });
export type SpecJudgement = z.infer<typeof SpecJudgement>;

/** What a critic found in a draft. */
export const SpecFinding = z.object({
  /** The task it is about; empty: the whole specification. */
  task: PlainLine.max(20).default(''),
  /** `serious`: what is built would be wrong, or cannot be built. */
  severity: z.enum(['serious', 'minor']).default('minor'),
  text: PlainText.trim().min(1).max(2_000),
});
export type SpecFinding = z.infer<typeof SpecFinding>;

/** What a critic says about a draft. Empty: nothing is wrong with it. */
export const SpecCritique = z.object({ findings: z.array(SpecFinding).max(30).default([]) });
export type SpecCritique = z.infer<typeof SpecCritique>;

export const SpecStatus = z.enum([
  'drafting',
  'asking',
  'draft',
  'approved',
  'building',
  'checking',
  'done',
  'rejected',
  'aborted',
  'failed',
]);
export type SpecStatus = z.infer<typeof SpecStatus>;

/** `mvp`: the smallest version that someone can use. `full`: everything that belongs to it. */
export const TargetComplexity = z.enum(['mvp', 'full']);
export type TargetComplexity = z.infer<typeof TargetComplexity>;

export const SpecSource = z.object({
  kind: z.enum(['idea', 'text', 'issue', 'file', 'initializer']),
  ideaId: z.string().nullable().default(null),
  /** What the person asked for, or the idea's brief. */
  text: z.string(),
  /** How much of it is wanted at first. Absent: the agent decides. */
  targetComplexity: TargetComplexity.optional(),
});
export type SpecSource = z.infer<typeof SpecSource>;

export const SpecTaskLink = z.object({
  /** The document's name for it. */
  key: z.string(),
  taskId: z.string(),
  phase: SpecPhase,
  requirements: z.array(z.string()),
});
export type SpecTaskLink = z.infer<typeof SpecTaskLink>;

export const Spec = z.object({
  noun: z.literal('spec'),
  id: z.string(),
  projectId: z.string(),
  number: z.number().int(),
  title: z.string(),
  source: SpecSource,
  status: SpecStatus,
  /** Why it has this status, where that is not obvious. */
  why: z.string().default(''),
  /** The newest version; 0 before the first. */
  version: z.number().int(),
  /** The job of the critic that reads the newest version. Null: none does. */
  criticJobId: z.string().nullable().default(null),
  /** What a critic found in a version. `why`: the reason if no critic read it. */
  critique: SpecCritique.extend({ version: z.number().int(), why: z.string() }).nullable().default(null),
  /** Rounds of questions before the version. */
  rounds: z.number().int().default(0),
  /** The tasks of the approved version. */
  tasks: z.array(SpecTaskLink),
  approved: z
    .object({
      version: z.number().int(),
      by: Actor,
      at: z.number(),
      /** Tasks that were not ready and that a person approved nevertheless. */
      overridden: z.array(z.string()),
    })
    .nullable(),
  /** When its building began, or continued. */
  buildingSince: z.number().nullable(),
  /** Who stopped it; null when it was not. */
  stoppedBy: Actor.nullable().default(null),
  /** Tasks that were cancelled because the building was aborted. */
  held: z.array(z.string()).default([]),
  /** Requirements of which no task has landed when the check began. */
  unbuilt: z.array(z.string()).default([]),
  verdicts: z.array(RequirementVerdict).default([]),
  by: Actor,
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Spec = z.infer<typeof Spec>;

export const SpecComment = z.object({
  /** A line of the document; 0 is about all of it. */
  line: z.number().int().nonnegative(),
  /** That line, so that the comment can be understood without the document. */
  quote: z.string().default(''),
  text: z.string(),
  by: Actor,
  at: z.number(),
});
export type SpecComment = z.infer<typeof SpecComment>;

export const SpecVersion = z.object({
  noun: z.literal('spec_version'),
  id: z.string(),
  projectId: z.string(),
  specId: z.string(),
  version: z.number().int(),
  draft: SpecDraft,
  /** Who wrote it. */
  by: Actor,
  comments: z.array(SpecComment),
  at: z.number(),
});
export type SpecVersion = z.infer<typeof SpecVersion>;

export const specVersionId = (specId: string, version: number) => `spec_version/${specId}/${version}`;

const ENDED: readonly SpecStatus[] = ['done', 'rejected'];
/** Whether something may still happen to it. */
export const isOpenSpec = ({ status }: Pick<Spec, 'status'>): boolean => !ENDED.includes(status);

export const specKind = recordKind(Spec, (spec) => ({
  parent: spec.projectId,
  isOpen: isOpenSpec(spec),
  dueAt: null,
}));
export const specVersionKind = recordKind(SpecVersion, ({ specId }) => ({
  parent: specId,
  isOpen: false,
  dueAt: null,
}));

/** What is known to go wrong with some files or actions. */
export const Gotcha = z.object({
  text: PlainText.min(1).max(2_000),
  /** A glob of files it is about; empty: any. */
  files: PlainLine.max(500).default(''),
  action: SpecAction.nullable().default(null),
  confidence: z.number().min(0).max(1).default(0.7),
});
export type Gotcha = z.infer<typeof Gotcha>;
