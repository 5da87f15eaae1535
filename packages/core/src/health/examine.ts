import type { Task, Worker } from '@tidemill/contract';
import { failureFindings, type LastError, type LastRun, quoted } from './failed-runs.ts';
import type { HealthFinding } from './finding.ts';
import { countedSilenceMs, type StuckAction, silenceLimitMs, stuckAction } from './stuck.ts';
import { type HeldTasks, heldFindings, reviewFindings, type WaitingReview } from './waiting.ts';
import { heartbeatHealth } from './worker-health.ts';

export interface RunningTask {
  task: Task;
  /** The name of its worker. */
  worker: string;
  /** Its last activity: output, spending, progress, a gate within its time limit. */
  lastSignAt: number;
  isTesting: boolean;
  /** What its agent printed last. */
  lastOutput?: string;
  /** The tool that it uses now. */
  tool?: string | null;
}

/** What the supervisor looks at once a minute. */
export interface Observation {
  now: number;
  workers: Worker[];
  running: RunningTask[];
  /** Runs that ended within the last hour. */
  ended: LastRun[];
  /** The newest error of each worker. */
  errors: Map<string, LastError>;
  /** Tasks that could be started. */
  queueDepth: number;
  /** The queue was long before. A short run of a few tasks is no reason to tell that few are left. */
  wasLong: boolean;
  /** Tasks that wait for one that does not continue by itself. */
  held: HeldTasks[];
  reviews: WaitingReview[];
}

export interface StuckTask extends Pick<RunningTask, 'task' | 'worker' | 'lastOutput' | 'tool'> {
  silentMs: number;
  action: Exclude<StuckAction, 'none'>;
}

const LOW_QUEUE = 3;
export const HIGH_QUEUE = 10;

export function examine(seen: Observation): { findings: HealthFinding[]; stuck: StuckTask[] } {
  const stuck = seen.running.flatMap(({ task, lastSignAt, isTesting, ...rest }) => {
    const countedMs = countedSilenceMs({ lastSignAt, leftAloneUntil: task.leftAloneUntil }, seen.now);
    const action = stuckAction(countedMs, silenceLimitMs(task, isTesting));
    return action === 'none' ? [] : [{ task, ...rest, silentMs: seen.now - lastSignAt, action }];
  });
  const findings = [
    ...seen.workers.flatMap((worker) => ofWorker(worker, seen.now)),
    ...failureFindings(seen.workers, seen.ended, seen.errors),
    ...stuck.map((each) => stuckFinding(each, seen.workers)),
    ...ofQueue(seen),
    ...heldFindings(seen.held, seen.now),
    ...reviewFindings(seen.reviews, seen.now),
  ];
  return { findings, stuck };
}

/** Heartbeats only. An agent that is silent while its daemon beats is a stuck task. */
function ofWorker(worker: Worker, now: number): HealthFinding[] {
  const health = heartbeatHealth(worker, now);
  const about = { subject: worker.name, taskId: null };
  if (worker.desired === 'stopped' || health === 'healthy') return [];
  if (health === 'degraded') {
    const text = `${worker.name} has sent no heartbeat for a minute.`;
    return [{ ...about, kind: 'worker_degraded', severity: 'warning', text }];
  }
  return [lostWorker(worker)];
}

/** A worker whose heartbeats ended. */
export function lostWorker(worker: Pick<Worker, 'name' | 'host' | 'isOutside'>): HealthFinding {
  const text = worker.isOutside
    ? `${worker.name}, a worker outside the daemon, no longer responds. Its task is released and its work is kept. Start the worker again, or remove it with \`tidemill workers remove ${worker.name}\`.`
    : `${worker.name} no longer responds${worker.host ? `, and so its daemon on ${worker.host}` : ''}. Its task is released and its work is kept. Start that daemon again with \`tidemill up\`, or restart the worker with \`tidemill workers restart ${worker.name}\`.`;
  return { kind: 'worker_unresponsive', subject: worker.name, severity: 'error', text, taskId: null };
}

function ofQueue({ queueDepth: depth, wasLong }: Observation): HealthFinding[] {
  const about = { subject: 'queue', taskId: null };
  if (depth < LOW_QUEUE && wasLong)
    return [
      {
        ...about,
        kind: 'queue_low',
        severity: 'info',
        text: `${depth === 0 ? 'No task is' : depth === 1 ? 'Only 1 task is' : `Only ${depth} tasks are`} left to start.`,
      },
    ];
  if (depth > HIGH_QUEUE)
    return [{ ...about, kind: 'queue_high', severity: 'warning', text: `${depth} tasks are waiting to start.` }];
  return [];
}

function stuckFinding(
  { task, worker, silentMs, action, lastOutput, tool }: StuckTask,
  workers: Worker[],
): HealthFinding {
  const use = workers.find(({ name }) => name === worker)?.beats.at(-1);
  const text = [
    `#${task.number} ${task.title} has shown no progress for ${Math.floor(silentMs / 60_000)} minutes.`,
    ...(lastOutput === undefined ? [] : [`Last output: ${quoted(lastOutput)}`]),
    ...(tool ? [`Running tool: ${quoted(tool)}`] : []),
    ...(use ? [`Its processes use ${use.cpuPercent} % CPU and ${use.memoryMb} MB.`] : []),
    `Restart its worker with \`tidemill workers restart ${worker}\`, or wait: after half an hour it is interrupted and continued. Its work is kept.`,
  ].join(' ');
  const severity = action === 'interrupt' ? 'critical' : 'warning';
  return { kind: 'stuck', subject: `#${task.number}`, severity, text, taskId: task.id };
}
