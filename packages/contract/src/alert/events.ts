import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said, spaced } from '../event/define.ts';
import { Notification, Severity } from './alert.ts';

export const alertEvents = [
  event(
    'alert.raised',
    {
      taskId: z.string().nullable(),
      kind: z.string(),
      text: z.string(),
      severity: Severity.default('warning'),
      /** What it is about, so that it is not repeated: a worker, a task, a budget. */
      subject: z.string().default(''),
      /** How often it was raised so far, including this time and suppressed repeats. */
      count: z.number().int().default(1),
    },
    { stale: ['inbox'], shown: 'terminal', says: ({ kind, text }) => mill(`${spaced(kind)}: ${text}`) },
  ),
  /** The same alert again, too soon for another notice. */
  event(
    'alert.repeated',
    {
      alertId: z.string(),
      /** What is different now: the condition was over and came back, or its text changed. */
      text: z.string().nullable().default(null),
      severity: Severity.nullable().default(null),
      /** Absent: the same task as before. */
      taskId: z.string().nullable().optional(),
    },
    { stale: ['inbox'], shown: 'log', says: () => mill('the same alert was raised again') },
  ),
  /** Its condition is over: it leaves the inbox without a person. */
  event(
    'alert.resolved',
    { alertId: z.string(), kind: z.string(), subject: z.string() },
    {
      stale: ['inbox'],
      says: ({ kind, subject }) => mill(`${spaced(kind)}${subject ? ` (${subject})` : ''} is over`),
    },
  ),
  event(
    'alert.acknowledged',
    { alertId: z.string(), by: Actor },
    { stale: ['inbox'], says: ({ by }) => said(by, 'acknowledged an alert') },
  ),
  event(
    'notification.queued',
    { notification: Notification },
    {
      stale: ['channels'],
      shown: 'log',
      says: ({ notification: { channel, title } }) => mill(`queued a message for ${channel}: ${title}`),
    },
  ),
  event(
    'notification.tried',
    {
      notificationId: z.string(),
      /** Null when it was delivered. */
      error: z.string().nullable(),
      reference: z.string().nullable(),
      nextAt: z.number().nullable(),
    },
    {
      stale: ['channels'],
      shown: 'log',
      says: ({ error }) => mill(error === null ? 'a message was delivered' : `a message was not delivered: ${error}`),
    },
  ),
] as const;
