import type { Feedback, PullRequestConfig, PullRequestRef } from '@tidemill/contract';
import type { Forge, PullComment, PullRequest } from '../../ports.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

const MOST_TEXT = 8_000;
const MOST_COMMENTS = 50;
/** Praise asks for no work. */
const PRAISE = /^(lgtm|looks good( to me)?|thanks?( you)?|ship it|nice( work)?|👍|🎉|:\+1:|:tada:)[.!\s]*$/i;

/**
 * Passes what people with push access said since the last time to the agent. Returns true if the task went back to it.
 * What GitHub would merge by itself is taken back first: it is not what they asked for.
 */
export async function passOn(
  leased: LeasedTask,
  pull: PullRequest,
  { forge, settings }: { forge: Forge; settings: Pick<PullRequestConfig, 'merge'> },
): Promise<boolean> {
  const seen = leased.task.pull?.number === pull.number ? leased.task.pull.seen : { comment: 0, line: 0, review: 0 };
  const all = await forge.comments(pull.number);
  const wanted = all.filter(
    ({ id, kind, isTrusted, isApproval, text }) =>
      id > seen[kind] && isTrusted && !isApproval && text.trim() !== '' && !PRAISE.test(text.trim()),
  );
  // Those above the limit have their turn next time.
  const fresh = wanted.sort((a, b) => a.id - b.id).slice(0, MOST_COMMENTS);
  if (fresh.length === 0) return false;
  if (settings.merge === 'auto') await forge.unqueue(pull.number);
  await leased.must({ type: 'merge.note_pull', number: pull.number, url: pull.url });
  const authors = [...new Set(fresh.map(({ author }) => author))];
  await leased.must({
    type: 'merge.pass_on',
    seen: newest(wanted.length > fresh.length ? fresh : all, seen),
    authors,
    feedback: feedbackOf(fresh, pull),
  });
  return true;
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
    text: `${author} on pull request #${number}${place ? `, ${place}` : ''}:\n${text.slice(0, MOST_TEXT)}`,
    files: place ? [place.replace(/:\d+$/, '')] : [],
  }));
}
