import { describe, expect, test } from 'vitest';
import { Mill, receipt } from '../../../test/support/mill.ts';
import { Rows, Slice } from './slice.ts';

const projectId = 'project_1';

describe('commands of one transaction see the changes of earlier ones', () => {
  test('a cycle that two commands would make together is refused', () => {
    const mill = new Mill();
    const [a, b] = [mill.add(), mill.add()];
    const decisions = mill.executeBatch([
      { type: 'task.set_dependencies', projectId, taskId: a, dependsOn: [b] },
      { type: 'task.set_dependencies', projectId, taskId: b, dependsOn: [a] },
    ]);
    expect(decisions[1]).toMatchObject({ ok: false, refusal: { code: 'dependency_cycle' } });
  });

  test('a task that is created while its dependency lands does not wait forever', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.bring(id, 'merge');
    const { fence, commit } = mill.prepare(id, 'T');
    const rest = { title: 'b', body: '', kind: 'feature', priority: 2 } as const;
    mill.executeBatch([
      { type: 'task.create', projectId, taskId: 'task_2', ...rest, accept: [], files: [], dependsOn: [id] },
      { type: 'merge.land', ...fence, commit },
    ]);
    expect(mill.task('task_2')).toMatchObject({ dependsOn: [id], unmet: 0 });
  });

  test('evidence recorded by one command proves the tree to the next', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.bring(id, 'merge');
    const fence = mill.take(id);
    const receipts = mill.rules().gates.map((gate) => receipt(gate, 'T', 'pass'));
    const decisions = mill.executeBatch([
      { type: 'evidence.record', ...fence, receipts },
      { type: 'merge.prepare', ...fence, commit: 'c', tree: 'T', base: 'b' },
      { type: 'merge.land', ...fence, commit: 'c' },
    ]);
    expect(decisions.map(({ ok }) => ok)).toEqual([true, true, true]);
  });
});

describe('the rows of a slice', () => {
  test('the first row loaded under an id stays; what was put or removed is known', () => {
    const rows = new Rows<{ id: string; n: number }>();
    rows.load({ id: 'a', n: 1 });
    rows.load({ id: 'a', n: 2 });
    expect(rows.get('a')?.n).toBe(1);
    expect(rows.changed.size).toBe(0);
    rows.put({ id: 'a', n: 3 });
    rows.load({ id: 'a', n: 4 });
    expect([rows.get('a')?.n, [...rows.changed.keys()]]).toEqual([3, ['a']]);
    rows.remove('a');
    expect([rows.get('a'), rows.changed.size, [...rows.removed]]).toEqual([undefined, 0, ['a']]);
    rows.put({ id: 'a', n: 5 });
    expect(rows.removed.size).toBe(0);
  });

  test('a row found by two lookups is loaded once, and other rows cannot be read', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    mill.bring(mill.add(), 'merge');
    const links = [...mill.evidence.values()];
    const { tree } = links[0]!;
    const slice = new Slice();
    for (let times = 0; times < 2; times += 1) slice.load({ find: 'evidenceFor', by: [projectId, tree] }, links);
    expect(slice.list('evidenceFor', projectId, tree)).toHaveLength(2);
    expect(() => slice.list('evidenceFor', projectId, 'another')).toThrow('does not load it');
    expect(() => slice.list('leasedBy', 'worker_1')).toThrow('does not load it');
    expect(() => slice.count('openConflicts', projectId)).toThrow('does not load it');
    expect(() => slice.edges('task_9')).toThrow('does not load them');
    expect(() => slice.tasks.get('task_9')).toThrow('does not load it');
    expect(() => slice.record('account', 'account/*')).toThrow('does not load it');
    slice.load({ find: 'task', by: ['task_9'] }, []);
    expect(slice.tasks.get('task_9')).toBeUndefined();
  });
});
