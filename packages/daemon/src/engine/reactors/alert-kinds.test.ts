import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AlertKind } from '@tidemill/contract';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../../../../..');
const alerts = 'packages/daemon/src/engine/reactors/alerts.test.ts';
const conditions = 'packages/daemon/src/engine/reactors/conditions.test.ts';
const merging = 'packages/daemon/src/engine/merge/merge-stage.test.ts';
const remotes = 'packages/daemon/src/engine/merge/shared-remote.test.ts';
const spending = 'packages/daemon/src/engine/reactors/spending.test.ts';
const memory = 'packages/daemon/src/engine/reactors/memory.test.ts';
const loop = 'packages/daemon/src/engine/reactors/loop.test.ts';
const guards = 'packages/daemon/src/engine/reactors/guard-watch.test.ts';
const tracker = 'packages/daemon/src/engine/reactors/tracker.test.ts';
const deliveries = 'packages/daemon/src/engine/delivery/deliveries.test.ts';
const money = 'raises alerts, stops at the limit within one request, and resumes at midnight';
const settings = 'test/e2e/budget.test.ts';
const outage = 'is %s while all work stops';

/** The test in which each kind of alert is raised. A kind without one does not compile. */
const RAISED: Record<AlertKind, [file: string, test: string]> = {
  agent_auth: [conditions, 'is %s when the agent needs a person'],
  agent_credit: [conditions, 'is %s when the agent needs a person'],
  all_failed: [alerts, 'that all fail are one critical alert with the last error'],
  autonomy: [
    'packages/core/src/question/hold.test.ts',
    'is not needed with notify_and_proceed, which raises an alert and continues',
  ],
  baseline_red: [conditions, 'is raised once for a target that fails its gates, with the repair command'],
  budget_50: [spending, money],
  budget_75: [conditions, 'an alert is raised when three quarters of the budget are spent'],
  budget_90: [spending, money],
  budget_100: [spending, money],
  channel: ['packages/daemon/src/channels/delivery.test.ts', 'for a wrong token has a clear error and one alert'],
  config_adjusted: [settings, 'impossible values are replaced, and reported'],
  config_invalid: [settings, 'an invalid one is reported and changes nothing'],
  delivery_failed: [deliveries, 'has failed when there is nothing to go back to, and that is told'],
  delivery_notice: [deliveries, 'with notify_and_proceed tells people and begins'],
  delivery_rolled_back: [deliveries, 'is rolled back to the last healthy commit after a failed check'],
  dependency_blocked: [alerts, 'are told after two hours when it is blocked'],
  dependency_cancelled: [alerts, 'are told within a minute when it is cancelled'],
  disk_full: [conditions, outage],
  environment: [conditions, 'is raised for prepare steps that fail for everyone'],
  error_rate: [alerts, 'whose runs fail again and again raise the error rate'],
  evidence_missing: [conditions, 'is raised for commits on the target whose evidence the store does not have'],
  flaky_gate: [merging, 'a gate that fails and passes on the same tree is a flake'],
  gate_blind: [
    'packages/daemon/src/engine/tripwire/tripwires.test.ts',
    'a slow gate is tried after the landing, and stops the next one until a person acknowledges it',
  ],
  guard_bypassed: [guards, 'lets one call of one task pass after a bypass, which is recorded and counts against it'],
  guard_proposed: [guards, 'observes, is approved, and then refuses with its reason'],
  landing_waits: [alerts, 'is told after a minute with what to do'],
  loop_exhausted: [loop, 'has one alert when all categories rest, stays idle, and goes on after the rest'],
  loop_paused: [loop, 'the loop pauses with an alert when too many runs fail, and goes on when it is switched on'],
  loop_stalled: [loop, 'a stall of an hour is told with what waits for what, and is over with the next step'],
  memory_generic: [memory, 'tells that agents record what is too general, or grade themselves'],
  memory_graded: [memory, 'tells that agents record what is too general, or grade themselves'],
  memory_oscillates: [memory, 'tells that a lesson is disputed'],
  memory_unused: [memory, 'tells that lessons are stored and not used'],
  no_transition: ['packages/core/src/pipeline/end-stage.test.ts', 'in %s, %s with the outcome %s leads to %s'],
  push_failed: [remotes, 'that is down holds nothing up'],
  push_refused: [remotes, 'that refuses the push lands nothing'],
  queue_high: [alerts, 'with a queue that is too long or too short raise an alert'],
  queue_low: [alerts, 'with a queue that is too long or too short raise an alert'],
  reactor_loop: [
    'packages/daemon/src/engine/reactors/host.test.ts',
    'of a reactor over its own events pauses it, with one alert; others continue',
  ],
  remote_branch_gone: [conditions, 'is raised for a branch that was deleted at the remote'],
  repository_gone: [conditions, outage],
  review_waiting: [alerts, 'is told after two hours with the reason, and is over when it is done'],
  rollback_failed: [deliveries, 'a rollback that fails too asks a person with the exact commands'],
  spec_stopped: [
    'packages/daemon/src/engine/reactors/specs.test.ts',
    'a blocked task of the database stops the building',
  ],
  stuck: [alerts, 'names its worker, and is over when it shows a sign of life'],
  target_diverged: [remotes, 'that was pushed by force stops merging until a person brings both together'],
  taken_over: [conditions, outage],
  target_gone: [conditions, outage],
  target_reset: [conditions, 'is raised for a target that was reset before landed work'],
  too_many_conflicts: [
    'packages/core/src/conflict/conflict.test.ts',
    'keep new work from builders only and raise one alert; with five, work continues',
  ],
  tracker: [tracker, 'a tracker that is in trouble is told once, and closes by itself'],
  tracker_item: [tracker, 'a text by a stranger waits for a person, and again when it is edited'],
  worker_degraded: [alerts, 'of a daemon that died are degraded, then unresponsive'],
  worker_unresponsive: [alerts, 'of a daemon that died are degraded, then unresponsive'],
};

it.each(Object.entries(RAISED))('the alert kind %s is raised in a test', (kind, [file, test]) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  expect(text).toContain(test);
  expect(text).toContain(kind);
});
