import { z } from 'zod';
import { AccountView, BudgetLimits } from './budget.ts';
import { ChannelView } from './channel.ts';
import { Evidence } from './gate.ts';
import { InboxItem } from './inbox.ts';
import { MetricPeriod, MetricsView } from './metrics.ts';
import { Project } from './project.ts';
import { Preference } from './question.ts';
import { Run } from './run.ts';
import { NewTask } from './task.ts';
import {
  DaemonInfo,
  EmergencyImpact,
  EventLine,
  Finding,
  ImportedTask,
  LogChunk,
  ProjectStatus,
  PromptView,
  QuestionView,
  SnapshotView,
  TaskDetail,
  TaskSummary,
  Verification,
  WorkerView,
} from './view.ts';
import { WorkerOperation } from './worker.ts';

declare global {
  /** Declared here so that core, which knows neither browser nor Node, can read the types; both fill it in. */
  interface AbortSignal {}
}

/**
 * The whole API as data. The server, the client and the CLI are built from this table, so a route cannot exist in one
 * and not in the others. `input` is one object: names in the path come from it, the rest travels as query or body.
 */
export interface Route<I extends z.ZodType, O extends z.ZodType, S extends boolean> {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  input: I;
  output: O;
  /** The answer is a sequence of `output`, one JSON object per line. */
  stream: S;
}

const route =
  <S extends boolean>(method: 'GET' | 'POST' | 'PUT', stream: S) =>
  <I extends z.ZodType, O extends z.ZodType>(path: string, input: I, output: O): Route<I, O, S> => ({
    method,
    path,
    input,
    output,
    stream,
  });
const get = route('GET', false);
const post = route('POST', false);
const put = route('PUT', false);
const stream = route('GET', true);

/** What arrives in a path or a query is text. */
const count = () => z.coerce.number<number>().int().nonnegative();
const flag = () =>
  z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean()).default(false);
const words = () =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').filter((word) => word !== '') : value),
      z.array(z.string()),
    )
    .optional();

const project = z.string().min(1);
/** A number (`12`, `#12`) or an id (`task_…`). */
const task = z.coerce.string<string | number>().min(1);
const ofTask = { project, task };
const note = z.string().trim().max(20_000);
/** Who asks, for the record. */
const by = z.string().trim().min(1).max(100).default('person');
const question = z.string().trim().min(1).max(300);
/** `agent-1`, or `all`. */
const worker = z.string().min(1).max(100);

