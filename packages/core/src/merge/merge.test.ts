import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, receipt, typesOf } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const inMerge = () => {
  const mill = new Mill({ defaultPipeline: 'quick' });
  const id = mill.add();
  mill.bring(id, 'merge');
  return { mill, id, fence: mill.take(id) };
};
const candidate = { commit: 'c', tree: 'T', base: 'b' };

describe('landing', () => {
  test('needs evidence for exactly that tree; then the task is done and its dependents are updated', () => {
    const { mill, id, fence } = inMerge();
    const dependent = mill.add({ dependsOn: [id] });
    mill.prove(fence, 'T');
    const [prepared] = mill.must({ type: 'merge.prepare', ...fence, ...candidate });
    const hashes = [...mill.evidence.values()].filter(({ tree }) => tree === 'T').map(({ hash }) => hash);
    expect(prepared).toMatchObject({ type: 'merge.prepared', evidence: hashes });
    expect(mill.task(id).prepared).toEqual(candidate);
    expect(typesOf(mill.must({ type: 'merge.land', ...fence, commit: 'c' }))).toEqual([
      'merge.landed',
      'task.moved',
      'task.dependency_met',
      'lease.released',
    ]);
    expect(mill.task(id)).toMatchObject({ stage: 'done', landedCommit: 'c', prepared: null, lease: null, role: null });
    expect(mill.task(dependent).unmet).toBe(0);
  });

  test("needs a receipt of the task's own gate, with the command that it has now", () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add({ validate: 'npm run parts' });
    mill.bring(id, 'merge');
    const fence = mill.take(id);
    mill.prove(fence, 'T');
    expect(mill.refusal({ type: 'merge.prepare', ...fence, ...candidate })).toBe('evidence_missing');
    const own = receipt(`validate #${mill.task(id).number}`, 'T', 'pass');
    mill.must({ type: 'evidence.record', ...fence, receipts: [{ ...own, command: 'true' }] });
    expect(mill.refusal({ type: 'merge.prepare', ...fence, ...candidate })).toBe('evidence_missing');
    mill.must({ type: 'evidence.record', ...fence, receipts: [{ ...own, command: 'npm run parts' }] });
    mill.must({ type: 'merge.prepare', ...fence, ...candidate });
  });

  test.each<[string, [gate: string, tree: string, status: 'pass' | 'fail' | 'unverified'][]]>([
    ['none', []],
    ['one gate only', [['test', 'T', 'pass']]],
    [
      'another tree',
      [
        ['test', 'U', 'pass'],
        ['integrity', 'U', 'pass'],
      ],
    ],
    [
      'a failed gate',
      [
        ['test', 'T', 'fail'],
        ['integrity', 'T', 'pass'],
      ],
    ],
    [
      'an unverified gate',
      [
        ['test', 'T', 'unverified'],
        ['integrity', 'T', 'pass'],
      ],
    ],
    [
      'passed, then failed',
      [
        ['integrity', 'T', 'pass'],
        ['test', 'T', 'pass'],
        ['test', 'T', 'fail'],
      ],
    ],
  ])('is refused when the evidence is: %s', (_name, receipts) => {
    const { mill, id, fence } = inMerge();
    const made = receipts.map((each) => receipt(...each));
    mill.must({ type: 'evidence.record', ...fence, receipts: made });
    expect(mill.refusal({ type: 'merge.prepare', ...fence, ...candidate })).toBe('evidence_missing');
    expect(mill.refusal({ type: 'merge.land', ...fence, commit: 'c' })).toBe('wrong_stage');
    expect(mill.task(id).prepared).toBeNull();
  });

  test('needs every gate of the project, also one that was added since', () => {
    const { mill, fence } = inMerge();
    mill.prove(fence, 'T');
    mill.must({
      type: 'project.configure',
      projectId,
      rules: { ...mill.rules(), gates: ['integrity', 'test', 'lint'] },
    });
    const decision = mill.execute({ type: 'merge.prepare', ...fence, ...candidate });
    expect(decision).toMatchObject({ refusal: { code: 'evidence_missing', message: 'tree T has not passed lint' } });
  });

  test('takes only the prepared commit, and only in a merge stage', () => {
    const { mill, fence } = inMerge();
    mill.prove(fence, 'T');
    mill.must({ type: 'merge.prepare', ...fence, ...candidate });
    expect(mill.refusal({ type: 'merge.land', ...fence, commit: 'other' })).toBe('wrong_stage');
    const building = new Mill();
    const leased = building.startRun(building.add()).fence;
    expect(building.refusal({ type: 'merge.prepare', ...leased, ...candidate })).toBe('wrong_stage');
    expect(building.refusal({ type: 'merge.land', ...leased, commit: 'c' })).toBe('wrong_stage');
  });

  test('is the only way to done: an outcome is not enough', () => {
    const { mill, fence } = inMerge();
    expect(mill.refusal({ type: 'stage.finish', ...fence, outcome: 'approved' })).toBe('wrong_stage');
  });

  test('can be abandoned: the task is as before, and a new candidate can be prepared', () => {
    const { mill, id, fence } = inMerge();
    mill.prove(fence, 'T');
    mill.must({ type: 'merge.prepare', ...fence, ...candidate });
    mill.must({ type: 'merge.abandon', ...fence, why: 'the target moved' });
    expect(mill.task(id)).toMatchObject({ prepared: null, stage: 'merge' });
    expect(mill.refusal({ type: 'merge.land', ...fence, commit: 'c' })).toBe('wrong_stage');
    expect(mill.refusal({ type: 'merge.prepare', ...fence, ...candidate, commit: 'd' })).toBeNull();
  });
});

