import { AppError, type Task } from '@tidemill/contract';
import { forgeWaitsFor, judgeChecks, withoutClosingKeywords } from '@tidemill/core';
import type { BranchChecks, Candidate, PullRequest } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { proofHash } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { enterForgeQueue } from './forge-queue.ts';
import { landingMessage, waitFor } from './land.ts';
import type { MergeTools } from './merge-stage.ts';
import { settleMerged } from './merged-pull.ts';
import { passOn, takeBack } from './pull-comments.ts';
import { checkFeedback, gateResults, markerOf, pullBody, pullTitle } from './pull-text.ts';
import { pushProven } from './push-proven.ts';
import { endAsEmpty, sendBackConflict } from './send-back.ts';

/** PullWatch wakes the task when something changes on the forge, so it need not look often itself. */
const LOOK_AGAIN_MS = 10 * 60_000;
const SOON_MS = 5_000;
const HELD = { untilMs: 60_000, maxMs: LOOK_AGAIN_MS };

export type PullTools = MergeTools & NonNullable<EngineDeps['pullRequests']>;

/**
 * Lands a task by a pull request. The forge is the truth about the pull request, so every step can be repeated after a
 * crash: it is found again by its branch, and what is there already is not done twice.
 *
 *   proven ──push──▶ offered ──open──▶ waits ──checks pass──▶ merged by us, the forge or a person ──▶ done
 *                                        ├─ people comment, a check fails, it conflicts ──▶ back to the agent
 *                                        └─ closed by hand, no checks at all ──▶ a person is asked
 */
export async function landByPull(
  deps: EngineDeps,
  leased: LeasedTask,
  candidate: Candidate,
  tools: PullTools,
): Promise<void> {
  try {
    await step(deps, leased, candidate, tools);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'github_failed') throw error;
    await waitFor(leased, [error.message, error.hint].filter(Boolean).join(' '), HELD);
  }
}

async function step(deps: EngineDeps, leased: LeasedTask, now: Candidate, tools: PullTools): Promise<void> {
  const { task } = leased;
  const found = await findPull(leased, tools);
  if (found === 'foreign') return;
  const isMerged = found?.state === 'merged';
  const candidate = isMerged ? await settleMerged(deps, leased, found, now, tools.prover) : now;
  if (!candidate) return;
  const pull = isMerged ? null : found;
  if (pull?.state === 'closed' && !(await reopened(leased, pull, tools))) return;
  if (candidate.kind === 'empty') return endAsEmpty(leased);
  const isMoved = pull !== null && task.offered !== null && pull.head !== task.offered.commit;
  // A push that a crash or a lost answer kept from being recorded is Tidemill's own.
  const isOwnPush = isMoved && (await deps.workspace.open(leased.ref)).tip === pull.head;
  if (isMoved && !isOwnPush) return waitForOthers(leased, pull);
  if (pull && (await passOn(leased, pull, { ...tools, rules: deps.project.rules }))) return;
  if (candidate.kind === 'conflict') return sendBackConflict(deps, leased, candidate);
  if (!task.offered || isOwnPush) return offer(deps, leased, candidate, pull, tools);
  return proceed(deps, leased, pull, candidate, tools);
}

/** The task's pull request. One with the same branch that another Tidemill or a person opened is left alone. */
async function findPull(leased: LeasedTask, { forge }: PullTools): Promise<PullRequest | null | 'foreign'> {
  const { task, ref } = leased;
  const known = task.pull ? await forge.pull(task.pull.number) : null;
  // After a merge the branch may have gone on, with a pull request that a crash kept from being recorded.
  if (known && (known.state !== 'merged' || known.head === task.offered?.commit)) return known;
  const pull = await forge.pullOf(ref.branch);
  if (!pull || pull.body.includes(markerOf(task))) return pull ?? known;
  if (pull.state !== 'open') return known;
  const why = `The pull request #${pull.number} of the branch ${ref.branch} is not Tidemill's (${pull.url}). Close it, or rename its branch.`;
  await waitFor(leased, why, HELD);
  return 'foreign';
}

/** A person closed it. Only a person decides to open it again. */
async function reopened(leased: LeasedTask, pull: PullRequest, { forge }: PullTools): Promise<boolean> {
  const about = `closed:${pull.number}:${pull.closedAt ?? ''}`;
  if (leased.task.approvedPulls.includes(about)) {
    await forge.edit(pull.number, { state: 'open' });
    return true;
  }
  const text = `the pull request #${pull.number} was closed without being merged. Open it again?`;
  const context = `${pull.url}\nThe work is kept. \`tidemill task cancel ${leased.task.number}\` ends the task.`;
  await leased.must({ type: 'merge.ask', about, text, context, approves: 'Tidemill opens it again and goes on.' });
  return false;
}

