import { z } from 'zod';
import { EnvironmentRules } from './config.ts';
import { DeliveredTask, Delivery, DeliveryEnvironment } from './delivery.ts';

/** A delivery as lists show it. */
export const DeliveryView = Delivery.omit({ noun: true, owner: true }).extend({
  ref: z.string(),
  /** The open question about it, if one waits. */
  questionRef: z.string().nullable(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

export const EnvironmentView = EnvironmentRules.extend({
  live: DeliveryEnvironment.shape.live,
  state: z.enum(['healthy', 'unknown', 'empty']),
  /** What is on its way there, or waits. */
  current: DeliveryView.nullable(),
  waiting: DeliveryView.nullable(),
  /** The commit that a delivery without a named commit would bring, and the tasks in it. */
  next: z.object({ commit: z.string(), tasks: z.array(DeliveredTask), taskCount: z.number().int() }).nullable(),
  /** No longer in the settings. */
  isGone: z.boolean(),
});
export type EnvironmentView = z.infer<typeof EnvironmentView>;

export const ReleaseNotes = z.object({
  from: z.string().nullable(),
  to: z.string(),
  tasks: z.array(DeliveredTask.extend({ kind: z.string() })),
  /** Commits of people, without a task. */
  others: z.array(z.object({ commit: z.string(), subject: z.string() })),
  markdown: z.string(),
});
export type ReleaseNotes = z.infer<typeof ReleaseNotes>;
