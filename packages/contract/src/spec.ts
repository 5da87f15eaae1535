import { z } from 'zod';
import { Actor } from './actor.ts';
import { PlainLine, PlainText } from './plain-text.ts';
import { recordKind } from './record-kind.ts';
import { TaskKind } from './task.ts';

/** The order in which parts of a specification are built. */
export const SPEC_PHASES = ['database', 'types', 'queries', 'api', 'ui', 'tests'] as const;
export const SpecPhase = z.enum(SPEC_PHASES);
export type SpecPhase = z.infer<typeof SpecPhase>;

/** What a task does to its files. Gotchas are found by it. */
export const SpecAction = z.enum(['create', 'update', 'delete', 'configure', 'verify']);
export type SpecAction = z.infer<typeof SpecAction>;

/** `R1`, `T12`: the document's own names. */
const Key = PlainLine.min(1).max(20);
const Line = PlainLine.max(500);
const Text = PlainText.trim().max(20_000);
const path = PlainLine.min(1).max(500);

export const SpecRequirement = z.object({
  id: Key,
  kind: z.enum(['functional', 'non_functional']).default('functional'),
  text: Text.min(1),
});
export type SpecRequirement = z.infer<typeof SpecRequirement>;

export const SpecFile = z.object({
  path,
  change: z.enum(['create', 'modify']).default('modify'),
  purpose: Line.default(''),
  /** The task that is responsible for it, or the people who own it. */
  owner: Line.default(''),
});
export type SpecFile = z.infer<typeof SpecFile>;

export const SpecTask = z.object({
  id: Key,
  title: PlainLine.min(1).max(300),
  kind: TaskKind.default('feature'),
  phase: SpecPhase,
  action: SpecAction.default('update'),
  /** What to do, in sentences. */
  detail: Text.default(''),
  files: z.array(path).default([]),
  dependsOn: z.array(Key).default([]),
  requirements: z.array(Key).default([]),
  /** Acceptance criteria. */
  accept: z.array(PlainText.trim().min(1).max(2_000)).max(50).default([]),
  /** The command that shows that it is done. */
  validate: Line.default(''),
  /** Code to start from, or the file to follow. */
  template: Text.default(''),
  estimateMinutes: z.number().int().positive().max(10_000).nullable().default(null),
});
export type SpecTask = z.infer<typeof SpecTask>;

/** A requirement that can be understood in several ways. */
export const SpecAmbiguity = z.object({
  requirement: Text.min(1),
  term: Line.min(1),
  options: z.array(Line.min(1)).max(10).default([]),
});
export type SpecAmbiguity = z.infer<typeof SpecAmbiguity>;

const Approach = z.object({
  name: Line.min(1),
  pros: z.array(Line).default([]),
  cons: z.array(Line).default([]),
  effort: Line.default(''),
});

/** Two ways to build something, between which a person decides. */
export const SpecArchitecture = z.object({ feature: Line.min(1), options: z.array(Approach).length(2) });
export type SpecArchitecture = z.infer<typeof SpecArchitecture>;

/** A specification as an agent returns it or a person writes it. */
export const SpecDraft = z.object({
  title: PlainLine.min(1).max(300),
  summary: Text.default(''),
  requirements: z.array(SpecRequirement),
  scope: z
    .object({ in: z.array(Line.min(1)).default([]), out: z.array(Line.min(1)).default([]) })
    .default({ in: [], out: [] }),
  architecture: Text.default(''),
  files: z.array(SpecFile).default([]),
  tasks: z.array(SpecTask),
  ambiguities: z.array(SpecAmbiguity).max(20).default([]),
  architectures: z.array(SpecArchitecture).max(5).default([]),
  /** What it needs from outside the project. */
  dependencies: z.array(Line.min(1)).max(100).default([]),
  risks: z.array(Line.min(1)).max(50).default([]),
});
export type SpecDraft = z.infer<typeof SpecDraft>;

export const RequirementVerdict = z.object({
  requirement: Key,
  met: z.boolean(),
  /** Where the landed code shows it, or what is missing. */
  evidence: Text.default(''),
});
export type RequirementVerdict = z.infer<typeof RequirementVerdict>;

/** What a judging run says about a built specification. */
export const SpecJudgement = z.object({ requirements: z.array(RequirementVerdict).min(1) });
export type SpecJudgement = z.infer<typeof SpecJudgement>;

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

export const SpecSource = z.object({
  kind: z.enum(['idea', 'text', 'issue', 'file', 'initializer']),
  ideaId: z.string().nullable().default(null),
  /** What the person asked for, or the idea's brief. */
  text: z.string(),
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