/** Somebody pushed to the branch. Nothing is overwritten, and what was not proven is not merged by Tidemill. */
function waitForOthers(leased: LeasedTask, { number, head, url }: PullRequest): Promise<void> {
  const why =
    `Somebody else pushed ${head.slice(0, 10)} to the branch of pull request #${number}. Tidemill neither overwrites nor merges it. ` +
    `Merge it on GitHub (${url}), or set the branch back to ${leased.task.offered!.commit.slice(0, 10)}.`;
  return waitFor(leased, why, HELD);
}

/** Proves the branch with the newest target, pushes it, and opens or renews the pull request. */
async function offer(
  deps: EngineDeps,
  leased: LeasedTask,
  candidate: Extract<Candidate, { kind: 'clean' }>,
  pull: PullRequest | null,
  tools: PullTools,
): Promise<void> {
  const pushing = { prover: tools.prover, isMergedByPerson: tools.settings.merge === 'person' };
  const pushed = await pushProven(deps, leased, candidate, pushing);
  if (!pushed) return;
  if (pushed.kind !== 'offered') {
    const why =
      pushed.kind === 'none'
        ? 'Work lands by pull requests, but the repository has no remote. Add one, or change `landing`.'
        : `The branch ${leased.ref.branch} could not be pushed, and Tidemill never forces: ${pushed.why}`;
    return waitFor(leased, why, HELD);
  }
  const task = (await deps.store.task(leased.task.id))!;
  const now = await opened(deps, leased, pull, tools, task);
  // Checks take their time, and their results wake the task.
  await look(leased, now, `Pull request #${now.number} is open, and its checks have just begun.`, tools.settings.poll);
}

/** Opens the pull request if there is none, renews its text if that changed, and publishes the results of the gates. */
async function opened(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest | null,
  { forge }: PullTools,
  task: Task = leased.task,
  notes: string[] = [],
): Promise<PullRequest> {
  const { commit, tree } = task.offered!;
  const body = await pullBody(deps, task, { tree, repository: await forge.repository(), notes });
  const title = pullTitle(task);
  const { target } = deps.project.rules;
  const now = pull ?? (await forge.open({ branch: leased.ref.branch, target, title, body }));
  await leased.must({ type: 'merge.note_pull', number: now.number, url: now.url });
  if (now.body.trim() !== body.trim() || now.title !== title) await forge.edit(now.number, { title, body });
  await forge.report(commit, await gateResults(deps, tree));
  return { ...now, title, body };
}

async function proceed(
  deps: EngineDeps,
  leased: LeasedTask,
  found: PullRequest | null,
  candidate: Extract<Candidate, { kind: 'clean' }>,
  tools: PullTools,
): Promise<void> {
  const { forge, settings } = tools;
  const { task } = leased;
  const { commit } = task.offered!;
  const checks = await forge.checks(commit, deps.project.rules.target);
  const verdict = judgeChecks(checks, settings);
  // The text is written once with what it has to say, or each look would change it back and forth.
  const isBare = verdict.kind === 'none' && found !== null && goesWithoutChecks(deps, task, found, tools);
  const notes = isBare ? [`${noChecksYet(commit)}. Only the gates above were run.`] : [];
  const pull = await opened(deps, leased, found, tools, task, notes);
  if (verdict.kind === 'failed') {
    // Its checks may be run again, and it would be merged while an agent works on it.
    await takeBack(task, pull, tools);
    const names = verdict.results.map(({ name }) => name).join(', ');
    const message = `Checks of pull request #${pull.number} failed. (${names})`;
    const feedback = checkFeedback(verdict.results);
    return leased.must({ type: 'stage.finish', outcome: 'failed', failure: 'validation', message, feedback });
  }
  const mayQueue = settings.merge === 'auto' && forgeWaitsFor(verdict, checks.required);
  if (verdict.kind === 'pending' && !mayQueue) {
    const text = `Pull request #${pull.number} waits for ${verdict.names.join(', ')}.`;
    return look(leased, pull, text);
  }
  if (verdict.kind === 'none' && !isBare) return waitForChecks(deps, leased, pull, tools);
  if (settings.merge === 'person')
    return look(leased, pull, `Pull request #${pull.number} is ready. A person merges it: ${pull.url}`);
  return merge(deps, leased, pull, { candidate, checks }, tools);
}

