import {
  type Actor,
  AUTONOMY_PRESETS,
  type Delivery,
  ENGINE,
  type EnvironmentRules,
  environmentId,
  personActor,
} from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill, receipt } from '../../../../test/support/mill.ts';
import type { CommandOf } from '../command.ts';
import { releaseText } from './release.ts';
import { strictest } from './rules.ts';

const projectId = 'project_1';
const ada = personActor('ada');
const agent: Actor = { kind: 'agent', id: 'agent-1', name: 'agent-1' };
const rules = { when: 'task', hasHealth: true, hasRollback: false, repeatable: false } as const;
const ENVIRONMENTS: EnvironmentRules[] = [
  { ...rules, name: 'staging', approve: 'automated', after: null },
  { ...rules, name: 'production', approve: 'requires_approval', after: 'staging' },
];

let mill: Mill;
let made: number;

beforeEach(() => {
  mill = new Mill({ delivery: ENVIRONMENTS });
  made = 0;
  const fence = mill.take(mill.add());
  for (const tree of ['T1', 'T2']) mill.prove(fence, tree);
});

type Request = CommandOf<'delivery.request'>;
function requestOf(tree: string, more: Partial<Request> = {}): Request {
  made += 1;
  const about = { environment: 'staging', commit: `commit of ${tree}`, tree, tasks: [], taskCount: 0 };
  const rest = { cause: 'manual', specId: null, override: null, isApproved: false, replaces: [], by: ada } as const;
  return {
    type: 'delivery.request',
    projectId,
    deliveryId: `delivery_${made}`,
    ...about,
    ...rest,
    replaces: [],
    ...more,
  };
}
const request = (tree: string, more: Partial<Request> = {}) => {
  const command = requestOf(tree, more);
  mill.must(command);
  return { projectId, deliveryId: command.deliveryId, environment: command.environment };
};
const refusal = (command: Parameters<Mill['decideOnly']>[0]) => {
  const decision = mill.decideOnly(command);
  return decision.ok ? 'accepted' : `${decision.refusal.code}: ${decision.refusal.message}`;
};
const row = (id: string) => mill.records.get(id) as Delivery | undefined;
const owner = 'daemon-1';
/** Delivers to its end. */
function deliver(tree: string, more: Partial<Request> = {}): void {
  const about = request(tree, more);
  mill.must({ type: 'delivery.begin', ...about, owner });
  mill.must({ type: 'delivery.move', ...about, owner, to: 'checking', why: '' });
  mill.must({ type: 'delivery.end', ...about, owner, status: 'healthy', why: '' });
}

describe('a delivery request', () => {
  test('without evidence waits for the gates: nothing else begins before they have passed on exactly its tree', () => {
    const about = { ...request('T9', { by: ENGINE }), owner };
    expect(row(about.deliveryId)).toMatchObject({ status: 'requested', evidence: [], unproven: ['integrity', 'test'] });
    mill.must({ type: 'delivery.begin', ...about });
    for (const kind of ['prepare', 'run', 'workflow'] as const)
      expect(refusal({ type: 'delivery.step_begin', ...about, kind, name: 'deploy' })).toBe(
        'evidence_missing: D1 is not proven: integrity, test',
      );
    mill.must({ type: 'delivery.step_begin', ...about, kind: 'prove', name: 'gates' });
    const prove = (tree: string, gates: string[]) =>
      ({
        type: 'delivery.prove',
        ...about,
        tree: 'T9',
        receipts: gates.map((gate) => receipt(gate, tree, 'pass')),
      }) as const;
    expect(refusal(prove('T1', ['integrity', 'test']))).toContain('the gates ran on another tree');
    expect(refusal({ ...prove('T9', ['test']), owner: 'daemon-2' })).toContain('stale_lease');
    mill.must(prove('T9', ['test']));
    expect(row(about.deliveryId)).toMatchObject({ evidence: [{ gate: 'test' }], unproven: ['integrity'] });
    mill.must(prove('T9', ['integrity']));
    expect(row(about.deliveryId)).toMatchObject({ unproven: [] });
    mill.must({ type: 'delivery.step_end', ...about, result: 'passed', note: '' });
    mill.must({ type: 'delivery.step_begin', ...about, kind: 'run', name: 'deploy' });
  });

  test('of a commit that fails a gate is refused, unless a person overrides it by name', () => {
    const about = { ...request('T9'), owner };
    mill.must({ type: 'delivery.begin', ...about });
    const receipts = [receipt('integrity', 'T9', 'pass'), receipt('test', 'T9', 'fail')];
    mill.must({ type: 'delivery.prove', ...about, tree: 'T9', receipts });
    mill.must({ type: 'delivery.end', ...about, status: 'failed', why: 'it does not pass test' });
    expect(refusal(requestOf('T9'))).toBe('evidence_missing: commit of  fails test under the present settings');
    for (const by of [ENGINE, agent])
      expect(refusal(requestOf('T9', { by, override: 'please' }))).toContain('forbidden: only a person');
    const { deliveryId } = request('T9', { override: 'the gates are down' });
    expect(row(deliveryId)).toMatchObject({
      evidence: [{ gate: 'integrity' }],
      unproven: [],
      override: { gates: ['test'], after: null, by: ada, why: 'the gates are down' },
    });
  });

  test('names the receipts that prove its tree; a reason that is not needed is not kept', () => {
    const { deliveryId } = request('T1', { override: 'to be sure' });
    expect(row(deliveryId)?.evidence.map(({ gate }) => gate)).toEqual(['integrity', 'test']);
    expect(row(deliveryId)?.override).toBeNull();
  });

  test('for an environment after another one needs the same commit there', () => {
    const production = { environment: 'production', isApproved: true };
    expect(refusal(requestOf('T1', production))).toContain('conflict: production comes after staging');
    deliver('T1');
    expect(refusal(requestOf('T2', production))).toContain('is not healthy with');
    deliver('T1', production);
    expect(mill.records.get(environmentId(projectId, 'production'))).toMatchObject({ live: { tree: 'T1' } });
  });

  test('for an unknown environment says which there are', () => {
    const decision = mill.decideOnly(requestOf('T1', { environment: 'stagin' }));
    expect(decision).toMatchObject({ ok: false, refusal: { code: 'not_found', hint: 'did you mean staging?' } });
  });

  test('twice with one id changes nothing; of Tidemill itself, the same commit is tried once', () => {
    const command = requestOf('T1', { by: ENGINE });
    expect(mill.must(command)).toHaveLength(1);
    expect(mill.must(command)).toEqual([]);
    // One is open.
    expect(mill.must(requestOf('T2', { by: ENGINE }))).toEqual([]);
    mill.must({ type: 'delivery.stop', projectId, deliveryId: command.deliveryId, environment: 'staging', by: ada });
    expect(mill.must(requestOf('T1', { by: ENGINE }))).toEqual([]);
    expect(mill.must(requestOf('T2', { by: ENGINE }))).toHaveLength(1);
  });

  test('of a person takes the place of one that waits, and its question is withdrawn', () => {
    deliver('T1');
    const first = request('T1', { environment: 'production', by: ENGINE });
    expect(row(first.deliveryId)?.status).toBe('waiting');
    expect(refusal(requestOf('T1', { environment: 'production' }))).toContain('was requested meanwhile');
    request('T1', { environment: 'production', replaces: [first.deliveryId] });
    expect(row(first.deliveryId)).toMatchObject({ status: 'superseded', endedAt: expect.any(Number) });
    const questions = [...mill.records.values()].filter((each) => each.noun === 'question');
    expect(questions.map(({ status }) => status)).toEqual(['withdrawn', 'open']);
  });
});

