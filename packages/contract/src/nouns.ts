import { tokenKind } from './access.ts';
import { alertKind, notificationKind } from './alert.ts';
import { accountKind } from './budget.ts';
import { alertEvents } from './event/alert.ts';
import { budgetEvents } from './event/budget.ts';
import { conflictEvents } from './event/conflict.ts';
import { gateEvents } from './event/gate.ts';
import { jobEvents } from './event/job.ts';
import { leaseEvents } from './event/lease.ts';
import { mergeEvents } from './event/merge.ts';
import { projectEvents } from './event/project.ts';
import { questionEvents } from './event/question.ts';
import { runEvents } from './event/run.ts';
import { taskEvents } from './event/task.ts';
import { tokenEvents } from './event/token.ts';
import { workerEvents } from './event/worker.ts';
import { jobKind } from './job.ts';
import { preferenceKind, questionKind } from './question.ts';
import { conflictRoutes } from './routes/conflict.ts';
import { daemonRoutes } from './routes/daemon.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { peopleRoutes } from './routes/people.ts';
import { projectRoutes } from './routes/project.ts';
import { taskRoutes } from './routes/task.ts';

/** The events of each noun. */
export const EVENTS = [
  ...projectEvents,
  ...workerEvents,
  ...taskEvents,
  ...leaseEvents,
  ...runEvents,
  ...jobEvents,
  ...gateEvents,
  ...mergeEvents,
  ...conflictEvents,
  ...questionEvents,
  ...alertEvents,
  ...budgetEvents,
  ...tokenEvents,
] as const;

/** Nouns that are kept as records. */
export const RECORD_KINDS = [
  tokenKind,
  questionKind,
  preferenceKind,
  accountKind,
  alertKind,
  notificationKind,
  jobKind,
] as const;

/** The routes of each noun, by subject, as the API's own document shows them. */
export const ROUTES = {
  daemon: daemonRoutes,
  projects: projectRoutes,
  tasks: taskRoutes,
  fleet: fleetRoutes,
  conflicts: conflictRoutes,
  people: peopleRoutes,
};
