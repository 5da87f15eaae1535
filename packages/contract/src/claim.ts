import { z } from 'zod';
import { Mode } from './run.ts';

/** Who holds which task, until when. */
export const ClaimView = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  worker: z.string(),
  claimedAt: z.number(),
  expiresAt: z.number(),
});
export type ClaimView = z.infer<typeof ClaimView>;

/** A task given to a worker outside the daemon. Every further call about it carries the fence. */
export const OutsideClaim = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  mode: Mode,
  runId: z.string(),
  fence: z.number().int(),
  expiresAt: z.number(),
  /** Where to work: only in here. */
  worktree: z.string(),
  /** What an agent would be told. */
  prompt: z.string(),
});
export type OutsideClaim = z.infer<typeof OutsideClaim>;