const noChecksYet = (commit: string) => `No check was reported for ${commit.slice(0, 10)}`;
const noChecksAbout = ({ number }: PullRequest) => `no_checks:${number}`;
const restOfWait = (deps: EngineDeps, { offered }: Task, { settings }: PullTools) =>
  offered!.at + settings.noChecksAfter - deps.clock.now();

/** Whether it may be merged although no check was reported. That is not a pass. */
function goesWithoutChecks(deps: EngineDeps, task: Task, pull: PullRequest, tools: PullTools): boolean {
  const { noChecks } = tools.settings;
  if (restOfWait(deps, task, tools) > 0 || noChecks === 'wait') return false;
  return noChecks === 'continue' || task.approvedPulls.includes(noChecksAbout(pull));
}

async function waitForChecks(deps: EngineDeps, leased: LeasedTask, pull: PullRequest, tools: PullTools): Promise<void> {
  const restMs = restOfWait(deps, leased.task, tools);
  if (restMs > 0 || tools.settings.noChecks !== 'ask') {
    const untilMs = restMs > 0 ? Math.min(restMs, LOOK_AGAIN_MS) : LOOK_AGAIN_MS;
    const said = noChecksYet(leased.task.offered!.commit);
    return look(leased, pull, `${said} yet. That is not a pass, so pull request #${pull.number} waits.`, untilMs);
  }
  const text = `no check was reported for its pull request #${pull.number}. Merge it without?`;
  const context = `${pull.url}\nTidemill's own gates have passed. \`pullRequest.noChecks: continue\` stops this question.`;
  const approves = 'It is merged without checks of GitHub.';
  await leased.must({ type: 'merge.ask', about: noChecksAbout(pull), text, context, approves });
}

async function merge(
  deps: EngineDeps,
  leased: LeasedTask,
  pull: PullRequest,
  { candidate, checks }: { candidate: Extract<Candidate, { kind: 'clean' }>; checks: BranchChecks },
  tools: PullTools,
): Promise<void> {
  const { forge, settings } = tools;
  const { task } = leased;
  const { commit, tree } = task.offered!;
  const by = checks.hasQueue ? 'queue' : settings.merge === 'auto' ? 'forge' : 'us';
  if (by === 'us') {
    // The target may have moved, also while GitHub was asked. What is merged must be what was proven.
    const held = (await tools.target.takeIn()) ?? tools.target.unreachable;
    const now = await deps.workspace.candidate(leased.ref);
    if (held !== null || now.kind !== 'clean') {
      const why = held ?? `${deps.project.rules.target} has just changed.`;
      return look(leased, pull, `Pull request #${pull.number} is not merged yet: ${why}`, SOON_MS);
    }
    if (now.tree !== tree) return offer(deps, leased, now, pull, tools);
  }
  if (by === 'queue') {
    const place = await enterForgeQueue(deps, leased, pull, forge);
    if (place === 'over') return;
    if (place === 'queued') return look(leased, pull, `Pull request #${pull.number} is in the merge queue of GitHub.`);
  }
  const [, ...message] = landingMessage(task, await proofHash(deps, tree)).split('\n\n');
  const title = `${withoutClosingKeywords(task.title.slice(0, 200))} (#${pull.number})`;
  const merged = await forge.merge(pull, { commit, method: settings.method, by, title, message: message.join('\n\n') });
  if (merged.kind === 'queued')
    return look(leased, pull, `GitHub merges pull request #${pull.number} when its checks pass.`);
  if (merged.kind !== 'merged') {
    const why = pull.obstacle ?? merged.why;
    const untilMs = merged.kind === 'moved' ? SOON_MS : LOOK_AGAIN_MS;
    return look(leased, pull, `Pull request #${pull.number} cannot be merged yet: ${why}`, untilMs);
  }
  await tools.target.takeIn();
  await settleMerged(deps, leased, { ...pull, mergeCommit: merged.commit }, candidate, tools.prover);
}

function look(leased: LeasedTask, { url }: PullRequest, why: string, untilMs = LOOK_AGAIN_MS): Promise<void> {
  return leased.must({ type: 'stage.wait', why: why.includes(url) ? why : `${why} ${url}`, untilMs });
}
