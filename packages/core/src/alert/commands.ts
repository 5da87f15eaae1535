import type { Notification, Severity } from '@tidemill/contract';
import type { CommandParts } from '../noun.ts';
import { acknowledgeAlert, alertId, raiseAlert } from './alert.ts';
import { queueNotification, settleNotification } from './notification.ts';

export type NewNotification = Pick<
  Notification,
  'id' | 'taskId' | 'channel' | 'severity' | 'title' | 'text' | 'about' | 'group' | 'questionIds' | 'nextAt'
>;

export interface AlertCommands {
  'alert.raise': { taskId: string | null; kind: string; text: string; severity?: Severity; subject?: string };
  'alert.acknowledge': { alertId: string; by: string };
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
    scope: ({ projectId, kind, subject = '' }) => [{ find: 'records', by: alertId(projectId, kind, subject) }],
    decide: raiseAlert,
  },
  'alert.acknowledge': { scope: (command) => [{ find: 'records', by: command.alertId }], decide: acknowledgeAlert },
  'notification.queue': {
    scope: ({ notification }) => [{ find: 'records', by: notification.id }],
    decide: queueNotification,
  },
  'notification.settle': {
    scope: ({ notificationId }) => [{ find: 'records', by: notificationId }],
    decide: settleNotification,
  },
};
