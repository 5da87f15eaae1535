import {
  type Actor,
  AppError,
  BYPASS_MS,
  type GuardProposal,
  type GuardTest,
  guardFile,
  guardFileText,
  isLiveGuard,
  MOST_GUARD_PROPOSALS,
  type Project,
  plainLine,
  withoutSecrets,
} from '@tidemill/contract';
import { isPerson, unwrap } from '@tidemill/core';
import type { CallLog, Clock, LearnedGuards, OwnSessions, Store } from '../../ports.ts';

/** What proposing a guard and deciding about it needs. */
export interface GuardTools {
  store: Store;
  clock: Pick<Clock, 'now'>;
  project: Project;
  guards: LearnedGuards;
  calls: CallLog;
  sessions: OwnSessions;
  hash(text: string): string;
}

export interface GuardDraft {
  yaml: string;
  why: string;
  /** What repeats. Without one, the rule itself is the key. */
  key?: string;
  traceIds: string[];
  by: Actor;
}

/** The newest calls are enough to see what a guard does. */
const TESTED_CALLS = 1_000;
/** With that many calls, their share says something. */
const ENOUGH_CALLS = 20;
/** A guard that would have refused more is in the way. */
const MOST_REFUSED = 0.2;

/**
 * Examines a guard, tests it with the recorded calls and records it. A guard of a person or of the engine observes at once;
 * one that an agent proposes waits for a person.
 */
export async function proposeGuard(tools: GuardTools, draft: GuardDraft): Promise<GuardProposal> {
  const { store, project, guards } = tools;
  const { name, yaml, rule } = await guards.examine(draft.yaml);
  const { by, traceIds } = draft;
  const key = draft.key ?? `rule:${rule}`;
  const proposalId = guardProposalId(tools, key);
  const all = await store.records({ noun: 'guard_proposal', projectId: project.id });
  refuseKnown(all, { proposalId, name, rule, by });
  const test = await testGuard(tools, yaml);
  const why = withoutSecrets(plainLine(draft.why)).slice(0, 1_000);
  unwrap(
    await store.execute({
      ...{ type: 'guard_proposal.propose', projectId: project.id, proposalId, name, yaml, key, rule, why, traceIds },
      ...{ test, by },
    }),
  );
  if (by.kind !== 'agent') await startObserving(tools, proposalId, by);
  return again(tools, proposalId);
}

/** One proposal per key, also when two daemons see the same pattern. */
export const guardProposalId = ({ project, hash }: Pick<GuardTools, 'project' | 'hash'>, key: string) =>
  `guardProposal_${hash(`${project.id}\n${key}`).slice(0, 24)}`;

export type GuardDecision = 'observe' | 'approve' | 'refuse' | 'withdraw';

/** A person's decision. With `yaml` the guard is changed first, and then observes again. */
export async function decideGuard(
  tools: GuardTools,
  proposal: GuardProposal,
  { decision, yaml, why, by }: { decision: GuardDecision; yaml?: string; why: string; by: Actor },
): Promise<GuardProposal> {
  const { store } = tools;
  const about = { projectId: proposal.projectId, proposalId: proposal.id };
  if (yaml !== undefined) {
    if (decision !== 'observe')
      throw new AppError('bad_input', `a changed guard observes first and is not ${decision}d at the same time`, {
        hint: 'Send the new text with the decision observe, and decide afterwards.',
      });
    const next = await tools.guards.examine(yaml);
    const test = await testGuard(tools, next.yaml);
    unwrap(await store.execute({ type: 'guard_proposal.edit', ...about, ...next, test, by }));
    await tools.guards.write(proposal.name, guardFileText(next, 'observe'));
    return again(tools, proposal.id);
  }
  if (decision === 'observe') {
    await startObserving(tools, proposal.id, by);
  } else if (decision === 'approve') {
    await refuseChangedFile(tools, proposal);
    unwrap(
      await store.execute({
        type: 'guard_proposal.enforce',
        ...about,
        test: await testGuard(tools, proposal.yaml),
        by,
      }),
    );
    await tools.guards.write(proposal.name, guardFileText(proposal, 'enforce'));
  } else {
    if (why === '') throw new AppError('bad_input', `say why the guard ${proposal.name} is not wanted`);
    unwrap(await store.execute({ type: `guard_proposal.${decision}`, ...about, why, by }));
    await keepGuardFile(tools, await again(tools, proposal.id));
  }
  return again(tools, proposal.id);
}

/** Lets one call pass: of a task's agent, or of the person's own session, which learns of it by a file. */
export async function bypassGuard(
  { store, clock, sessions }: GuardTools,
  proposal: GuardProposal,
  { taskId, why, by }: { taskId: string | null; why: string; by: Actor },
): Promise<void> {
  const until = clock.now() + BYPASS_MS;
  const about = { projectId: proposal.projectId, proposalId: proposal.id };
  unwrap(await store.execute({ type: 'guard_proposal.bypass', ...about, taskId, why, until, by }));
  if (taskId === null) await sessions.letPass(proposal.name, until);
}

