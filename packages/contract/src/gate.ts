import { z } from 'zod';

export const GateStatus = z.enum(['pass', 'fail', 'unverified']);
export type GateStatus = z.infer<typeof GateStatus>;

/** The gate that every change must pass in every project: see daemon/gates/integrity. */
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
  level: z.string().default(''),
  /** Where it ran: platform, sandbox, network. */
  environment: z.string().default(''),
  /** The hash of all settings that decide what the gate does. Empty on old receipts. */
  config: z.string().default(''),
  /** 2 when the gate had just failed on the same tree: a pass is then a flake. */
  attempt: z.number().int().min(1).default(1),
});
export type Receipt = z.infer<typeof Receipt>;

/** A receipt in the project's chain: `hash` covers the receipt, its position and `prev`. */
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
