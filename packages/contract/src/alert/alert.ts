import { z } from 'zod';
import { recordKind } from '../record/kind.ts';

export const Severity = z.enum(['info', 'warning', 'error', 'critical']);
export type Severity = z.infer<typeof Severity>;

/**
 * Everything Tidemill may tell a person by an alert. Rows and events keep the kind as text, because an older log may have
 * others. `packages/daemon/src/engine/reactors/alert-kinds.test.ts` names for each the test in which it is raised.
 */
export const AlertKind = z.enum([
  'agent_auth',
  'agent_credit',
  'all_failed',
  'autonomy',
  'baseline_red',
  'budget_50',
  'budget_75',
  'budget_90',
  'budget_100',
  'channel',
  'config_adjusted',
  'config_invalid',
  'delivery_failed',
  'delivery_notice',
  'delivery_rolled_back',
  'dependency_blocked',
  'dependency_cancelled',
  'disk_full',
  'environment',
  'error_rate',
  'evidence_missing',
  'flaky_gate',
  'gate_blind',
  'guard_bypassed',
  'guard_proposed',
  'landing_waits',
  'loop_exhausted',
  'loop_paused',
  'loop_stalled',
  'memory_generic',
  'memory_graded',
  'memory_oscillates',
  'memory_unused',
  'no_transition',
  'push_failed',
  'push_refused',
  'queue_high',
  'queue_low',
  'reactor_loop',
  'remote_branch_gone',
  'repository_gone',
  'review_waiting',
  'rollback_failed',
  'spec_stopped',
  'stuck',
  'taken_over',
  'target_diverged',
  'target_gone',
  'target_reset',
  'too_many_conflicts',
  'tracker',
  'tracker_item',
  'worker_degraded',
  'worker_unresponsive',
]);
export type AlertKind = z.infer<typeof AlertKind>;

/** The last alert about a matter, so that it is not repeated too often. */
export const Alert = z.object({
  noun: z.literal('alert'),
  /** `alert/<projectId>/<kind>/<subject>`. */
  id: z.string(),
  projectId: z.string(),
  kind: z.string(),
  subject: z.string(),
  severity: Severity,
  text: z.string(),
  at: z.number(),
  /** How often it was raised, including suppressed repeats. */
  count: z.number().int(),
  acknowledgedAt: z.number().nullable().default(null),
  /** When its condition was over. */
  resolvedAt: z.number().nullable().default(null),
  /** The task it is about, if any. */
  taskId: z.string().nullable().default(null),
});
export type Alert = z.infer<typeof Alert>;

export const ChannelName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]*$/, 'a channel name is lower-case letters, digits, - and _');

/** One delivery: a question or alerts, to one channel. Kept until it is delivered. */
export const Notification = z.object({
  noun: z.literal('notification'),
  id: z.string(),
  projectId: z.string(),
  taskId: z.string().nullable(),
  channel: z.string(),
  severity: Severity,
  title: z.string(),
  text: z.string(),
  /** What it is about: `question/<id>`, `reminder/<id>`, `alert/…`, `task/<id>`, `budget/…`. */
  about: z.string().default(''),
  /** Those of one group that are due together become one message. */
  group: z.string().default(''),
  /** The questions in it, which can be answered by a reply. */
  questionIds: z.array(z.string()),
  createdAt: z.number(),
  /** The time of the next attempt; null when it is delivered or abandoned. */
  nextAt: z.number().nullable(),
  attempts: z.number().int(),
  deliveredAt: z.number().nullable(),
  /** The channel's id of the message, so that a reply can be matched. */
  reference: z.string().nullable(),
  error: z.string().nullable(),
});
export type Notification = z.infer<typeof Notification>;

/** Nobody acknowledged it, and its condition is not over. */
export const isOpenAlert = ({ acknowledgedAt, resolvedAt }: Alert) => acknowledgedAt === null && resolvedAt === null;

export const alertKind = recordKind(Alert, (alert) => ({
  parent: alert.projectId,
  isOpen: isOpenAlert(alert),
  dueAt: null,
}));

export const notificationKind = recordKind(Notification, ({ projectId, taskId, nextAt }) => ({
  parent: taskId ?? projectId,
  isOpen: nextAt !== null,
  dueAt: nextAt,
}));
