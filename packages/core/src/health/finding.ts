import type { Severity } from '@tidemill/contract';

/** Something the supervisor tells a person. The alert is closed when the next pass does not find it again. */
export interface HealthFinding {
  kind: SupervisedKind;
  subject: string;
  severity: Severity;
  text: string;
  taskId: string | null;
}

/** The alerts that the supervisor raises and closes. */
export const SUPERVISED_KINDS = [
  'worker_degraded',
  'worker_unresponsive',
  'all_failed',
  'error_rate',
  'queue_low',
  'queue_high',
  'stuck',
  'dependency_cancelled',
  'dependency_blocked',
  'review_waiting',
] as const;
export type SupervisedKind = (typeof SUPERVISED_KINDS)[number];
