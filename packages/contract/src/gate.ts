import { z } from 'zod';

export const GateStatus = z.enum(['pass', 'fail', 'unverified']);
export type GateStatus = z.infer<typeof GateStatus>;

/** The gate every change must pass whatever a project configures: see daemon/gates/integrity. */
export const INTEGRITY_GATE = 'integrity';

export const GateCounts = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });
export type GateCounts = z.infer<typeof GateCounts>;

/** What a gate run produced, before it becomes a link of the chain. */
export const Receipt = z.object({
  gate: z.string(),
  command: z.string(),
  tree: z.string(),
  status: GateStatus,
  exitCode: z.number().nullable(),
  durationMs: z.number(),
  counts: GateCounts.nullable(),
  logHash: z.string(),
});
export type Receipt = z.infer<typeof Receipt>;

/** A receipt in the project's chain: `hash` covers the receipt, its place and `prev`. */
export const Evidence = Receipt.extend({
  id: z.string(),
  projectId: z.string(),
  taskId: z.string(),
  position: z.number().int(),
  at: z.number(),
  prev: z.string(),
  hash: z.string(),
});
export type Evidence = z.infer<typeof Evidence>;
