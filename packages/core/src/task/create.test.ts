import { personActor } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { slugOf } from '../slug.ts';

const projectId = 'project_1';

describe('the slug of a title', () => {
  test.each([
    ['Add a login page', 'add-a-login-page'],
    ['  --Fix: the (broken) thing!!  ', 'fix-the-broken-thing'],
    ['Émile wants a Café', 'emile-wants-a-cafe'],
    ['ﬁne Å½', 'fine-a1-2'],
    ['日本語', 'task'],
    ['🌊', 'task'],
    ['../../etc/passwd', 'etc-passwd'],
    [`${'a'.repeat(39)} bcd`, 'a'.repeat(39)],
    ['HEAD.lock', 'head-lock'],
  ])('is right for the title %s', (title, expected) => {
    expect(slugOf(title)).toBe(expected);
  });

  test('is always safe in a branch name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (title) => {
        expect(slugOf(title)).toMatch(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/);
      }),
    );
  });
});

describe('creating a task', () => {
  test('gives ascending numbers, a branch with number and slug, and the stage open', () => {
    const mill = new Mill();
    const [a, b] = [mill.add({ title: 'First one' }), mill.add({ title: 'Second' })];
    expect(mill.task(a)).toMatchObject({ number: 1, branch: 'task/1-first-one', stage: 'open', role: 'builder' });
    expect(mill.task(b)).toMatchObject({ number: 2, branch: 'task/2-second', fence: 0, lease: null, unmet: 0 });
  });

  test.each([
    ['the default', {}, 'feature'],
    ['a bug goes through bug', { kind: 'bug' as const }, 'bug'],
    ['the one named', { kind: 'bug' as const, pipeline: 'quick' }, 'quick'],
  ])('chooses the pipeline: %s', (_name, fields, pipeline) => {
    const mill = new Mill();
    expect(mill.task(mill.add(fields)).pipeline).toBe(pipeline);
  });

  test('invalid input is refused and changes nothing', () => {
    const mill = new Mill();
    mill.add();
    const before = mill.log.length;
    const blank = { type: 'task.create', projectId, taskId: 'task_9', title: 'x', body: '', kind: 'feature' } as const;
    const rest = { accept: [], files: [], dependsOn: [] as string[], priority: 2 };
    expect(mill.refusal({ ...blank, ...rest, pipeline: 'nope' })).toBe('unknown_pipeline');
    expect(mill.refusal({ ...blank, ...rest, pipeline: 'constructor' })).toBe('unknown_pipeline');
    expect(mill.refusal({ ...blank, ...rest, dependsOn: ['task_8'] })).toBe('not_found');
    expect(mill.refusal({ ...blank, ...rest, dependsOn: ['task_9'] })).toBe('not_found');
    expect(mill.refusal({ ...blank, ...rest, taskId: 'task_1' })).toBe('conflict');
    expect(mill.refusal({ ...blank, ...rest, projectId: 'project_9' })).toBe('not_found');
    expect(mill.log.length).toBe(before);
  });

  test("another project's tasks cannot be dependencies and cannot be changed", () => {
    const mill = new Mill();
    const id = mill.add();
    const other = { projectId: 'project_2' };
    mill.must({ type: 'project.register', ...other, name: 'b', root: '/b', rules: mill.rules() });
    const create = { type: 'task.create', ...other, taskId: 'task_b', title: 'b', body: '', kind: 'feature' } as const;
    expect(mill.refusal({ ...create, accept: [], files: [], dependsOn: [id], priority: 2 })).toBe('not_found');
    expect(mill.refusal({ type: 'task.cancel', ...other, taskId: id, by: personActor('ada') })).toBe('not_found');
    expect(mill.refusal({ type: 'task.set_dependencies', ...other, taskId: id, dependsOn: [] })).toBe('not_found');
    const claim = {
      type: 'work.claim',
      ...other,
      workerId: 'agent-1',
      role: 'builder',
      owner: 'd',
      window: 8,
    } as const;
    expect(mill.refusal(claim)).toBe('not_found');
  });
});

