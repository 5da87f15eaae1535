import { z } from 'zod';
import { HandOff } from '../hand-off/hand-off.ts';
import { recordKind } from '../record/kind.ts';
import { JOB_MODES } from '../run/modes.ts';
import { FailureClass } from '../run/run.ts';
import { Lease } from '../worker/worker.ts';

/**
 * Work of an agent that is not the stage of a task. It is leased, run, paid for and retried like a task's stage. Its end
 * is one event, and the noun that requested it decides what follows.
 */
export const Job = z.object({
  noun: z.literal('job'),
  id: z.string(),
  projectId: z.string(),
  /** What it is about. */
  subjectId: z.string(),
  mode: z.enum(JOB_MODES),
  /** What its agent gets in addition to the mode's prompt. */
  input: z.string(),
  /** What its agent takes over, and until when. Null: requested by an earlier version. */
  handOff: HandOff.nullable().default(null),
  status: z.enum(['open', 'done', 'failed', 'cancelled']),
  lease: Lease.nullable(),
  /** The newest token. */
  fence: z.number().int(),
  /** It may be leased from this time. */
  notBefore: z.number(),
  attempts: z.number().int(),
  lastRunId: z.string().nullable(),
  failures: z.partialRecord(FailureClass, z.number().int()),
  /** How it ended, or why it is tried again. */
  summary: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Job = z.infer<typeof Job>;

export const jobKind = recordKind(Job, ({ subjectId, status, lease, notBefore }) => {
  const isOpen = status === 'open';
  return { parent: subjectId, isOpen, dueAt: isOpen && !lease ? notBefore : null };
});
