import type { Feedback, ProjectRules, PullRequestConfig, PullRequestRef, Task } from '@tidemill/contract';
import { asksForWork, wayBack, wordsOf } from '@tidemill/core';
import type { Forge, PullComment, PullRequest } from '../../ports.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

const MOST_COMMENTS = 50;

/**
 * Passes what people with push access said since the last time to the agent, here or on the task's issue. Returns true if the
 * task went back to it.
 * What GitHub would merge by itself is taken back first: it is not what they asked for.
 */
export async function passOn(
  leased: LeasedTask,
  pull: PullRequest,
  { forge, settings, rules }: { forge: Forge; settings: Pick<PullRequestConfig, 'merge'>; rules: ProjectRules },
): Promise<boolean> {
  const seen = leased.task.pull?.number === pull.number ? leased.task.pull.seen : { comment: 0, line: 0, review: 0 };
  const all = await forge.comments(pull.number);
  const wanted = all.filter(
    ({ id, kind, isTrusted, isApproval, text }) => id > seen[kind] && isTrusted && !isApproval && asksForWork(text),
  );
  // Those above the limit have their turn next time.
  const fresh = wanted.sort((a, b) => a.id - b.id).slice(0, MOST_COMMENTS);
  const isOfIssue = fresh.length === 0 && wayBack(rules, leased.task) !== null;
  if (fresh.length === 0 && !isOfIssue) return false;
  await takeBack(leased.task, pull, { forge, settings });
  if (isOfIssue) {
    await leased.must({ type: 'stage.return_to_builder' });
    return true;
  }
  await leased.must({ type: 'merge.note_pull', number: pull.number, url: pull.url });
  const authors = [...new Set(fresh.map(({ author }) => author))];
  await leased.must({
    type: 'merge.record_comments',
    seen: newest(wanted.length > fresh.length ? fresh : all, seen),
    authors,
    feedback: feedbackOf(fresh, pull),
  });
  return true;
}

/** The forge no longer merges it by itself: an agent works on it again. */
export async function takeBack(
  { offered }: Task,
  { number }: PullRequest,
  { forge, settings }: { forge: Forge; settings: Pick<PullRequestConfig, 'merge'> },
): Promise<void> {
  if (settings.merge === 'auto' || offered?.queuedAfter !== undefined) await forge.unqueue(number);
}

function newest(all: PullComment[], before: PullRequestRef['seen']): PullRequestRef['seen'] {
  const seen = { ...before };
  for (const { kind, id } of all) seen[kind] = Math.max(seen[kind], id);
  return seen;
}

/** Each comment by itself, so that the agent can address each. */
function feedbackOf(comments: PullComment[], { number }: PullRequest): Feedback[] {
  return comments.map(({ author, place, text }) => ({
    kind: 'person' as const,
    text: wordsOf(author, `pull request #${number}${place ? `, ${place}` : ''}`, text),
    files: place ? [place.replace(/:\d+$/, '')] : [],
  }));
}
