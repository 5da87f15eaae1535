import { tokenKind } from './access.ts';
import { alertKind, notificationKind } from './alert.ts';
import { accountKind } from './budget.ts';
import { categoryKind } from './category.ts';
import { deliveryKind, environmentKind } from './delivery.ts';
import { alertEvents } from './event/alert.ts';
import { budgetEvents } from './event/budget.ts';
import { conflictEvents } from './event/conflict.ts';
import { deliveryEvents } from './event/delivery.ts';
import { feedbackEvents } from './event/feedback.ts';
import { forecastEvents } from './event/forecast.ts';
import { gateEvents } from './event/gate.ts';
import { guardProposalEvents } from './event/guard-proposal.ts';
import { ideaEvents } from './event/idea.ts';
import { jobEvents } from './event/job.ts';
import { leaseEvents } from './event/lease.ts';
import { lessonEvents } from './event/lesson.ts';
import { loopEvents } from './event/loop.ts';
import { mergeEvents } from './event/merge.ts';
import { projectEvents } from './event/project.ts';
import { promptChangeEvents } from './event/prompt-change.ts';
import { questionEvents } from './event/question.ts';
import { reflectionEvents } from './event/reflection.ts';
import { replayEvents } from './event/replay.ts';
import { runEvents } from './event/run.ts';
import { specEvents } from './event/spec.ts';
import { taskEvents } from './event/task.ts';
import { tokenEvents } from './event/token.ts';
import { traceEvents } from './event/trace.ts';
import { trackerItemEvents } from './event/tracker-item.ts';
import { workerEvents } from './event/worker.ts';
import { feedbackKind } from './feedback.ts';
import { guardProposalKind } from './guard-proposal.ts';
import { ideaKind, messageKind } from './idea.ts';
import { jobKind } from './job.ts';
import { knowledgeKind, lessonKind, lessonUseKind } from './lesson.ts';
import { loopKind } from './loop.ts';
import { promptChangeKind } from './prompt-change.ts';
import { proposalKind } from './proposal.ts';
import { preferenceKind, questionKind } from './question.ts';
import { reflectionKind } from './reflection.ts';
import { replayKind, replayRunKind } from './replay.ts';
import { conflictRoutes } from './routes/conflict.ts';
import { daemonRoutes } from './routes/daemon.ts';
import { deliveryRoutes } from './routes/delivery.ts';
import { feedbackRoutes } from './routes/feedback.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { guardProposalRoutes } from './routes/guard-proposal.ts';
import { ideaRoutes } from './routes/idea.ts';
import { lessonRoutes } from './routes/lesson.ts';
import { loopRoutes } from './routes/loop.ts';
import { peopleRoutes } from './routes/people.ts';
import { projectRoutes } from './routes/project.ts';
import { promptChangeRoutes } from './routes/prompt-change.ts';
import { reflectionRoutes } from './routes/reflection.ts';
import { replayRoutes } from './routes/replay.ts';
import { specRoutes } from './routes/spec.ts';
import { taskRoutes } from './routes/task.ts';
import { traceRoutes } from './routes/trace.ts';
import { trackerRoutes } from './routes/tracker.ts';
import { specKind, specVersionKind } from './spec.ts';
import { patternKind, traceKind } from './trace.ts';
import { trackerItemKind } from './tracker-item.ts';

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
  ...forecastEvents,
  ...questionEvents,
  ...alertEvents,
  ...specEvents,
  ...budgetEvents,
  ...tokenEvents,
  ...ideaEvents,
  ...feedbackEvents,
  ...loopEvents,
  ...lessonEvents,
  ...traceEvents,
  ...replayEvents,
  ...reflectionEvents,
  ...promptChangeEvents,
  ...guardProposalEvents,
  ...trackerItemEvents,
  ...deliveryEvents,
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
  ideaKind,
  messageKind,
  specKind,
  specVersionKind,
  feedbackKind,
  loopKind,
  categoryKind,
  proposalKind,
  lessonKind,
  knowledgeKind,
  lessonUseKind,
  traceKind,
  patternKind,
  replayKind,
  replayRunKind,
  reflectionKind,
  promptChangeKind,
  guardProposalKind,
  trackerItemKind,
  deliveryKind,
  environmentKind,
] as const;

/** The routes of each noun, by subject, as the API's own document shows them. */
export const ROUTES = {
  daemon: daemonRoutes,
  projects: projectRoutes,
  tasks: taskRoutes,
  ideas: ideaRoutes,
  fleet: fleetRoutes,
  conflicts: conflictRoutes,
  people: peopleRoutes,
  specs: specRoutes,
  feedback: feedbackRoutes,
  loop: loopRoutes,
  memory: lessonRoutes,
  traces: traceRoutes,
  replays: replayRoutes,
  reflections: reflectionRoutes,
  promptChanges: promptChangeRoutes,
  guards: guardProposalRoutes,
  tracker: trackerRoutes,
  deliveries: deliveryRoutes,
};
