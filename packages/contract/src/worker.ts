import { z } from 'zod';

/** builder and reviewer run agents; verifier and merger are the engine's own hands for system stages. */
export const Role = z.enum(['builder', 'reviewer', 'verifier', 'merger']);
export type Role = z.infer<typeof Role>;

/** The exclusive, expiring right of a worker to a task. `token` is the fence every write must carry. */
export const Lease = z.object({
  workerId: z.string(),
  /** The daemon instance that runs the worker. A lease of an instance known to be dead is an orphan. */
  owner: z.string(),
  token: z.number().int(),
  claimedAt: z.number(),
  expiresAt: z.number(),
});
export type Lease = z.infer<typeof Lease>;

/** A sign of life, with what the worker's processes use. */
export const Beat = z.object({ at: z.number(), memoryMb: z.number(), cpuPercent: z.number() });
export type Beat = z.infer<typeof Beat>;
export const BEATS_KEPT = 10;

/** What a person wants of a worker. A paused one finishes what it has in hand; a frozen one stands still at once. */
export const WorkerWish = z.enum(['running', 'paused', 'frozen', 'stopped']);
export type WorkerWish = z.infer<typeof WorkerWish>;

export const Worker = z.object({
  /** `projectId/name`: names repeat over projects. */
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  role: Role,
  wish: WorkerWish.default('running'),
  wishedBy: z.string().default(''),
  wishedAt: z.number().default(0),
  /** Newest last, at most BEATS_KEPT. */
  beats: z.array(Beat).default([]),
  /** Its processes ended by themselves: what with, until it is restarted or works again. */
  crash: z.object({ error: z.string(), at: z.number() }).nullable().default(null),
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
