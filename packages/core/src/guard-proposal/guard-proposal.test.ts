import { BYPASS_MS, ENGINE, type GuardProposal, personActor, type ShownCall } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const ada = personActor('ada');
const of = { projectId: 'project_1', proposalId: 'guardProposal_1' };
const YAML = '- name: make\n  when: { command: "^make" }\n  verdict: deny\n  reason: no\n';
const tested = { refused: [], allowed: [], refusedCount: 0, allowedCount: 0 };
const call = (at: number, what = 'make'): ShownCall => ({ at, source: 'run', from: 'run_1', tool: 'Bash', what });
const drafted = { name: 'make', yaml: YAML, key: 'k', rule: 'r', why: 'again', traceIds: [], test: tested };

let mill: Mill;
const propose = (by = ada) => ({ type: 'guard_proposal.propose', ...of, ...drafted, by }) as const;
const observe = (by = ada, from: 'proposed' | 'enforced' = 'proposed') =>
  ({ type: 'guard_proposal.observe', ...of, from, by }) as const;
const enforce = (by = ada) => ({ type: 'guard_proposal.enforce', ...of, test: tested, by }) as const;
const edit = (fields: object = {}, by = ada) =>
  ({
    type: 'guard_proposal.edit',
    ...of,
    name: 'make',
    yaml: `${YAML}\n`,
    rule: 'r2',
    test: tested,
    by,
    ...fields,
  }) as const;
const refuse = (by = ada) => ({ type: 'guard_proposal.refuse', ...of, why: 'no', by }) as const;
const withdraw = (by = ada) => ({ type: 'guard_proposal.withdraw', ...of, why: 'in the way', by }) as const;
const bypass = (taskId: string | null = 'task_1', by = ada) =>
  ({ type: 'guard_proposal.bypass', ...of, taskId, why: 'once', until: mill.now + BYPASS_MS, by }) as const;
const use = (taskId: string | null = 'task_1', at = mill.now) =>
  ({ type: 'guard_proposal.use_bypass', ...of, taskId, call: call(at) }) as const;
const proposal = () => mill.records.get(of.proposalId) as GuardProposal;

beforeEach(() => {
  mill = new Mill();
  mill.must(propose(ENGINE));
});

describe('a proposed guard', () => {
  test('observes first, then refuses calls once a person has approved it', () => {
    expect(mill.refusal(enforce())).toBe('conflict');
    mill.must(observe(ENGINE));
    mill.must(enforce());
    expect(proposal().status).toBe('enforced');
    expect(mill.must(enforce())).toEqual([]);
  });

  test('is not proposed twice, and not again after a person refused it, unless a person does', () => {
    expect(mill.refusal(propose(ENGINE))).toBe('conflict');
    expect(mill.refusal(propose())).toBe('conflict');
    mill.must(refuse());
    expect(mill.refusal(propose(ENGINE))).toBe('conflict');
    mill.must(propose());
    expect(proposal().status).toBe('proposed');
  });

  test.each<[string, () => Parameters<Mill['must']>[0]]>([
    ['approved', () => enforce(ENGINE)],
    ['edited', () => edit({}, ENGINE)],
    ['refused', () => refuse(ENGINE)],
    ['withdrawn', () => withdraw(ENGINE)],
    ['set aside for a call', () => bypass('task_1', ENGINE)],
  ])('is %s by people only', (_what, command) => {
    mill.must(observe(ENGINE));
    expect(mill.refusal(command())).toBe('forbidden');
  });

  test('is not refused when it is approved already: it is withdrawn', () => {
    mill.must(observe());
    mill.must(enforce());
    expect(mill.refusal(refuse())).toBe('conflict');
    mill.must(withdraw());
    expect(proposal()).toMatchObject({ status: 'withdrawn', decidedWhy: 'in the way' });
    for (const command of [observe(), enforce(), edit(), withdraw()]) expect(mill.refusal(command)).toBe('conflict');
  });

  test('keeps its name when it is edited, and observes again', () => {
    mill.must(observe());
    mill.must(enforce());
    expect(mill.refusal(edit({ name: 'other' }))).toBe('bad_input');
    mill.must(edit());
    expect(proposal()).toMatchObject({ status: 'observing', rule: 'r2' });
    expect(mill.must(edit())).toEqual([]);
  });

  test('goes back to observing only from the status that was seen, and from approval only by a person', () => {
    expect(mill.must(observe(ada, 'enforced'))).toEqual([]);
    mill.must(observe());
    mill.must(enforce());
    expect(mill.must(observe())).toEqual([]);
    expect(mill.refusal(observe(ENGINE, 'enforced'))).toBe('forbidden');
    mill.must(observe(ada, 'enforced'));
    expect(proposal().status).toBe('observing');
  });

  test('counts a call that it would have refused once, and only while it observes', () => {
    const hit = (at: number, what?: string) => ({ type: 'guard_proposal.hit', ...of, call: call(at, what) }) as const;
    expect(mill.must(hit(1))).toEqual([]);
    mill.must(observe());
    for (const each of [hit(1), hit(1), hit(2), hit(1, 'make all')]) mill.must(each);
    expect(proposal().observed).toHaveLength(3);
    mill.must(enforce());
    expect(mill.must(hit(9))).toEqual([]);
  });

  test('of another project does not exist', () => {
    expect(mill.refusal({ ...enforce(), projectId: 'project_2' })).toBe('not_found');
    expect(mill.refusal({ ...enforce(), proposalId: 'guardProposal_9' })).toBe('not_found');
  });
});

describe('a bypass', () => {
  beforeEach(() => {
    mill.must(observe());
  });

  test('is for a guard that refuses, one at a time, and for one call of its task', () => {
    expect(mill.refusal(bypass())).toBe('conflict');
    mill.must(enforce());
    expect(mill.refusal(use())).toBe('not_found');
    mill.must(bypass());
    expect(mill.refusal(bypass())).toBe('conflict');
    expect(mill.refusal(use('task_2'))).toBe('not_found');
    expect(mill.refusal(use(null))).toBe('not_found');
    mill.must(use());
    expect(mill.refusal(use())).toBe('not_found');
  });

  test('is over after its time, and then another one is given', () => {
    mill.must(enforce());
    mill.must(bypass());
    mill.now += BYPASS_MS;
    expect(mill.decideOnly(use()).ok).toBe(true);
    mill.now += 1;
    expect(mill.refusal(use())).toBe('not_found');
    mill.must(bypass());
    mill.must(use());
  });

  test('of a session counts for a call in its time, also when it is reported later', () => {
    mill.must(enforce());
    const since = mill.now;
    mill.must(bypass(null));
    mill.now += 10 * BYPASS_MS;
    expect(mill.refusal(use(null, since - 1))).toBe('not_found');
    expect(mill.refusal(use(null, since + BYPASS_MS + 1))).toBe('not_found');
    mill.must(use(null, since));
  });
});
