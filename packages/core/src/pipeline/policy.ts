import type { FailureClass, ProjectRules } from '@tidemill/contract';

/** How often a class of failure is retried before a person is asked, and how long to wait before each retry. */
export const RETRY_POLICY: Record<FailureClass, { retries: number; backoffMs: number }> = {
  // Infrastructure.
  crash: { retries: 2, backoffMs: 1_000 },
  network: { retries: 2, backoffMs: 5_000 },
  workspace: { retries: 2, backoffMs: 1_000 },
  spawn: { retries: 2, backoffMs: 5_000 },
  overloaded: { retries: 4, backoffMs: 5_000 },
  // Retried without a limit: see VENDOR_WAIT_MS.
  rate_limit: { retries: Number.POSITIVE_INFINITY, backoffMs: 30_000 },
  auth: { retries: Number.POSITIVE_INFINITY, backoffMs: 0 },
  credit: { retries: Number.POSITIVE_INFINITY, backoffMs: 0 },
  // Failures of the agent.
  context_too_long: { retries: 1, backoffMs: 0 },
  refused: { retries: 0, backoffMs: 0 },
  turn_limit: { retries: 1, backoffMs: 0 },
  budget_limit: { retries: 0, backoffMs: 0 },
  timeout: { retries: 1, backoffMs: 0 },
  no_result: { retries: 2, backoffMs: 0 },
  invalid_result: { retries: 2, backoffMs: 0 },
  agent_reported: { retries: 1, backoffMs: 0 },
  // Already tried three times within the run.
  validation: { retries: 0, backoffMs: 0 },
  unverified_gate: { retries: 0, backoffMs: 0 },
  no_progress: { retries: 0, backoffMs: 0 },
  unknown: { retries: 0, backoffMs: 0 },
};

/** Failures of the vendor or the machine. They do not mean that the task makes no progress. */
const INFRASTRUCTURE: readonly FailureClass[] = [
  ...(['crash', 'network', 'rate_limit', 'workspace', 'spawn', 'overloaded', 'auth', 'credit'] as const),
];
export const isInfrastructure = (failure: FailureClass) => INFRASTRUCTURE.includes(failure);

/** After these the vendor's session is intact, and a new run of the same agent continues it. */
const RESUMABLE: readonly FailureClass[] = [...INFRASTRUCTURE, 'timeout', 'turn_limit'];
export const isResumable = (failure: FailureClass) => RESUMABLE.includes(failure);

/** Only a person can repair these. Until then the agent is retried from time to time. */
export const needsPerson = (failure: FailureClass) => failure === 'auth' || failure === 'credit';
export const VENDOR_WAIT_MS = 15 * 60_000;

/** Each wait is four times the previous one, up to 15 minutes. */
export function backoffMs(failure: FailureClass, count: number): number {
  return Math.min(RETRY_POLICY[failure].backoffMs * 4 ** (count - 1), VENDOR_WAIT_MS);
}

/** How often the gates send an agent back within a run, unless the project says otherwise. */
const MAX_VALIDATION_RETRIES = 3;
export const maxValidationRetries = (rules: Pick<ProjectRules, 'maxValidationRetries'>) =>
  rules.maxValidationRetries ?? MAX_VALIDATION_RETRIES;
export const MAX_REVIEW_CYCLES = 3;
/** A person resolves a conflict in this many files or more. */
export const CONFLICT_FILES_LIMIT = 5;
/** Times a task may come back from a system stage (gates fail after the merge, conflicts) before a person is asked. */
export const MAX_RETURNS = 3;
