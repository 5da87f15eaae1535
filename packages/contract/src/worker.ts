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

export const Worker = z.object({
  /** `projectId/name`: names repeat over projects. */
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  role: Role,
});
export type Worker = z.infer<typeof Worker>;
