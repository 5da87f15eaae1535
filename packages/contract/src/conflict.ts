import { z } from 'zod';

/** A task whose change and the target's do not fit together, and which waits for a person. */
export const ConflictSummary = z.object({
  number: z.number(),
  title: z.string(),
  branch: z.string(),
  target: z.string(),
  since: z.number(),
  /** `resolving` once a file of it was resolved here. */
  status: z.enum(['pending', 'resolving']),
  files: z.array(z.string()),
  /** Why a machine does not resolve it. */
  why: z.string(),
});
export type ConflictSummary = z.infer<typeof ConflictSummary>;

/** One side of a file: null where that side has no such file. */
const side = z.string().nullable();

export const ConflictFile = z.object({
  path: z.string(),
  /** Binary files and those that are too large have no text here: they are resolved with git's own commands. */
  isText: z.boolean(),
  base: side,
  /** The target's. */
  theirs: side,
  /** The task's. */
  ours: side,
  /** As it lies in the worktree, with markers while it is not resolved. */
  current: side,
  isResolved: z.boolean(),
});
export type ConflictFile = z.infer<typeof ConflictFile>;

export const ConflictDetail = ConflictSummary.omit({ files: true }).extend({
  worktree: z.string(),
  files: z.array(ConflictFile),
  /** What does the same in a terminal, in this order. */
  commands: z.array(z.string()),
});
export type ConflictDetail = z.infer<typeof ConflictDetail>;

/** How one file is resolved: by its text, or by taking a side whole. */
export const Resolution = z.union([
  z.strictObject({ text: z.string().max(5_000_000) }),
  z.strictObject({ take: z.enum(['ours', 'theirs', 'deleted']) }),
]);
export type Resolution = z.infer<typeof Resolution>;
