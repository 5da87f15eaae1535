import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function queueNotification(slice: Slice, command: CommandOf<'notification.queue'>, env: DecideEnv): Decision {
  // Its id follows from its content, so that a restart queues nothing twice.
  if (slice.record('notification', command.notification.id)) return accept();
  return accept({
    type: 'notification.queued',
    notification: {
      noun: 'notification',
      projectId: command.projectId,
      createdAt: env.now,
      ...command.notification,
      attempts: 0,
      deliveredAt: null,
      reference: null,
      error: null,
    },
  });
}

export function settleNotification(slice: Slice, command: CommandOf<'notification.settle'>): Decision {
  const notification = slice.record('notification', command.notificationId);
  if (notification?.projectId !== command.projectId)
    return refuse('not_found', `there is no notification ${command.notificationId}`);
  const { notificationId, error, reference, nextAt } = command;
  return accept({ type: 'notification.tried', notificationId, error, reference, nextAt });
}