describe('a delivery that has begun', () => {
  test('is alone in its environment, and only its owner writes about it', () => {
    const first = request('T1');
    const second = request('T2', { replaces: [first.deliveryId] });
    const third = request('T1', { replaces: [second.deliveryId] });
    expect(row(second.deliveryId)?.status).toBe('superseded');
    mill.must({ type: 'delivery.begin', ...third, owner });
    const fourth = request('T2');
    expect(refusal({ type: 'delivery.begin', ...fourth, owner })).toContain('is on its way to staging');
    const other = { ...third, owner: 'daemon-2' };
    expect(refusal({ type: 'delivery.end', ...other, status: 'healthy', why: '' })).toContain('stale_lease');
    mill.must({ type: 'delivery.take', ...other, from: owner });
    expect(refusal({ type: 'delivery.take', ...third, owner: 'daemon-3', from: owner })).toContain('another process');
    expect(refusal({ type: 'delivery.end', ...third, owner, status: 'healthy', why: '' })).toContain('stale_lease');
    mill.must({ type: 'delivery.end', ...other, status: 'healthy', why: '' });
    expect(refusal({ type: 'delivery.stop', ...third, by: ada })).toContain('has ended: healthy');
  });

  test('does not skip states', () => {
    const about = request('T1');
    expect(refusal({ type: 'delivery.move', ...about, owner, to: 'checking', why: '' })).toContain('stale_lease');
    mill.must({ type: 'delivery.begin', ...about, owner });
    expect(refusal({ type: 'delivery.move', ...about, owner, to: 'rollback_failed', why: '' })).toContain('cannot go');
    expect(refusal({ type: 'delivery.end', ...about, owner, status: 'rolled_back', why: '' })).toContain('cannot end');
  });

  test('whose earlier environment lost the commit meanwhile is not begun', () => {
    deliver('T1');
    const about = request('T1', { environment: 'production', isApproved: true });
    deliver('T2');
    mill.must({ type: 'delivery.begin', ...about, owner });
    expect(row(about.deliveryId)).toMatchObject({ status: 'cancelled', why: expect.stringContaining('no longer') });
  });
});

test.each([
  ['full', 'automated'],
  ['major_only', 'requires_approval'],
  ['confirm_all', 'requires_approval'],
] as const)('with autonomy %s the approval of a delivery is %s', (preset, approve) => {
  expect(strictest(AUTONOMY_PRESETS[preset])).toBe(approve);
});

test('release notes list tasks by kind and commits without a task; titles are no markup', () => {
  const tasks = [
    { number: 3, title: 'Add a <b>wheel</b>', kind: 'feature' as const },
    { number: 2, title: 'Mend the [dam](http://x)', kind: 'bug' as const },
    { number: 1, title: 'Add a door', kind: 'feature' as const },
  ];
  expect(releaseText('v1.2.0', tasks, [{ commit: 'c0ffee00000000', subject: 'Tidy' }])).toBe(
    [
      '## v1.2.0\n\n### Added\n\n- Add a door (#1)\n- Add a \\<b\\>wheel\\</b\\> (#3)',
      '### Fixed\n\n- Mend the \\[dam\\](http://x) (#2)',
      '### Without a task\n\n- Tidy (c0ffee0000)\n',
    ].join('\n\n'),
  );
  expect(releaseText('v1.2.0', [], [])).toBe('## v1.2.0\n\nNothing has landed.\n');
});
