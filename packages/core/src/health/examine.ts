import type { Severity, Task, Worker } from '@tidemill/contract';
import { workerHealth } from '../fleet/health.ts';
import { type StuckAction, silenceLimitMs, stuckAction } from './stuck.ts';
import { cyclesIn, type WaitGraph } from './wait-graph.ts';

export interface RunningTask {
  task: Task;
  /** Its last activity: output, spending, progress. */
  lastSignAt: number;
  isTesting: boolean;
}

/** What the supervisor looks at once a minute. */
export interface Observation {
  now: number;
  workers: Worker[];
  running: RunningTask[];
  /** Failed runs of the last hour, by worker. */
  errors: Map<string, number>;
  /** Tasks that could be started. */
  queueDepth: number;
  waits: WaitGraph;
}

export interface HealthFinding {
  kind: string;
  subject: string;
  severity: Severity;
  text: string;
  taskId: string | null;
}

export interface StuckTask {
  task: Task;
  silentMs: number;
  action: Exclude<StuckAction, 'none'>;
}

const DEGRADED_ERRORS = 3;
const CRITICAL_ERRORS = 10;
const LOW_QUEUE = 3;
const HIGH_QUEUE = 10;

export function examine(seen: Observation): { findings: HealthFinding[]; stuck: StuckTask[] } {
  const stuck = seen.running.flatMap(({ task, lastSignAt, isTesting }) => {
    const silentMs = seen.now - lastSignAt;
    const action = stuckAction(silentMs, silenceLimitMs(task, isTesting));
    return action === 'none' ? [] : [{ task, silentMs, action }];
  });
  const findings = [
    ...seen.workers.flatMap((worker) => [...ofWorker(worker, seen.now), ...ofErrors(worker, seen.errors)]),
    ...stuck.map(stuckFinding),
    ...ofQueue(seen.queueDepth),
    ...cyclesIn(seen.waits).map(deadlockFinding),
  ];
  return { findings, stuck };
}

function ofWorker(worker: Worker, now: number): HealthFinding[] {
  const health = workerHealth(worker, now);
  const about = { subject: worker.name, taskId: null };
  if (worker.desired === 'stopped' || health === 'healthy') return [];
  if (health === 'degraded')
    return [
      {
        ...about,
        kind: 'worker_degraded',
        severity: 'warning',
        text: `${worker.name} has sent no heartbeat for a minute.`,
      },
    ];
  if (worker.isOutside) {
    const text = `${worker.name}, a worker outside the daemon, no longer responds. Its task is released and its work is kept.`;
    return [{ ...about, kind: 'worker_unresponsive', severity: 'error', text }];
  }
  const text = `${worker.name} no longer responds. Restart it with \`tidemill workers restart ${worker.name}\`.`;
  return [{ ...about, kind: 'worker_unresponsive', severity: 'error', text }];
}

function ofErrors(worker: Worker, errors: Map<string, number>): HealthFinding[] {
  const count = errors.get(worker.id) ?? 0;
  if (count < DEGRADED_ERRORS) return [];
  const severity = count > CRITICAL_ERRORS ? 'error' : 'warning';
  const text = `${count} runs of ${worker.name} failed within the last hour.`;
  return [{ kind: 'error_rate', subject: worker.name, severity, text, taskId: null }];
}

function ofQueue(depth: number): HealthFinding[] {
  const about = { subject: 'queue', taskId: null };
  if (depth < LOW_QUEUE)
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

function stuckFinding({ task, silentMs, action }: StuckTask): HealthFinding {
  const text = `#${task.number} ${task.title} has shown no progress for ${Math.floor(silentMs / 60_000)} minutes.`;
  const severity = action === 'interrupt' ? 'critical' : 'warning';
  return { kind: 'stuck', subject: `#${task.number}`, severity, text, taskId: task.id };
}

function deadlockFinding(cycle: string[]): HealthFinding {
  const text = `These tasks wait for each other: ${[...cycle, cycle[0]].join(' → ')}.`;
  return { kind: 'deadlock', subject: cycle.join(' '), severity: 'critical', text, taskId: null };
}
