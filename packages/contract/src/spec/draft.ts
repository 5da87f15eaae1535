import { z } from 'zod';
import { strictObjectWithHints } from '../config/strict-object.ts';
import { TaskKind } from '../task/task.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

/** The order in which parts of a specification are built. */
export const SPEC_PHASES = ['database', 'types', 'queries', 'api', 'ui', 'tests'] as const;
export const SpecPhase = z.enum(SPEC_PHASES);
export type SpecPhase = z.infer<typeof SpecPhase>;

/** What a task does to its files. Gotchas are found by it. */
export const SpecAction = z.enum(['create', 'update', 'delete', 'configure', 'verify']);
export type SpecAction = z.infer<typeof SpecAction>;

/** `R1`, `T12`: the document's own names. */
export const SpecKey = PlainLine.min(1).max(20);
const Line = PlainLine.max(500);
export const SpecText = PlainText.trim().max(20_000);
const path = PlainLine.min(1).max(500);

export const SpecRequirement = z.object({
  id: SpecKey,
  kind: z.enum(['functional', 'non_functional']).default('functional'),
  text: SpecText.min(1),
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
  id: SpecKey,
  title: PlainLine.min(1).max(300),
  kind: TaskKind.default('feature'),
  phase: SpecPhase,
  action: SpecAction.default('update'),
  /** What to do, in sentences. */
  detail: SpecText.default(''),
  files: z.array(path).default([]),
  dependsOn: z.array(SpecKey).default([]),
  requirements: z.array(SpecKey).default([]),
  /** Acceptance criteria. */
  accept: z.array(PlainText.trim().min(1).max(2_000)).max(50).default([]),
  /** The command that shows that it is done. */
  validate: Line.default(''),
  /** Code to start from, or the file to follow. */
  template: SpecText.default(''),
  estimateMinutes: z.number().int().positive().max(10_000).nullable().default(null),
});
export type SpecTask = z.infer<typeof SpecTask>;

/** A requirement that can be understood in several ways. */
export const SpecAmbiguity = z.object({
  requirement: SpecText.min(1),
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

const Scope = z.object({ in: z.array(Line.min(1)).default([]), out: z.array(Line.min(1)).default([]) });
const MOST_AMBIGUITIES = 20;
const MOST_ARCHITECTURES = 5;

/** A specification as an agent returns it or a person writes it. */
export const SpecDraft = z.object({
  title: PlainLine.min(1).max(300),
  summary: SpecText.default(''),
  requirements: z.array(SpecRequirement),
  scope: Scope.default({ in: [], out: [] }),
  architecture: SpecText.default(''),
  files: z.array(SpecFile).default([]),
  tasks: z.array(SpecTask),
  ambiguities: z.array(SpecAmbiguity).max(MOST_AMBIGUITIES).default([]),
  architectures: z.array(SpecArchitecture).max(MOST_ARCHITECTURES).default([]),
  /** What it needs from outside the project. */
  dependencies: z.array(Line.min(1)).max(100).default([]),
  risks: z.array(Line.min(1)).max(50).default([]),
});
export type SpecDraft = z.infer<typeof SpecDraft>;

/** The same, as it comes from agents, people and programs: a key that does not exist is refused, not dropped. */
export const GivenSpecTask = strictObjectWithHints(SpecTask.shape, {
  name: 'title',
  type: 'kind',
  description: 'detail',
  body: 'detail',
  file: 'files',
  after: 'dependsOn',
  needs: 'dependsOn',
  dependencies: 'dependsOn',
  criteria: 'accept',
  acceptance: 'accept',
  acceptanceCriteria: 'accept',
  acceptance_criteria: 'accept',
  validation: 'validate',
  command: 'validate',
  test: 'validate',
  estimate: 'estimateMinutes',
  minutes: 'estimateMinutes',
});
const TEXT_NAMES = { title: 'text', description: 'text', type: 'kind' } as const;
export const GivenSpecDraft = strictObjectWithHints(
  {
    ...SpecDraft.shape,
    requirements: z.array(strictObjectWithHints(SpecRequirement.shape, TEXT_NAMES)),
    scope: strictObjectWithHints(Scope.shape).default({ in: [], out: [] }),
    files: z
      .array(
        strictObjectWithHints(SpecFile.shape, { file: 'path', name: 'path', action: 'change', description: 'purpose' }),
      )
      .default([]),
    tasks: z.array(GivenSpecTask),
    ambiguities: z.array(strictObjectWithHints(SpecAmbiguity.shape)).max(MOST_AMBIGUITIES).default([]),
    architectures: z
      .array(
        strictObjectWithHints({
          ...SpecArchitecture.shape,
          options: z.array(strictObjectWithHints(Approach.shape)).length(2),
        }),
      )
      .max(MOST_ARCHITECTURES)
      .default([]),
  },
  { name: 'title', description: 'summary', questions: 'ambiguities' },
);
