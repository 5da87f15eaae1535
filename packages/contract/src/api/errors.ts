import { z } from 'zod';

/** Public codes. A caller may switch on them; their meaning does not change. */
export const ErrorCode = z.enum([
  'bad_input',
  'not_found',
  'conflict',
  'conflicts_open',
  'stale_lease',
  'worker_busy',
  'nothing_ready',
  'window_exhausted',
  'wrong_stage',
  'evidence_missing',
  'dependency_cycle',
  'unknown_pipeline',
  'not_a_repository',
  'no_commits',
  'no_project',
  'bad_config',
  'daemon_running',
  'daemon_unreachable',
  'unauthorized',
  'forbidden',
  'port_in_use',
  'store_newer',
  'store_failed',
  'disk_full',
  'git_failed',
  'too_large',
  'too_many',
  'budget_exhausted',
  'already_answered',
  'worker_paused',
  'channel_failed',
  'github_failed',
  'tracker_failed',
  'version_mismatch',
  'internal',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** An expected rejection: nothing changed, and `hint` says what to do. */
export const Refusal = z.object({ code: ErrorCode, message: z.string(), hint: z.string().default('') });
export type Refusal = z.infer<typeof Refusal>;

/** Infrastructure failures, and refusals at the program's boundary. Bugs throw plain errors. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly retriable: boolean;
  constructor(code: ErrorCode, message: string, more: { hint?: string; retriable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = more.hint ?? '';
    this.retriable = more.retriable ?? false;
  }
}
