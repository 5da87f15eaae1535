import { z } from 'zod';
import { Duration } from '../text/duration.ts';

/** The pull request of a task. It stays the same over all rounds of work. */
export const PullRequestRef = z.object({
  number: z.number().int(),
  url: z.string(),
  /** The newest comment of each kind that was passed on. */
  seen: z.object({ comment: z.number(), line: z.number(), review: z.number() }),
});
export type PullRequestRef = z.infer<typeof PullRequestRef>;

/** How a task lands with `landing: pull_request`. */
export const PullRequestConfig = z.strictObject({
  /**
   * Who merges. `tidemill`: Tidemill, when all checks have passed. `auto`: GitHub, by its merge queue or auto-merge.
   * `person`: nobody but people.
   */
  merge: z.enum(['tidemill', 'auto', 'person']).default('tidemill'),
  method: z.enum(['squash', 'merge', 'rebase']).default('squash'),
  /** Checks that must pass besides those that GitHub requires. Without both, every reported check must pass. */
  checks: z.array(z.string().min(1)).default([]),
  /** What happens when no check is reported. That is never taken as passed: `continue` says so in the pull request. */
  noChecks: z.enum(['ask', 'continue', 'wait']).default('ask'),
  /** How long the first check may take to appear. */
  noChecksAfter: Duration.default(600_000),
  /** How often GitHub is asked for news. Unchanged answers cost no request. */
  poll: Duration.default(30_000),
});
export type PullRequestConfig = z.infer<typeof PullRequestConfig>;
