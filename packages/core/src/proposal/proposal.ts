import { type EventBody, loopId, type Proposal, type Refusal } from '@tidemill/contract';
import { FAILED_REST_MS } from '../category/choose.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

type About = { projectId: string; proposalId: string; categoryId: string };
type Found = { ok: true; proposal: Proposal } | { ok: false; refusal: Refusal };

/** What was found out about it: its form was already checked when its agent handed it in. */
export function checkProposal(slice: Slice, command: CommandOf<'proposal.check'>, env: DecideEnv): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  if (proposal.status !== 'checking') return refuse('conflict', `proposal ${proposal.number} is already checked`);
  const { verdict, why, related } = command;
  const number = slice.record('loop', loopId(command.projectId))?.nextProposal ?? 1;
  const checked: EventBody = { type: 'proposal.checked', ...about(proposal), number, verdict, why, related };
  if (verdict === 'waiting') return accept(checked);
  const { categoryId, category } = proposal;
  const until = env.now + FAILED_REST_MS;
  return accept(checked, { type: 'category.rested', categoryId, category, until, why: `its last proposal: ${why}` });
}

export function acceptProposal(slice: Slice, command: CommandOf<'proposal.accept'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { taskId, by } = command;
  if (slice.tasks.get(taskId)?.origin?.id !== proposal.id)
    return refuse('not_found', `there is no task ${taskId} of this proposal`);
  return accept({ type: 'proposal.accepted', ...about(proposal), number: proposal.number, taskId, by });
}

export function refuseProposal(slice: Slice, command: CommandOf<'proposal.refuse'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { why, by } = command;
  return accept({ type: 'proposal.refused', ...about(proposal), number: proposal.number, why, by });
}

export function scoreProposal(slice: Slice, command: CommandOf<'proposal.score'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  if (proposal.status === 'checking') return refuse('conflict', 'that proposal is still being checked');
  const { score, by } = command;
  if (proposal.score === score) return accept();
  const { number } = proposal;
  return accept({ type: 'proposal.scored', ...about(proposal), number, score, before: proposal.score, by });
}

/** Its task ended. A cancelled task may be retried and land; a landed one may be reverted. */
export function endProposal(slice: Slice, command: CommandOf<'proposal.end'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { proposal } = found;
  const { outcome } = command;
  if (proposal.status !== 'accepted') return refuse('conflict', `proposal ${proposal.number} has no task`);
  if (proposal.outcome === outcome || proposal.outcome === 'reverted') return accept();
  if (proposal.outcome === 'landed' && outcome === 'cancelled') return accept();
  return accept({ type: 'proposal.ended', ...about(proposal), number: proposal.number, outcome });
}

function waiting(slice: Slice, command: About): Found {
  const found = find(slice, command);
  if (!found.ok || found.proposal.status === 'waiting') return found;
  const { number, status } = found.proposal;
  const message =
    status === 'checking' ? 'that proposal is still being checked' : `proposal ${number} is ${STATE[status]}`;
  const hint = 'only a waiting proposal can be approved or refused; `tidemill loop proposals` lists them';
  return { ok: false, refusal: { code: 'conflict', message, hint } };
}

const STATE: Record<Proposal['status'], string> = {
  checking: 'being checked',
  waiting: 'waiting',
  accepted: 'already approved',
  refused: 'already refused',
  duplicate: 'a duplicate',
  invalid: 'not valid',
};

function find(slice: Slice, { projectId, proposalId, categoryId }: About): Found {
  const proposal = slice.record('proposal', proposalId);
  if (proposal?.projectId === projectId && proposal.categoryId === categoryId) return { ok: true, proposal };
  return { ok: false, refusal: { code: 'not_found', message: `there is no proposal ${proposalId}`, hint: '' } };
}

const about = ({ id, categoryId }: Proposal) => ({ proposalId: id, categoryId });
