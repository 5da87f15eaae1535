import {
  type EventBody,
  EXPOSURES,
  isLoopHeld,
  type Job,
  loopId,
  type Mode,
  type Project,
  type Task,
  type Worker,
} from '@tidemill/contract';
import { estimateOf, type Shortage, shortageFor, sizeOf } from '../budget/budget.ts';
import { type BudgetAccount, budgetAccountsOf } from '../budget/period.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { jobEnd } from '../job/job.ts';
import { deadEnd } from '../pipeline/dead-end.ts';
import { enter } from '../pipeline/enter.ts';
import { tooManyConflicts } from '../pipeline/open-conflict.ts';
import { parkedIfAsking } from '../pipeline/park.ts';
import { modeOf, roleOf, stageOf } from '../pipeline/stage.ts';
import { accept, refuse } from '../refusal.ts';
import { landingOrder } from '../schedule/landing-order.ts';
import { pick } from '../schedule/pick.ts';
import type { Slice } from '../slice.ts';
import {
  aboutWork,
  fencedWork,
  findWork,
  interruptRun,
  isJob,
  LEASE_MS,
  nameOf,
  released,
  type Work,
} from '../work.ts';
import { isHeldStart } from './held-start.ts';

export const HEARTBEAT_MS = 30_000;
/** The hint of a refused claim when another worker of the same role may get a task. */
export const FOR_OTHERS = 'some tasks are assigned to another worker';
export const LEASE_CAP_MS = 8 * 3_600_000;
/** Claims that reached the cap since the last success, before a person is asked: each may cost the same again. */
const MAX_CAPPED = 3;

/**
 *   free ──claim──▶ held ──renew──▶ held ──finish, wait, release──▶ free
 *                    └──── silent for LEASE_MS, or owner dead: expire ──▶ free, its run interrupted
 * Each claim has a larger token than the previous one, so a late write of an earlier holder is refused.
 */
export function claim(slice: Slice, command: CommandOf<'work.claim'>, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId);
  const worker = slice.workers.get(command.workerId);
  if (!project || worker?.projectId !== project.id)
    return refuse('not_found', `there is no worker ${command.workerId}`);
  if (worker.role !== command.role)
    return refuse('bad_input', `${worker.name} is a ${worker.role}, not a ${command.role}`);
  if (worker.desired !== 'running')
    return refuse('worker_paused', `${worker.name} is ${worker.desired}`, 'resume it first');
  const leased = slice.list('leasedBy', command.workerId);
  if (leased[0] && !mayJoin(leased, command))
    return refuse('worker_busy', `${worker.name} already works on #${leased[0].number}`);
  const isPaid = worker.role === 'builder' || worker.role === 'reviewer';
  const job = isPaid ? jobOf(slice, worker) : undefined;
  if (job) return refuse('worker_busy', `${worker.name} already works on ${nameOf(job)}`);
  const tooMany = worker.role === 'builder' && tooManyConflicts(slice.count('openConflicts', project.id));
  if (tooMany) return refuse('conflicts_open', tooMany.text, tooMany.hint);
  const budgets = isPaid ? budgetAccountsOf(slice, project, env.now) : [];
  const closed = shortageFor(budgets, 0, env.now, slice.calendars);
  if (closed) return refuse('budget_exhausted', closed.text);
  let shortage: Shortage | null = null;
  const exceedsBudget = (candidate: Task) => {
    const missing = isPaid ? shortageOf(slice, project, candidate, budgets, command, env.now) : null;
    shortage ??= missing;
    return missing !== null;
  };
  // What has begun goes on. Landing costs nothing.
  const isHeld = isPaid && isLoopHeld(slice.record('loop', loopId(project.id)), env.now);
  const window = slice.list('ready', command.projectId, command.role, command.window);
  const running = slice.list('scopedRunning', command.projectId);
  const task = pick({
    window: command.role === 'merger' ? landingOrder(window) : window,
    running,
    workerId: worker.id,
    now: env.now,
    isResting: (candidate) =>
      isResting(project, candidate, command.restingModes ?? []) ||
      (isPaid && command.holds !== undefined && isHeldStart(project.rules, candidate, command.holds)) ||
      willConflict(candidate, leased) ||
      exceedsExposure(project, candidate, running) ||
      (isHeld && candidate.origin?.kind === 'loop') ||
      exceedsBudget(candidate),
  });
  if (!task && shortage) return refuse('budget_exhausted', (shortage as Shortage).text);
  if (!task) {
    const code = window.length >= command.window ? 'window_exhausted' : 'nothing_ready';
    if (code === 'nothing_ready' && isHeld && window.some(({ origin }) => origin?.kind === 'loop'))
      return refuse('budget_exhausted', "the loop's budget of a day is spent", '`tidemill loop` shows until when');
    const isForOthers = window.some(({ assignee }) => assignee !== null && assignee !== worker.id);
    return refuse(code, 'nothing to claim now', isForOthers ? FOR_OTHERS : '');
  }
  if (roleOf(project.rules, task.pipeline, task.stage) !== worker.role)
    return accept(...afterPipelineChange(slice, project, task));
  const token = task.fence + 1;
  const events: EventBody[] = [
    {
      type: 'lease.claimed',
      subjectId: task.id,
      workerId: worker.id,
      owner: command.owner,
      token,
      expiresAt: env.now + LEASE_MS,
    },
  ];
  const pipeline = project.rules.pipelines[task.pipeline];
  if (task.stage === 'open' && pipeline)
    events.push({
      type: 'task.moved',
      taskId: task.id,
      from: 'open',
      to: pipeline.start,
      because: `${worker.name} claimed it`,
    });
  return accept(...events);
}

