import type { Actor, AlertKind, Notification, Severity } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { acknowledgeAlert, alertId, raiseAlert, resolveAlert } from './alert.ts';
import { queueNotification, settleNotification } from './notification.ts';

export type NewNotification = Pick<
  Notification,
  'id' | 'taskId' | 'channel' | 'severity' | 'title' | 'text' | 'about' | 'group' | 'questionIds' | 'nextAt'
>;

export interface AlertCommands {
  'alert.raise': { taskId: string | null; kind: AlertKind; text: string; severity?: Severity; subject?: string };
  'alert.acknowledge': { alertId: string; by: Actor };
  'alert.resolve': { kind: string; subject?: string };
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
  'alert.resolve': {
    scope: ({ projectId, kind, subject = '' }) => [look('record', alertId(projectId, kind, subject))],
    decide: resolveAlert,
  },
  'notification.queue': {
    scope: ({ notification }) => [look('record', notification.id)],
    decide: queueNotification,
  },
  'notification.settle': {
    scope: ({ notificationId }) => [look('record', notificationId)],
    decide: settleNotification,
  },
};
