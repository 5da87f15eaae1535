import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { Tally } from '../lesson/lesson.ts';
import { recordKind } from '../record/kind.ts';
import { PlainText } from '../text/plain-text.ts';

/** Files whose text may be proposed: an agent's prompt, the rules for questions, or a category of the loop. */
export const PromptFile = z
  .string()
  .regex(/^\.tidemill\/(agents|categories)\/[a-z_][a-z0-9_-]*\.md$/, 'is a file such as .tidemill/agents/implement.md');

/**
 *   proposed ──apply──▶ applied ──its figures fall, or a person says so──▶ rolled_back
 *       └──refuse──▶ refused
 */
export const PromptChangeStatus = z.enum(['proposed', 'applied', 'refused', 'rolled_back']);
export type PromptChangeStatus = z.infer<typeof PromptChangeStatus>;

export const PromptTrial = z.object({ verdict: z.enum(['gain', 'harm', 'unclear']), why: z.string() });
export type PromptTrial = z.infer<typeof PromptTrial>;

/** A proposed text for a prompt or a category, with what a replay showed about it. */
export const PromptChange = z.object({
  noun: z.literal('prompt_change'),
  id: z.string(),
  projectId: z.string(),
  /** Shown as P3. */
  number: z.number().int(),
  file: PromptFile,
  /** The text in use when it was proposed. */
  before: z.string(),
  text: z.string(),
  why: z.string(),
  status: PromptChangeStatus,
  /** The replay that tries it. Null: no replay can, or there are too few recorded tasks. */
  replayId: z.string().nullable(),
  trial: PromptTrial.nullable(),
  /** How builders' runs ended before it was applied. */
  baseline: Tally.nullable(),
  by: Actor,
  decidedBy: Actor.nullable(),
  decidedWhy: z.string(),
  createdAt: z.number(),
  decidedAt: z.number().nullable(),
});
export type PromptChange = z.infer<typeof PromptChange>;

export const promptChangeKind = recordKind(PromptChange, ({ projectId, status }) => ({
  parent: projectId,
  isOpen: status === 'proposed' || status === 'applied',
  dueAt: null,
}));
export const promptChangeRef = (number: number) => `P${number}`;

export const PromptChangeView = PromptChange.omit({ noun: true }).extend({
  ref: z.string(),
  replay: z.string().nullable(),
});
export type PromptChangeView = z.infer<typeof PromptChangeView>;

export const ProposedText = PlainText.min(1, 'a prompt is not empty').max(
  100_000,
  'a prompt has at most 100,000 characters',
);
