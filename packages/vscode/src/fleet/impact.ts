import type { EmergencyImpact } from '@tidemill/contract';
import { plural } from '../words.ts';

const MOST_LINES = 20;

/** What an emergency stop ends, by agent and task. Null: it could not be listed. */
export function impactText(impact: EmergencyImpact | null): string {
  const after = 'Every agent is killed within five seconds and stays stopped. Work is kept in the worktrees.';
  if (!impact) return `The running agents cannot be listed now. You can still stop everything.\n\n${after}`;
  const { busy } = impact;
  const deliveries = impact.deliveries.map(
    ({ project, ref, environment }) => `The delivery ${ref} to ${environment} (${project}) is stopped and rolled back.`,
  );
  if (busy.length === 0)
    return [['No agent is working. No agent will start new work.', ...deliveries].join('\n'), after].join('\n\n');
  const shown = busy
    .slice(0, MOST_LINES)
    .map(({ project, worker, number, title }) => `${worker} on #${number} ${title} (${project})`);
  const more = busy.length > MOST_LINES ? [`and ${busy.length - MOST_LINES} more`] : [];
  return [`This stops ${plural(busy.length, 'working agent')}:`, ...shown, ...more, ...deliveries, '', after].join(
    '\n',
  );
}
