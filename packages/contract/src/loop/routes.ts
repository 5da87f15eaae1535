import { z } from 'zod';
import { by, count, get, note, post, project } from '../api/route.ts';
import { ProposalStatus, Score } from '../proposal/proposal.ts';
import { LoopView, ProposalView } from './loop.ts';

/** `7`, `p7` or `proposal 7`. */
const proposal = z.coerce.string<string | number>().min(1).max(50);
const ofProposal = { project, proposal };

export const loopRoutes = {
  loop: get(
    '/v1/projects/:project/loop',
    'The loop: its state, its categories with their yield, its figures, and proposals that wait for a yes',
    z.strictObject({ project }),
    LoopView,
    {
      cli: [
        {
          usage: 'loop status',
          details:
            'Whether [the loop](loop.md) works, its queue and figures, and proposals that wait for your yes. `tidemill loop` does the same',
          isDefault: true,
          about: 'show whether it works, its queue, its figures and what waits for you',
        },
        {
          usage: 'loop categories',
          details: 'The categories: state, last use, proposed/approved/landed/reverted, tasks a week, score',
          about: 'list the categories with their state, yield and score',
          picks: ({ categories }) => categories,
        },
      ],
    },
  ),
  switchLoop: post(
    '/v1/projects/:project/loop',
    'Switches the loop on or off; on also ends its pause',
    z.strictObject({ project, by, on: z.boolean() }),
    LoopView,
    {
      decides: true,
      cli: [
        {
          usage: 'loop on',
          details: 'Lets Tidemill propose improvements. It also ends a pause',
          about: 'let it propose; also ends a pause',
          sets: { on: true },
        },
        {
          usage: 'loop off',
          details: 'Stops proposing; existing tasks go on',
          about: 'stop proposing; existing tasks go on',
          sets: { on: false },
        },
      ],
    },
  ),
  proposals: get(
    '/v1/projects/:project/proposals',
    'The proposals of the loop, newest first',
    z.strictObject({ project, status: ProposalStatus.optional(), limit: count().min(1).max(1000).default(100) }),
    z.array(ProposalView),
    {
      cli: {
        usage: 'loop proposals',
        details: 'All proposals, newest first',
        about: 'list proposals, newest first',
        options: { status: '<status> only those with this status, such as waiting' },
      },
    },
  ),
  approveProposal: post(
    '/v1/projects/:project/proposals/:proposal/approve',
    'Makes a task of a proposal',
    z.strictObject({ ...ofProposal, by }),
    ProposalView,
    {
      decides: true,
      cli: {
        usage: 'loop approve <proposal>',
        details: 'Makes a task of a proposal',
        about: 'make a task of a proposal',
        says: ({ number, task }) => `Proposal ${number} is now task #${task?.number}.`,
      },
    },
  ),
  refuseProposal: post(
    '/v1/projects/:project/proposals/:proposal/refuse',
    'Refuses a proposal; nothing like it is accepted later',
    z.strictObject({ ...ofProposal, by, why: note.min(1, 'says why, for later proposals') }),
    ProposalView,
    {
      decides: true,
      cli: {
        usage: 'loop refuse <proposal>',
        details: 'Refuses it; nothing like it is accepted again',
        about: 'refuse a proposal; nothing like it is accepted later',
        options: { why: '<reason> the reason, which later agents get to read' },
        says: ({ number }) => `Proposal ${number} is refused.`,
      },
    },
  ),
  scoreProposal: post(
    '/v1/projects/:project/proposals/:proposal/score',
    'Scores a proposal, 0 to 10: scores weigh the choice of the next category',
    z.strictObject({ ...ofProposal, by, score: Score }),
    ProposalView,
    {
      decides: true,
      cli: {
        usage: 'loop score <proposal> <score>',
        details: 'Scores a proposal from 0 to 10. A category below 5 on average rests for a month',
        about: 'score a proposal from 0 to 10; a category below 5 on average rests for a month',
        options: { score: 'from 0 to 10' },
        says: ({ number, score }) => `Proposal ${number} has ${score} of 10.`,
      },
    },
  ),
};
