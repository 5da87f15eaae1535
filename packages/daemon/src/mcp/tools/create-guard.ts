import type { GuardProposalView } from '@tidemill/contract';
import { z } from 'zod';
import { brief, shown } from '../reply.ts';
import { ADDERS } from '../roles.ts';
import { tool } from '../tool.ts';

const PROPOSERS = [...ADDERS, 'analyst'] as const;

export const createGuardTool = tool(
  'create_guard',
  'Proposes a guard (YAML, as in .tidemill/guards) against what repeats. It is tested with recorded calls and waits: it refuses nothing until a person approves it',
  {
    roles: PROPOSERS,
    changesFor: PROPOSERS,
    input: {
      yaml: z.string().min(1).max(10_000),
      why: z.string().min(1).max(2000),
      key: z.string().max(300).optional().describe('Of the pattern'),
      traces: z.array(z.string().max(200)).max(100).default([]),
    },
  },
  async ({ session, signal }, { projectRoot, yaml, why, key, traces }) => {
    const project = (await session.projectOf(projectRoot)).id;
    const made = await session.api.proposeGuard(
      { project, by: session.by, yaml, why, traceIds: traces, ...(key && { key }) },
      signal,
    );
    return shown(`The guard ${made.name} is ${made.status}. A person decides.`, calls(made));
  },
);

/** What it would have done so far, which is what a person decides by. */
function calls({ refused, allowed, refusedCount, allowedCount }: GuardProposalView): string {
  const line = ({ tool: name, what }: GuardProposalView['refused'][number]) => `  ${name} ${brief(what, 160)}`;
  return [
    `would have refused ${refusedCount} recorded calls`,
    ...refused.slice(0, 5).map(line),
    `would have allowed ${allowedCount}`,
    ...allowed.slice(0, 5).map(line),
  ].join('\n');
}
