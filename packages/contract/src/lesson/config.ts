import { z } from 'zod';

export const ReflectionConfig = z.strictObject({
  /**
   * Whether Tidemill asks an agent what went wrong when a task or a specification did not go as planned. Left out: it asks a person
   * once, when there is something to reflect on.
   */
  enabled: z.boolean().optional(),
  /** What these questions may cost within 24 hours. */
  budgetUsdPerDay: z.number().positive().default(1),
});

export const PromotionConfig = z.strictObject({
  /** Whether Tidemill replays recorded tasks by itself, to find out whether a lesson helps. */
  enabled: z.boolean().default(false),
  /** What these replays may cost within 24 hours. */
  budgetUsdPerDay: z.number().positive().default(5),
  /** How often each task is done in each variant. */
  repeats: z.number().int().min(1).max(5).default(1),
  /** Whether a proposed prompt is applied without a person when its replay shows a gain. */
  applyPrompts: z.boolean().default(false),
});
