import { z } from 'zod';
import { Severity } from './alert.ts';

/** One thing a person has to decide or should know, whatever noun it comes from. */
export const InboxItem = z.object({
  /** What a person types to name it. */
  ref: z.string(),
  kind: z.enum(['question', 'approval', 'escalation', 'alert']),
  severity: Severity,
  /** Work stands still until somebody acts. */
  isBlocking: z.boolean(),
  at: z.number(),
  title: z.string(),
  text: z.string(),
  task: z.object({ number: z.number(), title: z.string() }).nullable(),
  /** What settles it. */
  command: z.string(),
});
export type InboxItem = z.infer<typeof InboxItem>;
