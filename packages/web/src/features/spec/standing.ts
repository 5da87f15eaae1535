import type { Spec, SpecStatus } from '@tidemill/contract';

const LOOKS: Record<SpecStatus, string> = {
  drafting: 'ideating',
  asking: 'waiting',
  draft: 'waiting',
  approved: 'working',
  building: 'working',
  checking: 'reviewing',
  done: 'landed',
  rejected: 'paused',
  aborted: 'crashed',
  failed: 'crashed',
};

/** The page's status class. */
export const lookOf = (status: SpecStatus): string => LOOKS[status];

export const canApprove = ({ status }: Spec) => status === 'draft';
export const canRevise = ({ status, tasks }: Spec) =>
  tasks.length === 0 && (status === 'draft' || status === 'asking' || status === 'failed');
export const canReject = ({ status, tasks }: Spec) => tasks.length === 0 && status !== 'rejected' && status !== 'done';
export const canStop = ({ status }: Spec) => ['drafting', 'approved', 'building', 'checking'].includes(status);
export const canResume = ({ status }: Spec) => status === 'aborted' || status === 'failed';

/** The stage of a task as a status class. */
export function lookOfStage(stage: string | null): string {
  if (stage === null || stage === 'open') return 'idle';
  if (stage === 'done') return 'landed';
  if (stage === 'cancelled') return 'paused';
  return stage === 'needs_info' || stage === 'blocked' ? 'waiting' : 'working';
}
