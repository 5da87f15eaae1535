import type { Reductions } from '../noun.ts';
import { alertId } from './alert.ts';

export const alertEvents = {
  // The count is in the event: some decisions raise an alert without loading its row.
  'alert.raised': (slice, { taskId, kind, subject, severity, text, count }, { projectId, at }) => {
    const id = alertId(projectId, kind, subject);
    slice.records.put({
      noun: 'alert',
      id,
      projectId,
      kind,
      subject,
      severity,
      text,
      at,
      count,
      acknowledgedAt: null,
      resolvedAt: null,
      taskId,
    });
  },
  'alert.repeated': (slice, { alertId: id, text, severity, taskId }) => {
    const alert = slice.record('alert', id);
    if (!alert) return;
    // A condition that was over and came back is in the inbox again, also after an acknowledgement.
    const again = alert.resolvedAt === null ? {} : { resolvedAt: null, acknowledgedAt: null };
    const news = { text: text ?? alert.text, severity: severity ?? alert.severity };
    const task = taskId === undefined ? {} : { taskId };
    slice.records.put({ ...alert, ...again, ...news, ...task, count: alert.count + 1 });
  },
  'alert.resolved': (slice, { alertId: id }, { at }) => {
    const alert = slice.record('alert', id);
    if (alert) slice.records.put({ ...alert, resolvedAt: at });
  },
  'alert.acknowledged': (slice, { alertId: id }, { at }) => {
    const alert = slice.record('alert', id);
    if (alert) slice.records.put({ ...alert, acknowledgedAt: at });
  },
  'notification.queued': (slice, { notification }) => slice.records.put(notification),
  'notification.tried': (slice, { notificationId, error, reference, nextAt }, { at }) => {
    const notification = slice.record('notification', notificationId);
    if (!notification) return;
    const deliveredAt = error === null ? at : notification.deliveredAt;
    slice.records.put({
      ...notification,
      error,
      nextAt,
      deliveredAt,
      attempts: notification.attempts + 1,
      reference: reference ?? notification.reference,
    });
  },
} satisfies Reductions;
