import { z } from 'zod';
import { by, get, ofTask, post, project, worker } from '../api/route.ts';
import { AgentEnvelope, ReportedUsage } from '../run/run.ts';
import { TaskSummary, WorkerView } from '../task/view.ts';
import { ClaimView, OutsideClaim, OutsideWorkerName } from './claim.ts';
import { WorkerOperation } from './worker.ts';

const tasks = z.object({ tasks: z.array(z.number()) });
const fenced = { ...ofTask, fence: z.number().int().nonnegative() };

export const workerRoutes = {
  workers: get(
    '/v1/projects/:project/workers',
    'The workers and what each is doing',
    z.strictObject({ project }),
    z.array(WorkerView),
  ),
  addWorker: post('/v1/projects/:project/workers', 'Adds a builder', z.strictObject({ project }), WorkerView, {
    decides: true,
  }),
  steerWorkers: post(
    '/v1/projects/:project/workers/:worker/steer',
    'Starts, pauses, freezes, resumes, stops, restarts or resets a worker, or all',
    z.strictObject({ project, worker, operation: WorkerOperation, by }),
    z.array(WorkerView),
    { decides: true },
  ),
  removeWorker: post(
    '/v1/projects/:project/workers/:worker/remove',
    'Removes a builder; its task is released',
    z.strictObject({ project, worker }),
    z.object({ removed: z.string() }),
    { decides: true },
  ),
  recoverStuck: post(
    '/v1/projects/:project/recover',
    'Releases tasks that made no progress for too long',
    z.strictObject({ project, by }),
    tasks,
    {
      decides: true,
      cli: {
        usage: 'recover',
        about: 'release tasks whose worker is gone or has held them for more than 8 hours; work is kept',
        details: 'Returns tasks to the queue whose worker is gone or has held them for more than 8 hours. Work is kept',
        says: ({ tasks: released }) =>
          released.length > 0 ? `Released ${released.map((number) => `#${number}`).join(', ')}.` : 'No task was stuck.',
      },
    },
  ),
  purgeQueue: post(
    '/v1/projects/:project/purge',
    'Cancels every task that has not started',
    z.strictObject({ project, by }),
    tasks,
    { decides: true },
  ),

  claims: get('/v1/projects/:project/claims', 'Who holds which task', z.strictObject({ project }), z.array(ClaimView)),
  /** For a worker that the daemon did not start. */
  claimWork: post(
    '/v1/projects/:project/claims',
    'Claims the next task for a worker outside the daemon; null when there is none',
    z.strictObject({
      project,
      worker: OutsideWorkerName,
    }),
    OutsideClaim.nullable(),
    { decides: false, role: 'worker' },
  ),
  beatClaim: post(
    '/v1/projects/:project/claims/:task/heartbeat',
    'Heartbeat of an outside worker; after 120 s without one its task is released',
    z.strictObject({ ...fenced, percent: z.number().min(0).max(100).optional(), text: z.string().max(300).optional() }),
    z.object({ expiresAt: z.number() }),
    { decides: false, role: 'worker' },
  ),
  releaseClaim: post(
    '/v1/projects/:project/claims/:task/release',
    'Releases an unfinished task; its worktree is kept',
    z.strictObject({ ...fenced, why: z.string().trim().min(1).max(1000).default('given back') }),
    TaskSummary,
    { decides: false, role: 'worker' },
  ),
  finishClaim: post(
    '/v1/projects/:project/claims/:task/finish',
    'Proposes an outcome; the engine commits the worktree and checks it',
    z.strictObject({ ...fenced, result: AgentEnvelope, usage: ReportedUsage.prefault({}) }),
    TaskSummary,
    { decides: false, role: 'worker' },
  ),
};
