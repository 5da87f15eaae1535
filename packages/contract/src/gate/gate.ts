import { z } from 'zod';

export const GateStatus = z.enum(['pass', 'fail', 'unverified']);
export type GateStatus = z.infer<typeof GateStatus>;

/** The gate that every change must pass in every project: see daemon/gates/integrity. */
export const INTEGRITY_GATE = 'integrity';

export const GateCounts = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });
export type GateCounts = z.infer<typeof GateCounts>;

/** How many tests came to an end. Skipped tests did not run. */
export const ranTests = (counts: GateCounts | null): number => (counts ? counts.passed + counts.failed : 0);

/** Whether a failure stops the work, or only warns. */
export const GateSeverity = z.enum(['block', 'warn']);
export type GateSeverity = z.infer<typeof GateSeverity>;

/** From the least to the most severe. */
export const FindingSeverity = z.enum(['low', 'moderate', 'high', 'critical']);
export type FindingSeverity = z.infer<typeof FindingSeverity>;

/** Something that a scanner found. Its texts come from a tool or from the work, and are data. */
export const ScanFinding = z.object({
  severity: FindingSeverity,
  /** The tool's name for it: an advisory, a rule. */
  id: z.string(),
  title: z.string(),
  file: z.string().nullable(),
  line: z.number().nullable(),
});
export type ScanFinding = z.infer<typeof ScanFinding>;

/** One line per finding, for logs and agents. */
export const findingText = ({ severity, id, title, file, line }: ScanFinding): string => {
  const place = file === null ? '' : ` in ${file}${line === null ? '' : `:${line}`}`;
  return `${severity}: ${title === id ? id : `${title} (${id})`}${place}`;
};

/** What a gate found beyond pass and fail. The order of the fields is part of a receipt's hash. */
export const ScanResult = z.object({
  kind: z.enum(['audit', 'scan', 'secrets', 'docs', 'coverage']),
  /** In one line. */
  summary: z.string(),
  /** New findings by severity: those that the target does not have. */
  counts: z.object({ low: z.number(), moderate: z.number(), high: z.number(), critical: z.number() }).nullable(),
  /** Findings that the target has, too. */
  known: z.number(),
  /** Of docs and coverage. */
  percent: z.number().nullable(),
  threshold: z.number().nullable(),
  /** The most severe new ones. */
  findings: z.array(ScanFinding),
  /** Of docs and coverage: what is missing most. */
  missing: z.array(z.string()),
});
export type ScanResult = z.infer<typeof ScanResult>;
export const MOST_FINDINGS = 20;

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
  /** Absent: it blocks. */
  severity: GateSeverity.optional(),
  /** Absent: only the exit code counts. */
  scan: ScanResult.optional(),
  /** What the target's run counted, where fewer tests ran than there, or more were skipped. */
  fewerThan: GateCounts.optional(),
});
export type Receipt = z.infer<typeof Receipt>;

/** Whether the receipt keeps work from landing. */
export const isBlocking = ({ status, severity }: Pick<Receipt, 'status' | 'severity'>): boolean =>
  status !== 'pass' && severity !== 'warn';

/** How a receipt is called. */
export function gateWord({ status, severity }: Pick<Receipt, 'status' | 'severity'>): string {
  if (status === 'pass') return 'passed';
  if (status === 'unverified') return 'unverified';
  return severity === 'warn' ? 'warns' : 'failed';
}

/** A receipt in the project's chain: `hash` covers the receipt, its position and `prev`. */
export const Evidence = Receipt.extend({
  id: z.string(),
  projectId: z.string(),
  /** The task, or the delivery whose commit was proven. */
  taskId: z.string(),
  position: z.number().int(),
  at: z.number(),
  prev: z.string(),
  hash: z.string(),
});
export type Evidence = z.infer<typeof Evidence>;
