import { z } from 'zod';
import { Mode } from '../run/run.ts';
import { HilConfig } from '../task/autonomy.ts';

/** A name that no worker of the daemon can have. */
export const OutsideWorkerName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,49}$/, 'a worker name is a lower-case letter, then letters, digits, - and _, at most 50')
  .refine((name) => !/^(all|merger|verifier|review-agent|agent-\d+)$/.test(name), {
    error: "that is the name of one of the daemon's own workers; choose another",
  });

/** Who holds which task, until when. */
export const ClaimView = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  worker: z.string(),
  /** Not started by the daemon: the claim ends when its heartbeats stop. */
  isOutside: z.boolean(),
  claimedAt: z.number(),
  expiresAt: z.number(),
});
export type ClaimView = z.infer<typeof ClaimView>;

/** A task claimed by a worker outside the daemon. Every further call about it carries the fence. */
export const OutsideClaim = z.object({
  number: z.number(),
  title: z.string(),
  stage: z.string(),
  mode: Mode,
  runId: z.string(),
  fence: z.number().int(),
  expiresAt: z.number(),
  /** The only folder to work in. */
  worktree: z.string(),
  /** The prompt an agent would get. */
  prompt: z.string(),
  /** What the worker may decide itself, as the prompt says it in words. */
  hilConfig: HilConfig,
});
export type OutsideClaim = z.infer<typeof OutsideClaim>;
