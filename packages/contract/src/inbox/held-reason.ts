import type { NeedsYou } from '../task/view.ts';
import type { InboxItem } from './inbox.ts';

/** Why a task waits for a person, in five words at most. */
export const HELD_REASONS: Record<NeedsYou['holds'], string> = {
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

export const heldReason = ({ holds, at }: NeedsYou) =>
  holds === 'waiting' && at === 'merge' ? 'your checkout blocks the landing' : HELD_REASONS[holds];

/**
 * One entry per cause: tasks that wait for the same thing are one entry, with the numbers of the others. A cause that an
 * alert tells already (`told`: the texts of the alerts) is no entry of its own.
 */
export function causesOf(needs: NeedsYou[], told: string[] = []): (NeedsYou & { also: number[] })[] {
  const causes = new Map<string, NeedsYou & { also: number[] }>();
  for (const need of needs) {
    const isShared = need.holds === 'waiting' && need.why !== '';
    if (isShared && told.some((text) => text.includes(need.why))) continue;
    const key = isShared ? need.why : `#${need.number}`;
    const known = causes.get(key);
    if (known) known.also.push(need.number);
    else causes.set(key, { ...need, also: [] });
  }
  return [...causes.values()];
}

const MOST_NAMED = 5;

/** `, also #2, #3 and 7 more`. Empty for a cause of one task. */
export function alsoText(also: number[]): string {
  if (also.length === 0) return '';
  const more = also.length > MOST_NAMED ? ` and ${also.length - MOST_NAMED} more` : '';
  return `, also ${also
    .slice(0, MOST_NAMED)
    .map((number) => `#${number}`)
    .join(', ')}${more}`;
}

/** An inbox item's title in words: that of a task has the code of a reason. */
export function inboxTitle({ ref, title }: Pick<InboxItem, 'ref' | 'title'>): string {
  if (!ref.startsWith('#')) return title;
  const reason = title.replace(/^blocked, /, '');
  return HELD_REASONS[reason as NeedsYou['holds']] ?? title.replaceAll('_', ' ');
}

/** A question's text for a place that shows its task beside it: `stuck: …` of `#7 Sell bread is stuck: …`. */
export function withoutTaskName(text: string, task: { number: number; title: string } | null): string {
  const name = task && [`#${task.number} ${task.title}`, `#${task.number}`].find((each) => text.startsWith(each));
  if (!name || !/^[\s:,]/.test(text.slice(name.length))) return text;
  return text.slice(name.length).replace(/^[\s:,]+(?:(?:is|has) )?/, '');
}
