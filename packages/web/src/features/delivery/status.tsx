import type { DeliveryStatus, EnvironmentView } from '@tidemill/contract';

const WORDS: Record<DeliveryStatus, [className: string, text: string]> = {
  waiting: ['waiting', 'waits for approval'],
  requested: ['idle', 'about to begin'],
  running: ['working', 'running'],
  checking: ['reviewing', 'checking'],
  rolling_back: ['crashed', 'rolling back'],
  asking: ['waiting', 'waits for your answer'],
  healthy: ['landed', 'healthy'],
  failed: ['failed', 'failed'],
  rolled_back: ['failed', 'rolled back'],
  rollback_failed: ['failed', 'rollback failed'],
  declined: ['stopped', 'declined'],
  cancelled: ['stopped', 'cancelled'],
  superseded: ['stopped', 'replaced by a newer one'],
};

export function Status({ status }: { status: DeliveryStatus }) {
  const [className, text] = WORDS[status];
  return <span className={className}>{text}</span>;
}

const STATES: Record<EnvironmentView['state'], [className: string, text: string]> = {
  healthy: ['landed', 'healthy'],
  unknown: ['failed', 'state unknown'],
  empty: ['idle', 'nothing delivered yet'],
};

export function State({ state }: { state: EnvironmentView['state'] }) {
  const [className, text] = STATES[state];
  return <span className={className}>{text}</span>;
}

export const short = (commit: string) => commit.slice(0, 10);