/** The same for a guard that was not proposed: built-in, or written by a person. Returns until when. */
export async function passGuard(
  { guards, clock, sessions }: Pick<GuardTools, 'guards' | 'clock' | 'sessions'>,
  name: string,
  { taskId, by }: { taskId: string | null; by: Actor },
): Promise<number> {
  const found = await guards.find(name);
  if (!found)
    throw new AppError('not_found', `there is no guard ${name}`, {
      hint: 'A refusal names its guard: tidemill events --type guard.denied',
    });
  if (!isPerson(by)) throw new AppError('forbidden', `only a person lets a call pass the guard ${name}`);
  if (found.isFinal)
    throw new AppError('conflict', `the guard ${name} is final: no call passes it`, {
      hint: 'It protects git, the settings, the store or the review. Do yourself what the call would have done.',
    });
  const until = clock.now() + BYPASS_MS;
  await sessions.letPass(name, until, taskId ?? undefined);
  return until;
}

/**
 * Brings the file of a guard in line with its record, after a crash between the two. A file that a person changed or
 * removed stays as it is.
 */
export async function keepGuardFile({ guards }: Pick<GuardTools, 'guards'>, proposal: GuardProposal): Promise<void> {
  const observing = guardFileText(proposal, 'observe');
  const enforced = guardFileText(proposal, 'enforce');
  const text = await guards.read(proposal.name);
  if (text !== observing && text !== enforced) return;
  if (!isLiveGuard(proposal)) return guards.remove(proposal.name);
  const wanted = proposal.status === 'enforced' ? enforced : observing;
  if (text !== wanted) await guards.write(proposal.name, wanted);
}

/** The file first: a guard that observes has one. */
export async function startObserving(tools: GuardTools, proposalId: string, by: Actor): Promise<void> {
  const proposal = await again(tools, proposalId);
  if (proposal.status === 'proposed') await tools.guards.write(proposal.name, guardFileText(proposal, 'observe'));
  const from = proposal.status === 'enforced' ? 'enforced' : 'proposed';
  const about = { projectId: proposal.projectId, proposalId };
  unwrap(await tools.store.execute({ type: 'guard_proposal.observe', ...about, from, by }));
  await keepGuardFile(tools, await again(tools, proposalId));
}

async function testGuard({ guards, calls }: GuardTools, yaml: string): Promise<GuardTest> {
  const test = await guards.test(yaml, await calls.recent(TESTED_CALLS));
  const total = test.refusedCount + test.allowedCount;
  if (total < ENOUGH_CALLS || test.refusedCount <= total * MOST_REFUSED) return test;
  throw new AppError('bad_input', `the guard would have refused ${test.refusedCount} of ${total} recorded calls`, {
    hint: 'Make its condition narrower.',
  });
}

/** One proposal per name and rule, and not too many at a time. What people refused stays refused for everybody else. */
function refuseKnown(
  all: readonly GuardProposal[],
  { proposalId, name, rule, by }: { proposalId: string; name: string; rule: string; by: Actor },
): void {
  const same = all.find((each) => each.id !== proposalId && each.rule === rule);
  if (same && (isLiveGuard(same) || !isPerson(by)))
    throw new AppError('conflict', `the guard ${same.name} has the same rule, and is ${same.status}`, {
      hint: `tidemill guards show ${same.name}`,
    });
  const named = all.find((each) => each.id !== proposalId && each.name === name && isLiveGuard(each));
  if (named)
    throw new AppError('conflict', `a guard named ${name} is already ${named.status}`, {
      hint: 'Choose another name.',
    });
  const waiting = all.filter(({ status }) => status === 'proposed' || status === 'observing').length;
  if (waiting >= MOST_GUARD_PROPOSALS && !isPerson(by))
    throw new AppError('conflict', `${waiting} proposed guards already wait for a person`, {
      hint: 'A person decides about some of them first: tidemill guards',
    });
}

async function refuseChangedFile({ guards }: GuardTools, proposal: GuardProposal): Promise<void> {
  const text = await guards.read(proposal.name);
  const known = [guardFileText(proposal, 'observe'), guardFileText(proposal, 'enforce'), null];
  if (known.includes(text)) return;
  throw new AppError('conflict', `${guardFile(proposal.name)} was changed since it was proposed`, {
    hint: `Take its text over with \`tidemill guards edit ${proposal.name} ${guardFile(proposal.name)}\`, or delete the file.`,
  });
}

async function again({ store }: Pick<GuardTools, 'store'>, id: string): Promise<GuardProposal> {
  const proposal = await store.record('guard_proposal', id);
  if (proposal) return proposal;
  throw new AppError('not_found', `there is no proposed guard ${id}`);
}
