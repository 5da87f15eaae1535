import type { Pipeline } from '@tidemill/contract';

const build = {
  implement: {
    actor: 'agent',
    mode: 'implement',
    on: { pr_ready: 'verify', no_changes: 'blocked' },
  },
  verify: { actor: 'system', does: 'verify', on: { approved: 'review', failed: 'implement' } },
  review: { actor: 'agent', mode: 'review', on: { approved: 'merge', changes_requested: 'implement' } },
  merge: {
    actor: 'system',
    does: 'merge',
    on: { approved: 'done', failed: 'implement', conflicts_detected: 'implement' },
  },
} satisfies Pipeline['stages'];

/**
 *   feature  open → plan → (plan_review) → implement → verify → review → merge → done
 *   bug      open → investigate          → implement → verify → review → merge → done
 *   quick    open                        → implement → verify          → merge → done
 * `implement` becomes request_changes, and `plan` plan_revision, while there is feedback to address.
 */
export const builtinPipelines: Record<string, Pipeline> = {
  feature: {
    name: 'feature',
    description: 'Plan, build, prove, review, land.',
    start: 'plan',
    stages: {
      plan: { actor: 'agent', mode: 'plan', on: { plan_complete: 'plan_review' } },
      plan_review: {
        actor: 'human',
        onlyIfPlansAreReviewed: true,
        on: { approved: 'implement', changes_requested: 'plan' },
      },
      ...build,
    },
  },
  bug: {
    name: 'bug',
    description: 'Find the cause first, then build, prove, review, land.',
    start: 'investigate',
    stages: {
      investigate: {
        actor: 'agent',
        mode: 'investigate',
        on: { investigation_complete: 'implement', no_changes: 'blocked' },
      },
      ...build,
    },
  },
  quick: {
    name: 'quick',
    description: 'Build, prove, land: for work so small that it needs no plan and no review.',
    start: 'implement',
    stages: {
      implement: build.implement,
      verify: { ...build.verify, on: { approved: 'merge', failed: 'implement' } },
      merge: build.merge,
    },
  },
};
