import { type Actor, BYPASS_MS, type GuardProposal, isLiveGuard, type Refusal } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

type About = { projectId: string; proposalId: string };
type Found = { ok: true; proposal: GuardProposal } | { ok: false; refusal: Refusal };

/** A named token is used by a person, or by a program that a person gave it to. */
export const isPerson = ({ kind }: Actor) => kind === 'person' || kind === 'token';

/** What was refused or withdrawn does not come back, unless a person proposes it. */
export function proposeGuard(slice: Slice, command: CommandOf<'guard_proposal.propose'>): Decision {
  const { proposalId, name, yaml, key, rule, why, traceIds, test, by } = command;
  const before = slice.record('guard_proposal', proposalId);
  if (before && isLiveGuard(before))
    return refuse('conflict', `the guard ${before.name} is already proposed`, `tidemill guards show ${before.name}`);
  if (before && !isPerson(by))
    return refuse(
      'conflict',
      `the guard ${before.name} was ${before.status}: ${before.decidedWhy || 'no reason given'}`,
    );
  return accept({ type: 'guard_proposal.proposed', proposalId, name, yaml, key, rule, why, traceIds, test, by });
}

export function observeGuard(slice: Slice, command: CommandOf<'guard_proposal.observe'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  if (!isLiveGuard(proposal)) return ended(proposal);
  if (proposal.status !== command.from) return accept();
  if (proposal.status === 'enforced' && !isPerson(command.by)) return onlyPeople(proposal);
  return accept({ type: 'guard_proposal.observing', ...about(proposal), by: command.by });
}

/** A changed guard observes first, whatever it did before. */
export function editGuard(slice: Slice, command: CommandOf<'guard_proposal.edit'>): Decision {
  const found = live(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { name, yaml, rule, test, by } = command;
  if (!isPerson(by)) return onlyPeople(proposal);
  if (name !== proposal.name)
    return refuse(
      'bad_input',
      `the guard is named ${proposal.name}, not ${name}`,
      'keep its name; its file depends on it',
    );
  if (yaml === proposal.yaml && proposal.status === 'observing') return accept();
  return accept({ type: 'guard_proposal.edited', ...about(proposal), yaml, rule, test, by });
}

export function enforceGuard(slice: Slice, command: CommandOf<'guard_proposal.enforce'>): Decision {
  const found = live(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { test, by } = command;
  if (!isPerson(by)) return onlyPeople(proposal);
  if (proposal.status === 'enforced') return accept();
  if (proposal.status === 'proposed')
    return refuse(
      'conflict',
      `the guard ${proposal.name} has not observed yet`,
      `let it observe first: tidemill guards observe ${proposal.name}`,
    );
  return accept({ type: 'guard_proposal.enforced', ...about(proposal), test, by });
}

export function refuseGuard(slice: Slice, command: CommandOf<'guard_proposal.refuse'>): Decision {
  const found = live(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { why, by } = command;
  if (!isPerson(by)) return onlyPeople(proposal);
  if (proposal.status === 'enforced')
    return refuse(
      'conflict',
      `the guard ${proposal.name} is already approved`,
      `take it back with: tidemill guards withdraw ${proposal.name} --why "…"`,
    );
  return accept({ type: 'guard_proposal.refused', ...about(proposal), why, by });
}

export function withdrawGuard(slice: Slice, command: CommandOf<'guard_proposal.withdraw'>): Decision {
  const found = live(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { why, by } = command;
  if (!isPerson(by)) return onlyPeople(proposal);
  return accept({ type: 'guard_proposal.withdrawn', ...about(proposal), why, by });
}

/** Late reports of a guard that does not observe any more change nothing. */
export function hitGuard(slice: Slice, command: CommandOf<'guard_proposal.hit'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { call } = command;
  // Sessions hand their calls over twice after a crash.
  const isKnown = proposal.observed.some(
    ({ at, from, what }) => at === call.at && from === call.from && what === call.what,
  );
  if (proposal.status !== 'observing' || isKnown) return accept();
  return accept({ type: 'guard_proposal.hit', ...about(proposal), call });
}

export function bypassGuard(slice: Slice, command: CommandOf<'guard_proposal.bypass'>, env: DecideEnv): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { taskId, why, until, by } = command;
  if (!isPerson(by)) return onlyPeople(proposal);
  if (proposal.status !== 'enforced')
    return refuse('conflict', `the guard ${proposal.name} refuses nothing: it is ${proposal.status}`);
  if (proposal.bypass && proposal.bypass.until > env.now)
    return refuse('conflict', `a bypass of ${proposal.name} already waits for its call`);
  return accept({ type: 'guard_proposal.bypassed', ...about(proposal), taskId, why, until, by });
}

/** One call, of the task or the session that it was given to, in time. */
export function useBypass(slice: Slice, command: CommandOf<'guard_proposal.use_bypass'>, env: DecideEnv): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { taskId, call } = command;
  const { bypass } = proposal;
  // A session reports its call later than it made it, and sometimes twice.
  const at = bypass?.taskId === null ? call.at : env.now;
  const isInTime = bypass !== null && at <= bypass.until && at >= bypass.until - BYPASS_MS;
  if (proposal.status !== 'enforced' || !isInTime || bypass.taskId !== taskId)
    return refuse('not_found', `no bypass of ${proposal.name} is open`);
  return accept({ type: 'guard_proposal.bypass_used', ...about(proposal), call });
}

function live(slice: Slice, command: About): Found {
  const found = find(slice, command);
  return !found.ok || isLiveGuard(found.proposal) ? found : ended(found.proposal);
}

function find(slice: Slice, { projectId, proposalId }: About): Found {
  const proposal = slice.record('guard_proposal', proposalId);
  if (proposal?.projectId === projectId) return { ok: true, proposal };
  return refuse('not_found', `there is no proposed guard ${proposalId}`, '`tidemill guards` lists them');
}

const ended = ({ name, status }: GuardProposal) =>
  refuse('conflict', `the guard ${name} was already ${status}`, 'propose it again: tidemill guards propose FILE');
const onlyPeople = ({ name }: GuardProposal) =>
  refuse('forbidden', `only a person decides about the guard ${name}`, '`tidemill guards` lists what waits');

const about = ({ id, name }: GuardProposal) => ({ proposalId: id, name });
