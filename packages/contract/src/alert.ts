import { z } from 'zod';
import { recordKind } from './record-kind.ts';

export const Severity = z.enum(['info', 'warning', 'error', 'critical']);
export type Severity = z.infer<typeof Severity>;

/** The last alert about a matter, so that it is not repeated too often. */
export const Alert = z.object({
  noun: z.literal('alert'),
  /** `alert/<projectId>/<kind>/<subject>`. */
  id: z.string(),
  projectId: z.string(),
  kind: z.string(),
  subject: z.string(),
  severity: Severity,
  text: z.string(),
  at: z.number(),
  /** How often it was raised, including suppressed repeats. */
  count: z.number().int(),
  acknowledgedAt: z.number().nullable().default(null),
});
export type Alert = z.infer<typeof Alert>;

export const ChannelName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]*$/, 'a channel name is lower-case letters, digits, - and _');

/** One delivery: a question or alerts, to one channel. Kept until it is delivered. */
export const Notification = z.object({
  noun: z.literal('notification'),
  id: z.string(),
  projectId: z.string(),
  taskId: z.string().nullable(),
  channel: z.string(),
  severity: Severity,
  title: z.string(),
  text: z.string(),
  /** What it is about: `question/<id>`, `reminder/<id>`, `alert/…`, `task/<id>`, `budget/…`. */
  about: z.string().default(''),
  /** Those of one group that are due together become one message. */
  group: z.string().default(''),
  /** The questions in it, which can be answered by a reply. */
  questionIds: z.array(z.string()),
  createdAt: z.number(),
  /** The time of the next attempt; null when it is delivered or abandoned. */
  nextAt: z.number().nullable(),
  attempts: z.number().int(),
  deliveredAt: z.number().nullable(),
  /** The channel's id of the message, so that a reply can be matched. */
  reference: z.string().nullable(),
  error: z.string().nullable(),
});
export type Notification = z.infer<typeof Notification>;

export const alertKind = recordKind(Alert, ({ projectId, acknowledgedAt }) => ({
  parent: projectId,
  isOpen: acknowledgedAt === null,
  dueAt: null,
}));

export const notificationKind = recordKind(Notification, ({ projectId, taskId, nextAt }) => ({
  parent: taskId ?? projectId,
  isOpen: nextAt !== null,
  dueAt: nextAt,
}));