describe('the dependencies of a task', () => {
  const setAfter = (mill: Mill, taskId: string, ...dependsOn: string[]) =>
    mill.refusal({ type: 'task.set_dependencies', projectId, taskId, dependsOn });

  test('a task is claimable once all it waits for are done; each counts once', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const [a, b] = [mill.add(), mill.add()];
    const c = mill.add({ dependsOn: [a, b, a] });
    expect(mill.task(c).unmet).toBe(2);
    mill.bring(a, 'done');
    expect(mill.task(c).unmet).toBe(1);
    expect(mill.ready(projectId, 'builder').map(({ id }) => id)).toEqual([b]);
    mill.bring(b, 'done');
    expect(mill.task(c).unmet).toBe(0);
    expect(mill.offered('agent-1')).toBe(3);
    expect(mill.log.filter(({ body }) => body.type === 'task.dependency_met')).toHaveLength(2);
  });

  test('a dependency that is done already is met from the start', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const a = mill.add();
    mill.bring(a, 'done');
    const b = mill.add({ dependsOn: [a] });
    expect(mill.task(b).unmet).toBe(0);
    expect(setAfter(mill, b, a)).toBeNull();
    expect(mill.task(b)).toMatchObject({ dependsOn: [a], unmet: 0 });
  });

  test('a removed dependency is not met twice', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const [a, b] = [mill.add(), mill.add()];
    const c = mill.add({ dependsOn: [a, b] });
    expect(setAfter(mill, c, b)).toBeNull();
    mill.bring(a, 'done');
    expect(mill.task(c).unmet).toBe(1);
  });

  test('a dependency is not met twice when the transaction that finishes it removes it', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const [a, b] = [mill.add(), mill.add()];
    const c = mill.add({ dependsOn: [a, b] });
    mill.bring(a, 'merge');
    const { fence, commit } = mill.prepare(a, 'T');
    mill.executeBatch([
      { type: 'task.set_dependencies', projectId, taskId: c, dependsOn: [b] },
      { type: 'merge.land', ...fence, commit },
    ]);
    expect([mill.task(a).stage, mill.task(c).unmet]).toEqual(['done', 1]);
  });

  test('a cancelled dependency stays unmet until it is retried and done', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const a = mill.add();
    const b = mill.add({ dependsOn: [a] });
    mill.must({ type: 'task.cancel', projectId, taskId: a, by: personActor('ada') });
    expect(mill.task(b).unmet).toBe(1);
    mill.must({ type: 'task.retry', projectId, taskId: a, by: personActor('ada') });
    mill.bring(a, 'done');
    expect(mill.task(b).unmet).toBe(0);
  });

  test('a cycle of dependencies is refused, however long, also through a cancelled task', () => {
    const mill = new Mill();
    const a = mill.add();
    const b = mill.add({ dependsOn: [a] });
    const c = mill.add({ dependsOn: [b] });
    expect(setAfter(mill, a, a)).toBe('dependency_cycle');
    expect(setAfter(mill, a, b)).toBe('dependency_cycle');
    expect(setAfter(mill, a, c)).toBe('dependency_cycle');
    mill.must({ type: 'task.cancel', projectId, taskId: b, by: personActor('ada') });
    expect(setAfter(mill, a, c)).toBe('dependency_cycle');
    expect(mill.task(a).dependsOn).toEqual([]);
  });

  test('only an open task can get dependencies, and only tasks that exist', () => {
    const mill = new Mill();
    const [a, b] = [mill.add(), mill.add()];
    expect(setAfter(mill, b, 'task_9')).toBe('not_found');
    expect(setAfter(mill, 'task_9')).toBe('not_found');
    mill.bring(a, 'implement');
    expect(setAfter(mill, a, b)).toBe('wrong_stage');
  });
});
