import { z } from 'zod';

/** A part of the daemon that follows the log or the clock, as `doctor` lists it. */
export const ReactorView = z.object({
  name: z.string(),
  /** Null: it serves all projects. */
  projectId: z.string().nullable(),
  /** Every wanted event up to this sequence number was handled or skipped. Null: it follows the clock only. */
  position: z.number().nullable(),
  /** Wanted events after that; counted up to 1000. */
  behind: z.number(),
  /** `retrying`: the last call failed. `paused`: it triggered itself too often. */
  state: z.enum(['running', 'retrying', 'paused']),
  lastError: z.object({ at: z.number(), message: z.string() }).nullable(),
});
export type ReactorView = z.infer<typeof ReactorView>;
