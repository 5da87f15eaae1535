import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said } from '../event/define.ts';
import { GuardTest, ShownCall } from './guard-proposal.ts';

const stale = ['guards', 'inbox'] as const;
const ofProposal = { proposalId: z.string(), name: z.string() };

export const guardProposalEvents = [
  event(
    'guard_proposal.proposed',
    {
      ...ofProposal,
      yaml: z.string(),
      key: z.string(),
      rule: z.string(),
      why: z.string(),
      traceIds: z.array(z.string()),
      test: GuardTest,
      by: Actor,
    },
    { stale, shown: 'terminal', says: ({ name, why, by }) => said(by, `proposed the guard ${name}: ${why}`) },
  ),
  event(
    'guard_proposal.observing',
    { ...ofProposal, by: Actor },
    { stale, says: ({ name }) => mill(`the guard ${name} observes; it refuses nothing`) },
  ),
  event(
    'guard_proposal.edited',
    { ...ofProposal, yaml: z.string(), rule: z.string(), test: GuardTest, by: Actor },
    { stale, says: ({ name, by }) => said(by, `changed the guard ${name}; it observes again`) },
  ),
  event(
    'guard_proposal.enforced',
    { ...ofProposal, test: GuardTest, by: Actor },
    { stale, shown: 'terminal', says: ({ name, by }) => said(by, `approved the guard ${name}`) },
  ),
  event(
    'guard_proposal.refused',
    { ...ofProposal, why: z.string(), by: Actor },
    { stale, says: ({ name, why, by }) => said(by, `refused the guard ${name}: ${why}`) },
  ),
  event(
    'guard_proposal.withdrawn',
    { ...ofProposal, why: z.string(), by: Actor },
    { stale, shown: 'terminal', says: ({ name, why, by }) => said(by, `withdrew the guard ${name}: ${why}`) },
  ),
  event(
    'guard_proposal.hit',
    { ...ofProposal, call: ShownCall },
    {
      stale,
      shown: 'log',
      says: ({ name, call }) => mill(`the guard ${name} would have refused ${call.tool}: ${call.what}`),
    },
  ),
  event(
    'guard_proposal.bypassed',
    { ...ofProposal, why: z.string(), until: z.number(), taskId: z.string().nullable(), by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ name, why, by }) => said(by, `bypassed the guard ${name} for one call: ${why}`),
    },
  ),
  event(
    'guard_proposal.bypass_used',
    { ...ofProposal, call: ShownCall },
    { stale, says: ({ name, call }) => mill(`one call passed the guard ${name}: ${call.tool} ${call.what}`) },
  ),
] as const;
