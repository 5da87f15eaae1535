import { z } from 'zod';
import { Mode } from '../run/run.ts';
import type { CallToRecord } from './call-to-record.ts';

/** A use of a tool as `recordableCall` keeps it. */
export const RecordedCall = z.object({
  tool: z.string(),
  cwd: z.string(),
  input: z.record(z.string(), z.json()),
  isCut: z.boolean(),
}) satisfies z.ZodType<CallToRecord>;
export type RecordedCall = z.infer<typeof RecordedCall>;

/** A line of the list of calls: who made the call, and what the guards said. */
export const CallEntry = RecordedCall.extend({
  at: z.number(),
  /** `run`: an agent of Tidemill. `session`: a person's own session. */
  source: z.enum(['run', 'session']),
  /** The id of the run or of the session. */
  from: z.string(),
  mode: Mode,
  /** `asked`: the person decided in their own session. */
  verdict: z.enum(['allowed', 'refused', 'rewritten', 'bypassed', 'asked']),
  /** The guard that decided. */
  guard: z.string().nullable(),
  /** Guards that only observe and would have refused it. */
  observed: z.array(z.string()),
});
export type CallEntry = z.infer<typeof CallEntry>;

/** Something that a hook refused in a person's own session, or that the person corrected there. */
export const HookRefusal = z.object({
  /** `corrected`: `reason` has the person's words. Without it, the hook refused. */
  kind: z.enum(['refused', 'corrected']).optional(),
  at: z.number(),
  session: z.string(),
  guard: z.string(),
  reason: z.string(),
  /** Null when the session wanted to stop. */
  call: RecordedCall.nullable(),
});
export type HookRefusal = z.infer<typeof HookRefusal>;

/** A call in a person's own session that a guard would have refused (`observed`), or that a person let pass. */
export const HookNote = z.object({
  kind: z.enum(['observed', 'bypassed']),
  at: z.number(),
  session: z.string(),
  guard: z.string(),
  call: RecordedCall,
});
export type HookNote = z.infer<typeof HookNote>;
