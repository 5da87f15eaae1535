import type { EventBody, Mode, Project, Task } from '@tidemill/contract';
import { estimateOf, type Shortage, shortageFor } from '../budget/budget.ts';
import { type Purse, pursesOf } from '../budget/period.ts';
import { inTheEnd } from '../budget/usage.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { fenced, findTask } from '../fence.ts';
import { deadEnd } from '../pipeline/dead-end.ts';
import { enter } from '../pipeline/enter.ts';
import { tooManyConflicts } from '../pipeline/open-conflict.ts';
import { parkedIfAsking } from '../pipeline/park.ts';
import { modeOf, roleOf, stageOf } from '../pipeline/stage.ts';
import { accept, refuse } from '../refusal.ts';
import { pick } from '../schedule/pick.ts';
import type { Slice } from '../slice.ts';

export const HEARTBEAT_MS = 30_000;
export const LEASE_MS = 120_000;
/** The hint of a refused claim when somebody else of the same role may be luckier. */
export const FOR_OTHERS = 'some tasks are given to another worker';
export const LEASE_CAP_MS = 8 * 3_600_000;

/**
 *   free ──claim──▶ held ──renew──▶ held ──finish, wait, release──▶ free
 *                    └──── silent for LEASE_MS, or owner dead: expire ──▶ free, its run interrupted
 * Each claim has a larger token than the one before, so whatever an earlier holder still writes is refused.
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
  const leased = slice.list('leasedBy', command.workerId)[0];
  if (leased) return refuse('worker_busy', `${worker.name} already works on #${leased.number}`);
  const jam = worker.role === 'builder' && tooManyConflicts(slice.count('openConflicts', project.id));
  if (jam) return refuse('conflicts_open', jam.text, jam.hint);
  const isPaid = worker.role === 'builder' || worker.role === 'reviewer';
  const purses = isPaid ? pursesOf(slice, project, env.now) : [];
  const closed = shortageFor(purses, 0, env.now);
  if (closed) return refuse('budget_exhausted', closed.text);
  let shortage: Shortage | null = null;
  const isTooDear = (candidate: Task) => {
    const missing = isPaid ? shortageOf(project, candidate, purses, command, env.now) : null;
    shortage ??= missing;
    return missing !== null;
  };
  const window = slice.list('ready', command.projectId, command.role, command.window);
  const task = pick({
    window,
    running: slice.list('scopedRunning', command.projectId),
    workerId: worker.id,
    now: env.now,
    isResting: (candidate) => isResting(project, candidate, command.restingModes ?? []) || isTooDear(candidate),
  });
  if (!task && shortage) return refuse('budget_exhausted', (shortage as Shortage).text);
  if (!task) {
    const code = window.length >= command.window ? 'window_exhausted' : 'nothing_ready';
    const isForOthers = window.some(({ assignee }) => assignee !== null && assignee !== worker.id);
    return refuse(code, 'nothing to claim now', isForOthers ? FOR_OTHERS : '');
  }
  if (roleOf(project.rules, task.pipeline, task.stage) !== worker.role)
    return accept(...overtaken(slice, project, task));
  const token = task.fence + 1;
  const events: EventBody[] = [
    {
      type: 'lease.claimed',
      taskId: task.id,
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
      because: `${worker.name} took it`,
    });
  return accept(...events);
}

function isResting(project: Project, task: Task, modes: Mode[]): boolean {
  if (modes.length === 0) return false;
  const mode = nextModeOf(project, task);
  return mode !== null && modes.includes(mode);
}

/** The same sum that the run's start will ask for: a task given out must not come straight back. */
function shortageOf(
  project: Project,
  task: Task,
  purses: Purse[],
  { agents }: CommandOf<'work.claim'>,
  now: number,
): Shortage | null {
  const mode = agents ? nextModeOf(project, task) : null;
  if (!agents || mode === null) return null;
  return shortageFor(purses, estimateOf(purses, agents[mode] ?? '', mode, task), now);
}

/** The mode an agent would work in on it. */
function nextModeOf({ rules }: Project, task: Task): Mode | null {
  const stage = task.stage === 'open' ? rules.pipelines[task.pipeline]?.start : task.stage;
  const agent = stage === undefined ? undefined : rules.pipelines[task.pipeline]?.stages[stage];
  return agent?.actor === 'agent' ? modeOf(agent, task) : null;
}

/** The pipeline was changed while the task was in it: find out anew whose hands its stage needs, or ask a person. */
function overtaken(slice: Slice, project: Project, task: Task): EventBody[] {
  const pipeline = project.rules.pipelines[task.pipeline];
  if (pipeline && (task.stage === 'open' || stageOf(project.rules, task)))
    return enter(slice, project.rules, task, { to: task.stage, because: 'the pipeline was changed' });
  const text = pipeline
    ? `Pipeline ${task.pipeline} no longer has stage ${task.stage}; its stages are ${Object.keys(pipeline.stages).join(', ')}.`
    : `There is no pipeline ${task.pipeline} any more.`;
  return deadEnd(task, text);
}

export function renew(slice: Slice, command: CommandOf<'lease.renew'>, env: DecideEnv): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task } = checked;
  const { frozenMs = 0, token } = command;
  if (env.now - task.lease!.claimedAt - frozenMs < LEASE_CAP_MS) {
    const frozen = frozenMs > 0 ? { frozenMs } : {};
    return accept({ type: 'lease.renewed', taskId: task.id, token, expiresAt: env.now + LEASE_MS, ...frozen });
  }
  const text = 'A worker held the task for 8 hours, which is the limit. Its work is kept; retry it or cut it smaller.';
  return accept(
    ...interruptRun(slice, task, 'held for longer than 8 hours'),
    { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'time_limit', text },
    released(task, 'time limit'),
  );
}

export function release(slice: Slice, command: CommandOf<'lease.release'>): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task } = checked;
  return accept(...interruptRun(slice, task, command.why), released(task, command.why), ...parkedIfAsking(task));
}

export function expire(slice: Slice, command: CommandOf<'lease.expire'>, env: DecideEnv): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { lease } = found.task;
  if (!lease || lease.token !== command.token) return refuse('conflict', 'that lease is already gone');
  if (!command.ownerIsDead && env.now < lease.expiresAt) return refuse('conflict', 'that lease has not run out');
  const why = command.ownerIsDead ? 'its daemon died' : 'no heartbeat for 120 s';
  const { task } = found;
  return accept(...interruptRun(slice, task, why), released(task, why), ...parkedIfAsking(task));
}

export function released(task: Task, why: string): EventBody {
  return { type: 'lease.released', taskId: task.id, workerId: task.lease!.workerId, token: task.lease!.token, why };
}

/** A run that loses its lease ends as interrupted: nobody counts it, and the task stays in its stage. */
export function interruptRun(slice: Slice, task: Task, why: string): EventBody[] {
  const run = task.lastRunId ? slice.runs.ifLoaded(task.lastRunId) : undefined;
  if (run?.status !== 'running') return [];
  const { id: runId } = run;
  return [
    {
      type: 'run.finished',
      taskId: task.id,
      runId,
      outcome: 'interrupted',
      failure: null,
      message: why,
      envelope: null,
      usage: inTheEnd(run, run.usage, null),
    },
  ];
}
