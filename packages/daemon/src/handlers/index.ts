import {
  type Api,
  AppError,
  type Caller,
  type CallOptions,
  type RouteName,
  type RouteOutput,
  type RouteRequest,
  type Routes,
  routes,
} from '@tidemill/contract';
import type { z } from 'zod';
import { addToken, listTokens, revokeToken, whoami } from './access.ts';
import { limitBudget, showBudget } from './budget.ts';
import { bulkTasks } from './bulk.ts';
import { beatClaim, claimWork, finishClaim, listClaims, releaseClaim } from './claim.ts';
import { abortConflict, listConflicts, resolveFile, settleConflict, showConflict } from './conflict.ts';
import type { Call, Services } from './context.ts';
import { showDiff } from './diff.ts';
import { doctor } from './doctor.ts';
import { emergencyImpact, emergencyStop, purgeQueue, recoverStuck } from './emergency.ts';
import { recentEvents, streamEvents } from './event.ts';
import { listEvidence, verifyEvidence } from './evidence.ts';
import { showEvidenceLog } from './evidence-log.ts';
import { addWorker, listWorkers, reassignTask, removeWorker, steerWorkers } from './fleet.ts';
import { showHistory } from './history.ts';
import { importTasks } from './import.ts';
import { acknowledge, listChannels, showInbox, testChannel } from './inbox.ts';
import { showMetrics } from './metrics.ts';
import { moveTask } from './move.ts';
import { attachProject, listProjects, refuseWithoutDaemon, registerProject } from './project.ts';
import { showPrompt } from './prompt.ts';
import {
  answerDefaults,
  answerQuestion,
  listPreferences,
  listQuestions,
  revokePreference,
  showQuestion,
} from './question.ts';
import { showRun, streamRunLog } from './run-log.ts';
import { checkConfig, listAgents, saveConfig, showConfig } from './settings.ts';
import { listSnapshots, restoreSnapshot } from './snapshot.ts';
import { status } from './status.ts';
import {
  addTask,
  approveTask,
  cancelTask,
  editTask,
  listTasks,
  noteTask,
  rejectTask,
  retryTask,
  setDependencies,
} from './task.ts';
import { showTask } from './task-detail.ts';

type Handler<N extends RouteName> = (
  services: Services,
  input: RouteRequest<N>,
  signal: AbortSignal,
  call: Call,
) => Promise<Routes[N]['stream'] extends true ? AsyncIterable<RouteOutput<N>> : RouteOutput<N>>;

/** One function per route: HTTP and the CLI without a daemon both come through here. */
const handlers: { [N in RouteName]: Handler<N> } = {
  health: async ({ daemon }) => daemon ?? refuseWithoutDaemon('ask'),
  stop: async ({ daemon, stop }, { now }) => {
    if (!daemon) refuseWithoutDaemon('stop');
    stop(now);
    return { stopping: true };
  },
  doctor,
  projects: listProjects,
  registerProject,
  attachProject,
  status,
  metrics: showMetrics,
  budget: showBudget,
  limitBudget,
  addTask,
  importTasks,
  tasks: listTasks,
  task: showTask,
  prompt: showPrompt,
  cancelTask,
  retryTask,
  approveTask,
  rejectTask,
  setDependencies,
  reassignTask,
  workers: listWorkers,
  addWorker,
  steerWorkers,
  removeWorker,
  emergencyImpact,
  emergencyStop,
  recoverStuck,
  purgeQueue,
  questions: listQuestions,
  question: showQuestion,
  answerQuestion,
  answerDefaults,
  preferences: listPreferences,
  revokePreference,
  inbox: showInbox,
  acknowledge,
  channels: listChannels,
  testChannel,
  run: showRun,
  runLog: streamRunLog,
  evidence: listEvidence,
  verifyEvidence,
  snapshots: listSnapshots,
  restoreSnapshot,
  events: streamEvents,
  recentEvents,
  whoami,
  tokens: listTokens,
  addToken,
  revokeToken,
  taskDiff: showDiff,
  editTask,
  noteTask,
  moveTask,
  bulkTasks,
  evidenceLog: showEvidenceLog,
  agents: listAgents,
  config: showConfig,
  checkConfig,
  saveConfig,
  history: showHistory,
  conflicts: listConflicts,
  conflict: showConflict,
  resolveFile,
  settleConflict,
  abortConflict,
  claims: listClaims,
  claimWork,
  beatClaim,
  releaseClaim,
  finishClaim,
};

/** Parses, then answers: the same door for a request from the network and for a call within the process. */
export async function callHandler(services: Services, name: RouteName, input: unknown, call: Call): Promise<unknown> {
  const parsed = routes[name].input.safeParse(signed(name, input, call.caller));
  if (!parsed.success) throw badInput(parsed.error);
  const handler = handlers[name] as (services: Services, input: unknown, signal: AbortSignal, call: Call) => unknown;
  return handler(services, parsed.data, call.signal, call);
}

/** Somebody with a token of their own acts under its name, whatever the request says. */
function signed(name: RouteName, input: unknown, caller: Caller): unknown {
  if (caller.name === null || !('by' in routes[name].input.shape)) return input;
  return { ...(input as object), by: caller.name };
}

/** Whoever calls within the process is the person who started it. */
const OWNER: Caller = { name: null, role: 'admin' };

/** The API without a network in between. */
export function createLocalApi(services: Services): Api {
  const never = new AbortController().signal;
  const entries = (Object.keys(routes) as RouteName[]).map((name) => [
    name,
    routes[name].stream
      ? async function* (input: unknown, signal = never) {
          yield* (await callHandler(services, name, input, { signal, caller: OWNER })) as AsyncIterable<unknown>;
        }
      : (input: unknown, signal = never, more: CallOptions = {}) =>
          callHandler(services, name, input, { signal, caller: OWNER, ...more }),
  ]);
  return Object.fromEntries(entries) as Api;
}

/** What is wrong with a request, in lines. */
export function badInput(error: z.ZodError): AppError {
  const lines = error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return new AppError('bad_input', lines.slice(0, 5).join('\n'), {
    hint:
      lines.length > 5
        ? `${lines.length - 5} more like these. Correct them and try again.`
        : 'Correct it and try again.',
  });
}
