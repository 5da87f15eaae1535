import { z } from 'zod';
import { Duration } from '../text/duration.ts';

const HOUR = 3_600_000;

/** How specifications are drafted and built. */
export const SpecsConfig = z.strictObject({
  /** How long agents may work on the tasks of one specification before it stops. Waiting does not count. */
  buildLimit: Duration.default(2 * HOUR),
  /** Whether an agent reads each drafted version before a person does. */
  critic: z.boolean().default(true),
});

/** The part that decisions depend on. */
export const SpecRules = z.object({
  buildLimitMs: z.number().default(2 * HOUR),
  critic: z.boolean().default(true),
});
export type SpecRules = z.infer<typeof SpecRules>;
