import type { Feedback } from '@tidemill/contract';
import type { Forge, PullRequest, QueuePlace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { checkFeedback } from './pull-text.ts';

/** Reasons that a change of the work can remove. For all others, such as a person or a time limit, a person is asked. */
const OF_THE_WORK = /fail|conflict|invalid/i;

/**
 * Before a pull request goes into the forge's merge queue. `queue`: it may go in. `queued`: it is there. `over`: it was taken
 * out since it went in, and the task is with its agent or with a person.
 */
export async function enterForgeQueue(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest,
  forge: Forge,
): Promise<'queue' | 'queued' | 'over'> {
  const { isQueued, removal } = await forge.queue(pull.number);
  if (isQueued) return 'queued';
  const after = removal?.id ?? '';
  const { queuedAfter } = leased.task.offered!;
  if (removal && queuedAfter !== undefined && queuedAfter !== after) {
    // A merge takes it out, too. The next look finds it merged.
    if ((await forge.pull(pull.number)).state === 'merged') return 'queued';
    await leave(deps, leased, pull, removal, forge);
    return 'over';
  }
  await leased.must({ type: 'merge.queue', after });
  return 'queue';
}

async function leave(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest,
  { id, reason, commit }: NonNullable<QueuePlace['removal']>,
  forge: Forge,
): Promise<void> {
  const { target } = deps.project.rules;
  const why = reason.toLowerCase().replaceAll('_', ' ') || 'no reason given';
  if (!OF_THE_WORK.test(reason)) {
    const text = `its pull request #${pull.number} was taken out of the merge queue (${why}). Add it again?`;
    const approves = 'It goes into the merge queue again.';
    return leased.must({ type: 'merge.ask', about: `queue:${id}`, text, context: pull.url, approves });
  }
  const results = commit === null ? [] : (await forge.checks(commit, target)).results;
  const text =
    `GitHub's merge queue took pull request #${pull.number} out (${why}): it does not pass together with the newest ${target}. ` +
    `${target} is now merged into your worktree. Change your work so that it fits to ${target}; drop nothing of ${target}.`;
  const feedback: Feedback[] = [
    { kind: 'gate', text, files: [], needsTarget: true },
    ...checkFeedback(results.filter(({ state }) => state === 'failed')),
  ];
  const message = `The merge queue took pull request #${pull.number} out. (${why})`;
  await leased.must({ type: 'stage.finish', outcome: 'failed', failure: 'validation', message, feedback });
}
