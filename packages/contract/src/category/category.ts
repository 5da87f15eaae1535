import { z } from 'zod';
import { recordKind } from '../record/kind.ts';

/**
 * The fields in which the loop looks for improvements, those that usually give the most first: an early stage of exposure
 * uses only the first ones. Each has a text in `prompts/categories/<slug>.md`.
 */
export const CATEGORIES = [
  'code-quality',
  'testing',
  'technical-debt',
  'documentation',
  'error-handling',
  'security',
  'optimization',
  'developer-experience',
  'architecture',
  'dependency-management',
  'back-end',
  'front-end',
  'accessibility',
  'monitoring',
  'data-management',
  'devops',
  'api-evolution',
  'scalability',
  'internationalization',
  'compliance',
  'innovation',
] as const;

export const CategorySlug = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'the name of a category is lower-case letters, digits and -, such as code-quality');

/** What the loop knows about a category of a project. */
export const Category = z.object({
  noun: z.literal('category'),
  /** `category/<projectId>/<slug>`. */
  id: z.string(),
  projectId: z.string(),
  slug: z.string(),
  lastUsedAt: z.number(),
  /** How often an agent was asked for a proposal. */
  uses: z.number().int(),
  /** The measured yield. */
  proposed: z.number().int(),
  approved: z.number().int(),
  refused: z.number().int(),
  duplicates: z.number().int(),
  invalid: z.number().int(),
  landed: z.number().int(),
  reverted: z.number().int(),
  /** Scores of people for its proposals, 0 to 10. */
  scores: z.object({ sum: z.number(), count: z.number().int() }),
  /** Until then it rests; null when it does not. */
  restsUntil: z.number().nullable(),
  /** Why it rests. */
  why: z.string(),
});
export type Category = z.infer<typeof Category>;

export const categoryId = (projectId: string, slug: string) => `category/${projectId}/${slug}`;

export const categoryKind = recordKind(Category, ({ projectId }) => ({
  parent: projectId,
  isOpen: false,
  dueAt: null,
}));
