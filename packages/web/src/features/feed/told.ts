import type { EventType, LoggedEvent } from '@tidemill/contract';

/** Signs of life and bookkeeping: on record, but nothing a person reads. */
const UNTOLD: EventType[] = [
  'worker.beat',
  'lease.claimed',
  'lease.renewed',
  'lease.released',
  'run.progressed',
  'run.spent',
  'run.briefed',
  'run.session_known',
  'notification.queued',
  'notification.tried',
  'alert.repeated',
  'failure.counted',
  'failure.recognised',
  'question.reminded',
  'task.dependency_met',
  'task.feedback_given',
  'task.counters_reset',
  'merge.prepared',
];

export const isTold = ({ body }: LoggedEvent) => !UNTOLD.includes(body.type);