describe('a candidate that may have landed', () => {
  const crashed = () => {
    const { mill, id, fence } = inMerge();
    mill.prove(fence, 'T');
    mill.must({ type: 'merge.prepare', ...fence, ...candidate });
    return { mill, id, fence };
  };

  test('stays recorded after a crash, and lands as the same commit', () => {
    const { mill, id, fence } = crashed();
    mill.must({ type: 'lease.expire', ...fence, ownerIsDead: true });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', prepared: candidate, lease: null });
    mill.must({ type: 'merge.land', ...mill.take(id), commit: 'c' });
    expect(mill.task(id).stage).toBe('done');
  });

  test('keeps the task where it is until it is landed or abandoned', () => {
    const { mill, id, fence } = crashed();
    const cancel = { type: 'task.cancel', projectId, taskId: id, by: personActor('ada') } as const;
    const retry = { type: 'task.retry', projectId, taskId: id, by: personActor('ada') } as const;
    const another = { type: 'merge.prepare', ...fence, commit: 'd', tree: 'T', base: 'b' } as const;
    expect(mill.refusal({ type: 'stage.finish', ...fence, outcome: 'failed', message: 'red' })).toBe('conflict');
    expect(mill.refusal(another)).toBe('conflict');
    expect(mill.refusal(cancel)).toBe('conflict');
    mill.must({ type: 'lease.expire', ...fence, ownerIsDead: true });
    expect(mill.refusal(cancel)).toBe('conflict');
    expect(mill.refusal({ ...retry, stage: 'implement' })).toBe('conflict');
    expect(mill.refusal(retry)).toBeNull();
    mill.must({ type: 'merge.abandon', ...mill.take(id), why: 'the target moved' });
    expect(mill.refusal(cancel)).toBeNull();
  });

  test('also lands after the time limit took it from its worker', () => {
    const { mill, id, fence } = crashed();
    mill.now += 9 * 3_600_000;
    mill.must({ type: 'lease.renew', ...fence });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', lease: null, prepared: candidate });
    expect(mill.refusal({ type: 'task.cancel', projectId, taskId: id, by: personActor('ada') })).toBe('conflict');
    mill.must({ type: 'merge.land', ...mill.take(id), commit: 'c' });
    expect(mill.task(id).stage).toBe('done');
  });
});
