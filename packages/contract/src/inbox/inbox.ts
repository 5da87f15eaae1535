import { z } from 'zod';
import { Severity } from '../alert/alert.ts';

/** A button: what a person can do about an item, by its name on the command line. */
export const InboxAction = z.object({ id: z.string(), label: z.string() });
export type InboxAction = z.infer<typeof InboxAction>;

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
  /** The command that resolves it. */
  command: z.string(),
  /** For an alert: what can be done besides acknowledging it, by `tidemill inbox do REF ACTION`. */
  actions: z.array(InboxAction),
});
export type InboxItem = z.infer<typeof InboxItem>;
