import { z } from 'zod';
import { Actor } from '../actor.ts';
import { Notification, Severity } from '../alert.ts';
import { event, mill, said, spaced } from './event.ts';

export const alertEvents = [
  event(
    'alert.raised',
    {
      taskId: z.string().nullable(),
      kind: z.string(),
      text: z.string(),
      severity: Severity.default('warning'),
      /** What it is about, so that the same is not told twice in a row: a worker, a task, a budget. */
      subject: z.string().default(''),
      /** How often it was raised so far, this time and the unheard times included. */
      count: z.number().int().default(1),
    },
    { stale: ['inbox'], shown: 'terminal', says: ({ kind, text }) => mill(`${spaced(kind)}: ${text}`) },
  ),
  /** The same matter again, too soon to be told anew. */
  event(
    'alert.repeated',
    { alertId: z.string() },
    { stale: ['inbox'], shown: 'log', says: () => mill('the same alert again') },
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
      says: ({ notification: { channel, title } }) => mill(`tells ${channel}: ${title}`),
    },
  ),
  event(
    'notification.tried',
    {
      notificationId: z.string(),
      /** Null when it got through. */
      error: z.string().nullable(),
      reference: z.string().nullable(),
      nextAt: z.number().nullable(),
    },
    {
      stale: ['channels'],
      shown: 'log',
      says: ({ error }) => mill(error === null ? 'a message was delivered' : `not delivered: ${error}`),
    },
  ),
] as const;
