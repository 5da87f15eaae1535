import { ENGINE, type GuardTest, personActor, type ShownCall } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { type Draw, projectId } from './draw.ts';

type GuardCommand = Extract<CommandType, `guard_proposal.${string}`>;

const who = (a: number) => (a % 5 ? personActor('ada') : ENGINE);
const about = ({ a }: Draw) => ({ projectId, proposalId: `guardProposal_${a % 4}` });
const shown = ({ mill, a, b }: Draw): ShownCall => ({
  ...{
    at: mill.now - (b % 3) * 1_000,
    source: a % 2 ? 'run' : 'session',
    from: `run_${b}`,
    tool: 'Bash',
    what: 'make',
  },
});
const tested = (draw: Draw): GuardTest => ({
  ...{ refused: [shown(draw)], allowed: [], refusedCount: 1, allowedCount: draw.b % 50 },
});
const yaml = (a: number) => `- name: g${a % 4}\n  when: { command: "^make" }\n  verdict: deny\n  reason: no\n`;

/** Commands about proposed guards. */
export const GUARD_GENERATORS: { [T in GuardCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'guard_proposal.propose': (draw) => ({
    ...about(draw),
    ...{ name: `g${draw.a % 4}`, yaml: yaml(draw.a), key: `k${draw.a % 4}`, rule: `r${draw.b % 3}`, why: 'again' },
    ...{ traceIds: [], test: tested(draw), by: who(draw.b) },
  }),
  'guard_proposal.observe': (draw) => ({
    ...about(draw),
    from: draw.b % 2 ? 'proposed' : 'enforced',
    by: who(draw.b),
  }),
  'guard_proposal.edit': (draw) => ({
    ...about(draw),
    ...{ name: `g${draw.b % 9 ? draw.a % 4 : 9}`, yaml: yaml(draw.b), rule: 'r9', test: tested(draw), by: who(draw.b) },
  }),
  'guard_proposal.enforce': (draw) => ({ ...about(draw), test: tested(draw), by: who(draw.b) }),
  'guard_proposal.refuse': (draw) => ({ ...about(draw), why: 'no', by: who(draw.b) }),
  'guard_proposal.withdraw': (draw) => ({ ...about(draw), why: 'no', by: who(draw.b) }),
  'guard_proposal.hit': (draw) => ({ ...about(draw), call: shown(draw) }),
  'guard_proposal.bypass': (draw) => ({
    ...about(draw),
    ...{ taskId: draw.b % 2 ? draw.task.id : null, why: 'once', until: draw.mill.now + 60_000, by: who(draw.b) },
  }),
  'guard_proposal.use_bypass': (draw) => ({
    ...about(draw),
    taskId: draw.b % 2 ? draw.task.id : null,
    call: shown(draw),
  }),
};
