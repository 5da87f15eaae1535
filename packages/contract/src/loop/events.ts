import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said } from '../event/define.ts';
import { ProposalDraft, ProposalOutcome, RelatedWork, Score } from '../proposal/proposal.ts';
import { PauseTrigger } from './loop.ts';

const stale = ['loop', 'inbox', 'proposals'] as const;
const ofCategory = { categoryId: z.string(), category: z.string() };
const ofProposal = { proposalId: z.string(), categoryId: z.string() };

export const loopEvents = [
  event(
    'loop.switched',
    { on: z.boolean(), by: Actor },
    { stale, shown: 'terminal', says: ({ on, by }) => said(by, `switched the loop ${on ? 'on' : 'off'}`) },
  ),
  event(
    'loop.paused',
    { trigger: PauseTrigger, why: z.string() },
    { stale, shown: 'terminal', says: ({ why }) => mill(`paused the loop: ${why}`) },
  ),
  event(
    'loop.held',
    { until: z.number().nullable() },
    {
      stale,
      says: ({ until }) =>
        mill(
          until === null
            ? 'lets the loop go on: there is budget again'
            : `holds the loop's tasks until ${new Date(until).toISOString()}: its budget of a day is spent`,
        ),
    },
  ),
  event(
    'category.used',
    { ...ofCategory, jobId: z.string() },
    { stale, says: ({ category }) => mill(`looks for an improvement in ${category}`) },
  ),
  event(
    'category.rested',
    { ...ofCategory, until: z.number(), why: z.string() },
    { stale, says: ({ category, why }) => mill(`lets ${category} rest: ${why}`) },
  ),
  event(
    'proposal.made',
    { ...ofProposal, category: z.string(), jobId: z.string(), draft: ProposalDraft },
    { stale, says: ({ category, draft }) => said('agent', `proposed in ${category}: ${draft.title}`) },
  ),
  event(
    'proposal.checked',
    {
      ...ofProposal,
      number: z.number().int(),
      verdict: z.enum(['waiting', 'duplicate', 'invalid']),
      why: z.string(),
      related: z.array(RelatedWork),
    },
    {
      stale,
      shown: 'terminal',
      says: ({ number, verdict, why }) =>
        mill(
          verdict === 'waiting'
            ? `proposal ${number} passed its checks`
            : `dropped proposal ${number}, ${verdict}: ${why}`,
        ),
    },
  ),
  event(
    'proposal.accepted',
    { ...ofProposal, number: z.number().int(), taskId: z.string(), by: Actor },
    { stale, shown: 'terminal', says: ({ number, by }) => said(by, `accepted proposal ${number}`) },
  ),
  event(
    'proposal.refused',
    { ...ofProposal, number: z.number().int(), why: z.string(), by: Actor },
    { stale, says: ({ number, why, by }) => said(by, `refused proposal ${number}: ${why}`) },
  ),
  event(
    'proposal.scored',
    {
      ...ofProposal,
      number: z.number().int(),
      score: Score,
      /** The score it had before. */
      before: Score.nullable(),
      by: Actor,
    },
    { stale, says: ({ number, score, by }) => said(by, `scored proposal ${number} with ${score} of 10`) },
  ),
  event(
    'proposal.ended',
    { ...ofProposal, number: z.number().int(), outcome: ProposalOutcome },
    { stale, says: ({ number, outcome }) => mill(`the task of proposal ${number} was ${outcome}`) },
  ),
] as const;
