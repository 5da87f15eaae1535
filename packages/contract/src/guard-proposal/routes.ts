import { z } from 'zod';
import { by, get, note, post, project } from '../api/route.ts';
import { GuardProposalStatus, GuardProposalView, PassedGuard } from './guard-proposal.ts';

/** The guard's name, or the proposal's id. */
const guard = z.string().trim().min(1).max(100);
const yaml = z.string().min(1, 'is the guard as YAML').max(10_000, 'has at most 10,000 characters');

export const guardProposalRoutes = {
  guardProposals: get(
    '/v1/projects/:project/guards',
    'The guards that were proposed, newest first',
    z.strictObject({ project, status: GuardProposalStatus.optional() }),
    z.array(GuardProposalView),
    {
      cli: {
        usage: 'guards list',
        isDefault: true,
        about: 'list proposed guards, newest first',
        details:
          'The guards that were proposed, newest first; `tidemill guards` does the same. See [Guards](guards.md#guards-that-tidemill-proposes)',
        options: { status: '<status> only those with this status, such as observing' },
      },
    },
  ),
  guardProposal: get(
    '/v1/projects/:project/guards/:guard',
    'A proposed guard with the recorded calls that it would have refused and allowed',
    z.strictObject({ project, guard }),
    GuardProposalView,
    {
      cli: {
        usage: 'guards show <guard>',
        about: 'show a proposed guard, and the recorded calls that it would have refused and allowed',
      },
    },
  ),
  proposeGuard: post(
    '/v1/projects/:project/guards',
    'Proposes a guard. It is tested with the recorded calls and refuses nothing until a person approves it',
    z.strictObject({
      project,
      by,
      yaml,
      why: note.min(1, 'says what went wrong without the guard'),
      key: z.string().trim().min(1).max(300).optional(),
      traceIds: z.array(z.string().min(1).max(200)).max(100).default([]),
    }),
    GuardProposalView,
    { decides: false },
  ),
  decideGuardProposal: post(
    '/v1/projects/:project/guards/:guard/decide',
    'Lets a proposed guard observe, approves, refuses or withdraws it; with `yaml`, changes it first',
    z.strictObject({
      project,
      guard,
      by,
      decision: z.enum(['observe', 'approve', 'refuse', 'withdraw']),
      yaml: yaml.optional(),
      why: note.default(''),
    }),
    GuardProposalView,
    {
      decides: true,
      cli: [
        {
          usage: 'guards observe <guard>',
          about: 'let a guard observe: it refuses nothing, and what it would refuse is recorded',
          sets: { decision: 'observe' },
          says: ({ name }) => `${name} observes and refuses nothing.`,
        },
        {
          usage: 'guards approve <guard>',
          about: 'enforce a guard from now on',
          sets: { decision: 'approve' },
          says: ({ name, file }) => `${name} is enforced. Commit ${file} to share it.`,
        },
        {
          usage: 'guards refuse <guard>',
          about: 'refuse a proposed guard; it is not proposed again',
          sets: { decision: 'refuse' },
          options: { why: '<reason> the reason, for the record' },
          needs: ['why'],
          says: ({ name, status }) => `${name} is ${status}.`,
        },
        {
          usage: 'guards withdraw <guard>',
          about: 'take an approved guard back',
          sets: { decision: 'withdraw' },
          options: { why: '<reason> the reason, for the record' },
          needs: ['why'],
          says: ({ name, status }) => `${name} is ${status}.`,
        },
      ],
    },
  ),
  bypassGuard: post(
    '/v1/projects/:project/guards/:guard/bypass',
    'Lets one call pass a guard that is not final, within ten minutes: of the agent of a task, or of your own session',
    z.strictObject({
      project,
      guard,
      by,
      task: z.coerce.string<string | number>().min(1).optional(),
      why: note.min(1, 'says why the call may pass: it counts against the guard'),
    }),
    PassedGuard,
    { decides: true },
  ),
};
