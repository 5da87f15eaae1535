import { tokenKind } from './access/access.ts';
import { tokenEvents } from './access/events.ts';
import { alertKind, notificationKind } from './alert/alert.ts';
import { alertEvents } from './alert/events.ts';
import { accountKind } from './budget/budget.ts';
import { budgetEvents } from './budget/events.ts';
import { categoryKind } from './category/category.ts';
import { conflictEvents } from './conflict/events.ts';
import { conflictRoutes } from './conflict/routes.ts';
import { daemonRoutes } from './daemon/routes.ts';
import { deliveryKind, environmentKind } from './delivery/delivery.ts';
import { deliveryEvents } from './delivery/events.ts';
import { deliveryRoutes } from './delivery/routes.ts';
import { feedbackEvents } from './feedback/events.ts';
import { feedbackKind } from './feedback/feedback.ts';
import { feedbackRoutes } from './feedback/routes.ts';
import { forecastEvents } from './forecast/events.ts';
import { gateEvents } from './gate/events.ts';
import { guardProposalEvents } from './guard-proposal/events.ts';
import { guardProposalKind } from './guard-proposal/guard-proposal.ts';
import { guardProposalRoutes } from './guard-proposal/routes.ts';
import { ideaEvents } from './idea/events.ts';
import { ideaKind, messageKind } from './idea/idea.ts';
import { ideaRoutes } from './idea/routes.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { jobEvents } from './job/events.ts';
import { jobKind } from './job/job.ts';
import { leaseEvents } from './lease/events.ts';
import { lessonEvents } from './lesson/events.ts';
import { knowledgeKind, lessonKind, lessonUseKind } from './lesson/lesson.ts';
import { lessonRoutes } from './lesson/routes.ts';
import { loopEvents } from './loop/events.ts';
import { loopKind } from './loop/loop.ts';
import { loopRoutes } from './loop/routes.ts';
import { mergeEvents } from './merge/events.ts';
import { projectEvents } from './project/events.ts';
import { projectRoutes } from './project/routes.ts';
import { promptChangeEvents } from './prompt-change/events.ts';
import { promptChangeKind } from './prompt-change/prompt-change.ts';
import { promptChangeRoutes } from './prompt-change/routes.ts';
import { proposalKind } from './proposal/proposal.ts';
import { questionEvents } from './question/events.ts';
import { preferenceKind, questionKind } from './question/question.ts';
import { questionRoutes } from './question/routes.ts';
import { reflectionEvents } from './reflection/events.ts';
import { reflectionKind } from './reflection/reflection.ts';
import { reflectionRoutes } from './reflection/routes.ts';
import { replayEvents } from './replay/events.ts';
import { replayKind, replayRunKind } from './replay/replay.ts';
import { replayRoutes } from './replay/routes.ts';
import { runEvents } from './run/events.ts';
import { specEvents } from './spec/events.ts';
import { specRoutes } from './spec/routes.ts';
import { specKind, specVersionKind } from './spec/spec.ts';
import { taskEvents } from './task/events.ts';
import { taskRoutes } from './task/routes.ts';
import { traceEvents } from './trace/events.ts';
import { traceRoutes } from './trace/routes.ts';
import { patternKind, traceKind } from './trace/trace.ts';
import { trackerItemEvents } from './tracker/events.ts';
import { trackerItemKind } from './tracker/item.ts';
import { trackerRoutes } from './tracker/routes.ts';
import { workerEvents } from './worker/events.ts';
import { workerRoutes } from './worker/routes.ts';

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
  workers: workerRoutes,
  conflicts: conflictRoutes,
  questions: questionRoutes,
  inbox: inboxRoutes,
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
