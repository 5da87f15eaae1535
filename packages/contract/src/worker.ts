import { z } from 'zod';
import { Actor } from './actor.ts';

/** builder and reviewer run agents; verifier and merger are the engine's own hands for system stages. */
export const Role = z.enum(['builder', 'reviewer', 'verifier', 'merger']);
export type Role = z.infer<typeof Role>;

/** The exclusive, expiring right of a worker to a task. `token` is the fence every write must carry. */
export const Lease = z.object({
  workerId: z.string(),
  /** The daemon instance that runs the worker, or `outside/NAME@TOKEN`. A lease of an instance known to be dead is an orphan. */
  owner: z.string(),
  token: z.number().int(),
  /** Time it stood still by a person's order left out. */
  claimedAt: z.number(),
  expiresAt: z.number(),
});
export type Lease = z.infer<typeof Lease>;

/** A sign of life, with what the worker's processes use. */
export const Beat = z.object({ at: z.number(), memoryMb: z.number(), cpuPercent: z.number() });
export type Beat = z.infer<typeof Beat>;
export const BEATS_KEPT = 10;

/** What a person wants of a worker. A paused one finishes what it has in hand; a frozen one stands still at once. */
export const DesiredState = z.enum(['running', 'paused', 'frozen', 'stopped']);
export type DesiredState = z.infer<typeof DesiredState>;

/**
 * Names repeat over projects and over the hosts of one store, ids do not. One outside the daemon has no host; and workers
 * from before there were hosts keep the id they had.
 */
export const workerIdOf = (projectId: string, name: string, host = '') =>
  host === '' ? `${projectId}/${name}` : `${projectId}/${host}/${name}`;
export const workerName = (workerId: string) => workerId.slice(workerId.lastIndexOf('/') + 1);

/** What a person calls a worker: its name, and its host where another has the same name. */
export const workerLabel = ({ name, host }: Pick<Worker, 'name' | 'host'>, among: Pick<Worker, 'name'>[]) =>
  host !== '' && among.filter((other) => other.name === name).length > 1 ? `${name}@${host}` : name;

export const Worker = z.object({
  /** By `workerIdOf`. */
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  role: Role,
  /** The data folder whose daemon runs it. Empty for one outside, and until the first daemon takes over an older row. */
  host: z.string().default(''),
  /** No child of the daemon: it takes work and hands it in through the API, and nobody here can start or end it. */
  isOutside: z.boolean().default(false),
  desired: DesiredState.default('running'),
  desiredBy: Actor.nullable().default(null),
  desiredAt: z.number().default(0),
  /** Newest last, at most BEATS_KEPT. */
  beats: z.array(Beat).default([]),
  /** Its processes ended by themselves (crashed) or never began (failed): until it is restarted or works again. */
  crash: z
    .object({ error: z.string(), at: z.number(), status: z.enum(['crashed', 'failed']).default('crashed') })
    .nullable()
    .default(null),
  /** Since `resetAt`: tasks it built that have landed, or reviews it gave; and runs of it that failed. */
  completed: z.number().int().default(0),
  errors: z.number().int().default(0),
  lastError: z.string().nullable().default(null),
  /** Counts from here on: a reset worker has no past. */
  resetAt: z.number().default(0),
});
export type Worker = z.infer<typeof Worker>;

/** As the session file and every surface say it. */
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

/** What lies in `.claude-sessions/<name>.session`. A mirror for other programs: the store is the truth. */
export const SessionFile = z.object({
  agentId: z.string().min(1),
  status: WorkerStatus,
  /** The number of the task in hand. */
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
