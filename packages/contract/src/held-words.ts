import type { InboxItem } from './inbox.ts';
import type { NeedsYou } from './view.ts';

/** Why a task waits for a person, in five words at most. */
export const HELD_WORDS: Record<NeedsYou['holds'], string> = {
  validation: 'gates keep failing',
  review_escalation: 'builder and reviewer disagree',
  no_criteria: 'no criteria to judge by',
  no_changes: 'the agent changed nothing',
  conflict: 'a conflict needs you',
  agent_failed: 'the agent keeps failing',
  unverified_gate: 'a gate could not run',
  no_transition: 'no next stage',
  time_limit: 'it took too long',
  no_progress: 'the same failure, three times',
  skipped: 'you skipped it',
  question: 'has a question for you',
  approval: 'needs your approval',
  waiting: 'it cannot continue',
  cancelled_dependency: 'depends on a cancelled task',
};

export const heldText = ({ holds, at }: NeedsYou) =>
  holds === 'waiting' && at === 'merge' ? 'your checkout blocks the landing' : HELD_WORDS[holds];

/** An inbox item's title in words: that of a task has the code of a reason. */
export function inboxTitle({ ref, title }: Pick<InboxItem, 'ref' | 'title'>): string {
  if (!ref.startsWith('#')) return title;
  const reason = title.replace(/^blocked, /, '');
  return HELD_WORDS[reason as NeedsYou['holds']] ?? title.replaceAll('_', ' ');
}