export const routes = {
  health: get('/v1/health', z.strictObject({}), DaemonInfo),
  stop: post('/v1/stop', z.strictObject({ now: z.boolean().default(false) }), z.object({ stopping: z.literal(true) })),
  doctor: get('/v1/doctor', z.strictObject({}), z.object({ ok: z.boolean(), findings: z.array(Finding) })),

  projects: get('/v1/projects', z.strictObject({ root: z.string().optional() }), z.array(Project)),
  registerProject: post('/v1/projects', z.strictObject({ root: z.string().min(1) }), Project),
  attachProject: post(
    '/v1/projects/attach',
    z.strictObject({ root: z.string().min(1), workers: z.number().int().min(1).optional() }),
    z.object({ project: Project, warnings: z.array(z.string()) }),
  ),
  status: get('/v1/projects/:project/status', z.strictObject({ project }), ProjectStatus),
  metrics: get(
    '/v1/projects/:project/metrics',
    z.strictObject({ project, period: MetricPeriod.default('24h'), worker: z.string().min(1).optional() }),
    MetricsView,
  ),
  budget: get('/v1/budget', z.strictObject({}), z.array(AccountView)),
  /** Of all projects; a project's own limits are in its config. */
  limitBudget: put(
    '/v1/projects/:project/budget/total',
    z.strictObject({
      project,
      dailyUsd: BudgetLimits.shape.dailyUsd.unwrap().optional(),
      monthlyUsd: BudgetLimits.shape.monthlyUsd.unwrap().optional(),
      timeZone: z.string().min(1).optional(),
    }),
    AccountView,
  ),

  addTask: post('/v1/projects/:project/tasks', NewTask.extend({ project }), TaskSummary),
  importTasks: post(
    '/v1/projects/:project/tasks/import',
    z.strictObject({ project, tasks: z.array(ImportedTask).min(1, 'the file holds no tasks') }),
    z.object({ created: z.number(), first: z.number(), last: z.number(), keys: z.record(z.string(), z.number()) }),
  ),
  tasks: get(
    '/v1/projects/:project/tasks',
    z.strictObject({
      project,
      stages: words(),
      afterNumber: count().default(0),
      limit: count().min(1).max(1000).default(500),
    }),
    z.array(TaskSummary),
  ),
  task: get('/v1/projects/:project/tasks/:task', z.strictObject(ofTask), TaskDetail),
  prompt: get(
    '/v1/projects/:project/tasks/:task/prompt/:mode',
    z.strictObject({ ...ofTask, mode: z.string().min(1) }),
    PromptView,
  ),
  cancelTask: post('/v1/projects/:project/tasks/:task/cancel', z.strictObject(ofTask), TaskSummary),
  retryTask: post(
    '/v1/projects/:project/tasks/:task/retry',
    z.strictObject({ ...ofTask, note: note.optional(), stage: z.string().min(1).optional() }),
    TaskSummary,
  ),
  approveTask: post(
    '/v1/projects/:project/tasks/:task/approve',
    z.strictObject({ ...ofTask, note: note.optional() }),
    TaskSummary,
  ),
  rejectTask: post(
    '/v1/projects/:project/tasks/:task/reject',
    z.strictObject({ ...ofTask, note: note.min(1, 'a rejection needs a note: say what is wrong') }),
    TaskSummary,
  ),
  setDependencies: put(
    '/v1/projects/:project/tasks/:task/after',
    z.strictObject({ ...ofTask, after: z.array(z.number().int().positive()) }),
    TaskSummary,
  ),

  reassignTask: post(
    '/v1/projects/:project/tasks/:task/reassign',
    z.strictObject({ ...ofTask, worker: worker.nullable().default(null), by }),
    TaskSummary,
  ),

  workers: get('/v1/projects/:project/workers', z.strictObject({ project }), z.array(WorkerView)),
  addWorker: post('/v1/projects/:project/workers', z.strictObject({ project }), WorkerView),
  steerWorkers: post(
    '/v1/projects/:project/workers/:worker/steer',
    z.strictObject({ project, worker, operation: WorkerOperation, by }),
    z.array(WorkerView),
  ),
  removeWorker: post(
    '/v1/projects/:project/workers/:worker/remove',
    z.strictObject({ project, worker }),
    z.object({ removed: z.string() }),
  ),
  emergencyImpact: get('/v1/emergency', z.strictObject({}), EmergencyImpact),
  emergencyStop: post(
    '/v1/emergency',
    z.strictObject({ by, reason: z.string().trim().max(1000).default('asked for') }),
    z.object({ workers: z.array(z.string()), tasks: z.array(z.number()) }),
  ),
  recoverStuck: post(
    '/v1/projects/:project/recover',
    z.strictObject({ project, by }),
    z.object({ tasks: z.array(z.number()) }),
  ),
  purgeQueue: post(
    '/v1/projects/:project/purge',
    z.strictObject({ project, by }),
    z.object({ tasks: z.array(z.number()) }),
  ),

  questions: get(
    '/v1/projects/:project/questions',
    z.strictObject({ project, all: flag(), task: task.optional() }),
    z.array(QuestionView),
  ),
  /** `question`: `Q7.1`, `7.1`, `#7` for the only open one of a task, an id, or its ending. */
  question: get(
    '/v1/projects/:project/questions/:question',
    z.strictObject({ project, question }),
    z.object({ question: QuestionView, diff: z.string() }),
  ),
  answerQuestion: post(
    '/v1/projects/:project/questions/:question/answer',
    z.strictObject({
      ...{ project, question, by },
      text: z.string().optional(),
      /** The number of one of its options, from 1 on. */
      option: z.number().int().positive().optional(),
      useDefault: z.boolean().default(false),
    }),
    QuestionView,
  ),
  /** Every open question that has a default gets it. */
  answerDefaults: post(
    '/v1/projects/:project/answer-defaults',
    z.strictObject({ project, by }),
    z.object({ answered: z.array(QuestionView), left: z.array(QuestionView) }),
  ),
  preferences: get('/v1/projects/:project/preferences', z.strictObject({ project, all: flag() }), z.array(Preference)),
  revokePreference: post(
    '/v1/projects/:project/preferences/revoke',
    z.strictObject({ project, by, preference: z.string().min(1).max(300) }),
    Preference,
  ),

  inbox: get('/v1/projects/:project/inbox', z.strictObject({ project }), z.array(InboxItem)),
  /** Of alerts: `ref` as the inbox shows it, or an id; all of them without one. */
  acknowledge: post(
    '/v1/projects/:project/inbox/acknowledge',
    z.strictObject({ project, by, ref: z.string().min(1).optional() }),
    z.object({ acknowledged: z.number().int() }),
  ),
  channels: get('/v1/projects/:project/channels', z.strictObject({ project }), z.array(ChannelView)),
  testChannel: post(
    '/v1/projects/:project/channels/:channel/test',
    z.strictObject({ project, channel: z.string().min(1) }),
    z.object({ sent: z.literal(true), reference: z.string().nullable() }),
  ),

  run: get('/v1/runs/:run', z.strictObject({ run: z.string().min(1) }), Run),
  runLog: stream(
    '/v1/runs/:run/log',
    z.strictObject({ run: z.string().min(1), offset: count().default(0), follow: flag() }),
    LogChunk,
  ),
  evidence: get(
    '/v1/projects/:project/evidence',
    z.strictObject({
      project,
      task: task.optional(),
      afterPosition: z.coerce.number<number>().int().default(-1),
      limit: count().min(1).max(1000).default(500),
    }),
    z.array(Evidence),
  ),
  verifyEvidence: get(
    '/v1/projects/:project/evidence/verify',
    z.strictObject({ project, commit: z.string().min(1).optional() }),
    Verification,
  ),
  snapshots: get('/v1/projects/:project/snapshots', z.strictObject({ project }), z.array(SnapshotView)),
  restoreSnapshot: post(
    '/v1/projects/:project/snapshots/restore',
    z.strictObject({ project, ref: z.string().min(1), to: z.string().min(1) }),
    z.object({ ref: z.string(), to: z.string() }),
  ),
  events: stream(
    '/v1/events',
    z.strictObject({
      after: count().default(0),
      follow: flag(),
      project: project.optional(),
      task: task.optional(),
      types: words(),
      limit: count().min(1).optional(),
    }),
    EventLine,
  ),
};

export type Routes = typeof routes;
export type RouteName = keyof Routes;
/** What a caller passes, and what a handler gets once it is parsed. */
export type RouteInput<N extends RouteName> = z.input<Routes[N]['input']>;
export type RouteRequest<N extends RouteName> = z.output<Routes[N]['input']>;
export type RouteOutput<N extends RouteName> = z.output<Routes[N]['output']>;
export type RouteAnswer<N extends RouteName> = Routes[N]['stream'] extends true
  ? AsyncIterable<RouteOutput<N>>
  : Promise<RouteOutput<N>>;

/** Every route as a function: a client of a running daemon and the handlers themselves both are one. */
export type Api = {
  [N in RouteName]: (input: RouteInput<N>, signal?: AbortSignal) => RouteAnswer<N>;
};
