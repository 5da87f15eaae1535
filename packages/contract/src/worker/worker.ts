import { z } from 'zod';
import { Actor } from '../access/actor.ts';

/** builder and reviewer run agents; verifier and merger are the engine's own workers for system stages. */
export const Role = z.enum(['builder', 'reviewer', 'verifier', 'merger']);
export type Role = z.infer<typeof Role>;

/** The exclusive, expiring right of a worker to a task. `token` is the fence every write must carry. */
export const Lease = z.object({
  workerId: z.string(),
  /** The daemon instance that runs the worker, or `outside/NAME@TOKEN`. A lease of an instance known to be dead is an orphan. */
  owner: z.string(),
  token: z.number().int(),
  /** Without the time it was frozen by a person. */
  claimedAt: z.number(),
  expiresAt: z.number(),
});
export type Lease = z.infer<typeof Lease>;

/** A heartbeat, with the memory and CPU of the worker's processes. */
export const Beat = z.object({
  at: z.number(),
  memoryMb: z.number(),
  cpuPercent: z.number(),
  /** While it works: the last sign of life of its agent, and how long it may be silent. Absent when it is idle or frozen. */
  agent: z.object({ signAt: z.number(), limitMs: z.number() }).optional(),
});
export type Beat = z.infer<typeof Beat>;
export const BEATS_KEPT = 10;

/** What a person wants of a worker. A paused one finishes its current stage; a frozen one stops immediately. */
export const DesiredState = z.enum(['running', 'paused', 'frozen', 'stopped']);
export type DesiredState = z.infer<typeof DesiredState>;

/**
 * Names repeat across projects and hosts of one store, ids do not. A worker outside the daemon has no host. Workers from
 * versions without hosts keep their id.
 */
export const workerIdOf = (projectId: string, name: string, host = '') =>
  host === '' ? `${projectId}/${name}` : `${projectId}/${host}/${name}`;
export const workerName = (workerId: string) => workerId.slice(workerId.lastIndexOf('/') + 1);

/** A worker's label: its name, and its host where another has the same name. */
export const workerLabel = ({ name, host }: Pick<Worker, 'name' | 'host'>, among: Pick<Worker, 'name'>[]) =>
  host !== '' && among.filter((other) => other.name === name).length > 1 ? `${name}@${host}` : name;

export const Worker = z.object({
  /** By `workerIdOf`. */
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  role: Role,
  /** The data folder whose daemon runs it. Empty for an outside worker, and for an older row until a daemon takes it over. */
  host: z.string().default(''),
  /** Not started by the daemon: it claims and delivers work through the API, and the daemon cannot start or end it. */
  isOutside: z.boolean().default(false),
  desired: DesiredState.default('running'),
  desiredBy: Actor.nullable().default(null),
  desiredAt: z.number().default(0),
  /** Newest last, at most BEATS_KEPT. */
  beats: z.array(Beat).default([]),
  /** Its processes ended by themselves (crashed) or did not start (failed). Cleared when it is restarted or works again. */
  crash: z
    .object({ error: z.string(), at: z.number(), status: z.enum(['crashed', 'failed']).default('crashed') })
    .nullable()
    .default(null),
  /** Since `resetAt`: its landed tasks or completed reviews, and its failed runs. */
  completed: z.number().int().default(0),
  errors: z.number().int().default(0),
  lastError: z.string().nullable().default(null),
  /** Figures count from here. */
  resetAt: z.number().default(0),
});
export type Worker = z.infer<typeof Worker>;

/** As the session file and every surface show it. */
export const WorkerStatus = z.enum([
  'idle',
  'working',
  'reviewing',
  'ideating',
  'paused',
  'stopped',
  'crashed',
  'failed',
]);
export type WorkerStatus = z.infer<typeof WorkerStatus>;

export const WorkerHealth = z.enum(['healthy', 'degraded', 'unresponsive']);
export type WorkerHealth = z.infer<typeof WorkerHealth>;

/** The content of `.claude-sessions/<name>.session`. A copy for other programs: the store is authoritative. */
export const SessionFile = z.object({
  agentId: z.string().min(1),
  status: WorkerStatus,
  /** The number of the current task. */
  currentProjectNumber: z.number().int().nullable(),
  currentPhase: z.string().nullable(),
  branchName: z.string().nullable(),
  lastHeartbeat: z.iso.datetime(),
  tasksCompleted: z.number().int().nonnegative(),
  currentTaskDescription: z.string().nullable(),
  errorCount: z.number().int().nonnegative(),
  lastError: z.string().nullable(),
});
export type SessionFile = z.infer<typeof SessionFile>;

/** What a person may do to a worker. `freeze` is a pause that does not wait for the checkpoint. */
export const WorkerOperation = z.enum(['start', 'pause', 'freeze', 'resume', 'stop', 'restart', 'reset']);
export type WorkerOperation = z.infer<typeof WorkerOperation>;
