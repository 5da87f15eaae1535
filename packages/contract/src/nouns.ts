import { accountKind } from './budget.ts';
import { alertEvents } from './event/alert.ts';
import { budgetEvents } from './event/budget.ts';
import { conflictEvents } from './event/conflict.ts';
import { gateEvents } from './event/gate.ts';
import { leaseEvents } from './event/lease.ts';
import { mergeEvents } from './event/merge.ts';
import { projectEvents } from './event/project.ts';
import { questionEvents } from './event/question.ts';
import { runEvents } from './event/run.ts';
import { taskEvents } from './event/task.ts';
import { workerEvents } from './event/worker.ts';
import { alertKind, notificationKind } from './notice.ts';
import { preferenceKind, questionKind } from './question.ts';

/** The events of each noun. */
export const EVENTS = [
  ...projectEvents,
  ...workerEvents,
  ...taskEvents,
  ...leaseEvents,
  ...runEvents,
  ...gateEvents,
  ...mergeEvents,
  ...conflictEvents,
  ...questionEvents,
  ...alertEvents,
  ...budgetEvents,
] as const;

/** Nouns that are kept as records. */
export const RECORD_KINDS = [questionKind, preferenceKind, accountKind, alertKind, notificationKind] as const;
