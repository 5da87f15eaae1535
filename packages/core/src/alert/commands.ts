import type { Actor, Notification, Severity } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { acknowledgeAlert, alertId, raiseAlert } from './alert.ts';
import { queueNotification, settleNotification } from './notification.ts';

export type NewNotification = Pick<
  Notification,
  'id' | 'taskId' | 'channel' | 'severity' | 'title' | 'text' | 'about' | 'group' | 'questionIds' | 'nextAt'
>;

export interface AlertCommands {
  'alert.raise': { taskId: string | null; kind: string; text: string; severity?: Severity; subject?: string };
  'alert.acknowledge': { alertId: string; by: Actor };
  'notification.queue': { notification: NewNotification };
  'notification.settle': {
    notificationId: string;
    error: string | null;
    reference: string | null;
    nextAt: number | null;
  };
}

export const alertCommands: CommandParts<keyof AlertCommands> = {
  'alert.raise': {
    scope: ({ projectId, kind, subject = '' }) => [look('record', alertId(projectId, kind, subject))],
    decide: raiseAlert,
  },
  'alert.acknowledge': { scope: (command) => [look('record', command.alertId)], decide: acknowledgeAlert },
  'notification.queue': {
    scope: ({ notification }) => [look('record', notification.id)],
    decide: queueNotification,
  },
  'notification.settle': {
    scope: ({ notificationId }) => [look('record', notificationId)],
    decide: settleNotification,
  },
};