/** Only a merger holds several tasks: those that land together. */
const mayJoin = (leased: Task[], { role, batch = 1, owner }: CommandOf<'work.claim'>): boolean =>
  role === 'merger' && leased.length < batch && leased.every(({ lease }) => lease?.owner === owner);

/** With a member of the batch: it would have to leave the batch again. */
const willConflict = ({ forecast }: Task, members: Task[]) =>
  forecast.some(({ taskId }) => members.some(({ id }) => id === taskId));

/** The loop's tasks are built by a few agents at once, as many as its exposure allows. */
function exceedsExposure({ rules }: Project, candidate: Task, running: Task[]): boolean {
  if (candidate.origin?.kind !== 'loop' || candidate.role !== 'builder') return false;
  const built = running.filter(({ origin, role }) => origin?.kind === 'loop' && role === 'builder').length;
  return built >= EXPOSURES[rules.loop.exposure - 1]!.agents;
}

const jobOf = (slice: Slice, worker: Worker): Job | undefined =>
  slice
    .list('readOpenRecords', worker.projectId, 'job')
    .filter((record) => record.noun === 'job')
    .find(({ lease }) => lease?.workerId === worker.id);

function isResting(project: Project, task: Task, modes: Mode[]): boolean {
  if (modes.length === 0) return false;
  const mode = nextModeOf(project, task);
  return mode !== null && modes.includes(mode);
}

/** The same amount that `run.start` will reserve. Otherwise a claimed task would be refused at its start. */
function shortageOf(
  slice: Slice,
  project: Project,
  task: Task,
  budgets: BudgetAccount[],
  { agents }: CommandOf<'work.claim'>,
  now: number,
): Shortage | null {
  const mode = agents ? nextModeOf(project, task) : null;
  if (!agents || mode === null) return null;
  return shortageFor(budgets, estimateOf(budgets, agents[mode] ?? '', mode, sizeOf(task)), now, slice.calendars);
}

/** The mode of the task's next run. */
function nextModeOf({ rules }: Project, task: Task): Mode | null {
  const stage = task.stage === 'open' ? rules.pipelines[task.pipeline]?.start : task.stage;
  const agent = stage === undefined ? undefined : rules.pipelines[task.pipeline]?.stages[stage];
  return agent?.actor === 'agent' ? modeOf(agent, task) : null;
}

/** The pipeline changed while the task was in it: set its role again, or ask a person. */
function afterPipelineChange(slice: Slice, project: Project, task: Task): EventBody[] {
  const pipeline = project.rules.pipelines[task.pipeline];
  if (pipeline && (task.stage === 'open' || stageOf(project.rules, task)))
    return enter(slice, project.rules, task, { to: task.stage, because: 'the pipeline was changed' });
  const text = pipeline
    ? `Pipeline ${task.pipeline} no longer has stage ${task.stage}; its stages are ${Object.keys(pipeline.stages).join(', ')}.`
    : `Pipeline ${task.pipeline} no longer exists.`;
  return deadEnd(task, text);
}

export function renew(slice: Slice, command: CommandOf<'lease.renew'>, env: DecideEnv): Decision {
  const checked = fencedWork(slice, command);
  if (!checked.ok) return checked;
  const { work } = checked;
  const { frozenMs = 0, token } = command;
  if (env.now - work.lease!.claimedAt - frozenMs < LEASE_CAP_MS) {
    const frozen = frozenMs > 0 ? { frozenMs } : {};
    return accept({ type: 'lease.renewed', ...aboutWork(work), token, expiresAt: env.now + LEASE_MS, ...frozen });
  }
  const why = 'held for longer than 8 hours';
  if (isJob(work)) {
    const failed = { status: 'failed', why: 'A worker held it for 8 hours, which is the limit.' } as const;
    return accept(...interruptRun(slice, work, why), ...jobEnd(slice, work, failed, env), released(work, 'time limit'));
  }
  const count = (work.counters.failures.time_limit ?? 0) + 1;
  const counted: EventBody = { type: 'failure.counted', taskId: work.id, failure: 'time_limit', count, notBefore: 0 };
  if (count < MAX_CAPPED) return accept(counted, ...endLease(slice, work, why));
  const text = `Workers held it for 8 hours, which is the limit, ${count} times. Its work is kept; retry it or make it smaller.`;
  const blocked = { type: 'task.blocked', taskId: work.id, from: work.stage, reason: 'time_limit', text } as const;
  return accept(...interruptRun(slice, work, why), counted, blocked, released(work, 'time limit'));
}

export function release(slice: Slice, command: CommandOf<'lease.release'>): Decision {
  const checked = fencedWork(slice, command);
  return checked.ok ? accept(...endLease(slice, checked.work, command.why)) : checked;
}

export function expire(slice: Slice, command: CommandOf<'lease.expire'>, env: DecideEnv): Decision {
  const found = findWork(slice, command);
  if (!found.ok) return found;
  const { lease } = found.work;
  if (!lease || lease.token !== command.token) return refuse('conflict', 'that lease has already ended');
  if (!command.ownerIsDead && env.now < lease.expiresAt) return refuse('conflict', 'that lease has not expired');
  const why = command.ownerIsDead ? 'its daemon died' : 'no heartbeat for 120 s';
  return accept(...endLease(slice, found.work, why, lease.expiresAt - LEASE_MS));
}

/** The run ends as interrupted. A task with open questions waits for the answers; other work waits for the next worker. */
export function endLease(slice: Slice, work: Work, why: string, lostAt?: number): EventBody[] {
  const after = isJob(work) ? [] : parkedIfAsking(work);
  return [...interruptRun(slice, work, why, lostAt), released(work, why), ...after];
}
