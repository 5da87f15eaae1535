import { z } from 'zod';
import { Severity } from './alert.ts';

/** One thing a person has to decide or should know, from any noun. */
export const InboxItem = z.object({
  /** Its name on the command line. */
  ref: z.string(),
  kind: z.enum(['question', 'approval', 'escalation', 'alert']),
  severity: Severity,
  /** Work is stopped until a person acts. */
  isBlocking: z.boolean(),
  at: z.number(),
  title: z.string(),
  text: z.string(),
  task: z.object({ number: z.number(), title: z.string() }).nullable(),
  /** The actions that resolve it. */
  command: z.string(),
});
export type InboxItem = z.infer<typeof InboxItem>;
