import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { pick } from './pick.ts';

const projectId = 'project_1';

describe('the next task of a worker', () => {
  test('is the most urgent, then rework, then the oldest', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const ids = [mill.add(), mill.add({ priority: 0 }), mill.add(), mill.add({ priority: 4 }), mill.add()];
    const rework = ids[2]!;
    mill.must({ type: 'task.retry', projectId, taskId: rework, by: personActor('ada'), note: 'do it well' });
    const order: number[] = [];
    for (let index = 0; index < ids.length; index += 1) {
      const next = mill.offered('agent-1') as number;
      order.push(next);
      mill.must({ type: 'task.cancel', projectId, taskId: ids[next - 1]!, by: personActor('ada') });
    }
    expect(order).toEqual([2, 3, 1, 5, 4]);
    expect(mill.offered('agent-1')).toBe('nothing_ready');
  });

  test('is never one in its backoff, until that is over', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.end(id, 'failed', { failure: 'network', envelope: null });
    expect(mill.offered('agent-1')).toBe('nothing_ready');
    mill.now += 4_999;
    expect(mill.offered('agent-1')).toBe('nothing_ready');
    mill.now += 1;
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('is never one that touches a file of running work', () => {
    const mill = new Mill();
    mill.add({ files: ['src/', 'docs/a.md'] });
    mill.add({ files: ['src/core/**'] });
    mill.add({ files: ['docs/b.md'] });
    mill.claim('agent-1');
    expect(mill.offered('agent-2')).toBe(3);
    mill.must({ type: 'lease.release', projectId, subjectId: 'task_1', token: 1, why: 'shutdown' });
    expect(mill.offered('agent-2')).toBe(1);
  });

  test('may run beside anything if it has no file scope', () => {
    const mill = new Mill();
    mill.add({ files: ['**'] });
    mill.add();
    mill.claim('agent-1');
    expect(mill.offered('agent-2')).toBe(2);
  });

  test('file scopes hold back only builders: finished work is reviewed and landed', () => {
    const mill = new Mill();
    const [a, b] = [mill.add({ files: ['src/'] }), mill.add({ files: ['src/'] })];
    mill.bring(a, 'review');
    mill.startRun(b);
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    expect(mill.offered('reviewer')).toBe(1);
    mill.review(a, true);
    expect(mill.offered('merger')).toBe(1);
  });

  test('a reviewer gets the most urgent work first, then the work whose build ended first', () => {
    const mill = new Mill();
    const [older, younger, urgent] = [mill.add({ priority: 4 }), mill.add(), mill.add()] as const;
    for (const id of [younger, urgent, older]) {
      mill.now += 1000;
      mill.bring(id, 'review');
    }
    const by = personActor('ada');
    mill.must({ type: 'task.edit', projectId, taskId: older, priority: 2, by });
    mill.must({ type: 'task.edit', projectId, taskId: urgent, priority: 0, by });
    const order: (number | string)[] = [];
    for (const _ of [older, younger, urgent]) {
      const next = mill.offered('reviewer');
      order.push(next);
      mill.review(`task_${next}`, true);
    }
    expect(order).toEqual([3, 2, 1]);
  });

  test('may lie outside the window: the claim says so when all of the window is locked', () => {
    const mill = new Mill();
    for (let index = 0; index < 4; index += 1) mill.add({ files: ['src/'] });
    mill.add({ files: ['docs/'] });
    mill.claim('agent-1');
    expect(mill.offered('agent-2', 3)).toBe('window_exhausted');
    expect(mill.offered('agent-2', 4)).toBe(5);
  });

  test('is another one for each worker that claims in the same transaction', () => {
    const mill = new Mill();
    mill.add();
    mill.add();
    const claim = { type: 'work.claim', projectId, role: 'builder', owner: 'daemon', window: 8 } as const;
    const claims = ['agent-1', 'agent-2'].map((workerId) => ({ ...claim, workerId }));
    mill.must({ type: 'worker.register', projectId, workerId: 'agent-3', name: 'agent-3', role: 'builder' });
    const decisions = mill.executeBatch([...claims, { ...claim, workerId: 'agent-3' }]);
    expect(decisions.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect([...mill.tasks.values()].map(({ lease }) => lease?.workerId)).toEqual(['agent-1', 'agent-2']);
  });

  test('is never one that went into its backoff in the same transaction', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    const resting = { ...mill.task(id), notBefore: mill.now + 1 };
    expect(pick({ window: [resting], running: [], workerId: 'agent-1', now: mill.now })).toBeUndefined();
    expect(pick({ window: [resting], running: [], workerId: 'agent-1', now: mill.now + 1 })).toBe(resting);
    const claim = { type: 'work.claim', projectId, role: 'builder', owner: 'daemon', window: 8 } as const;
    const run = { projectId, subjectId: id, token: 1, runId: 'run_1' };
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    const failed = { outcome: 'failed', failure: 'network', message: 'offline', envelope: null, usage } as const;
    const decisions = mill.executeBatch([
      { ...claim, workerId: 'agent-1' },
      { type: 'run.start', ...run, mode: 'implement', agent: 'scripted' },
      { type: 'run.finish', ...run, ...failed },
      { ...claim, workerId: 'agent-2' },
    ]);
    expect(decisions.map(({ ok }) => ok)).toEqual([true, true, true, false]);
    expect(decisions[3]).toMatchObject({ refusal: { code: 'nothing_ready' } });
    expect(mill.task(id)).toMatchObject({ lease: null, notBefore: mill.now + 5_000 });
  });

  test('a builder never reviews its own work', () => {
    const mill = new Mill();
    const id = mill.add();
    const task = { ...mill.bring(id, 'review'), builders: ['reviewer'] };
    const from = (workerId: string) => pick({ window: [task], running: [], workerId, now: mill.now });
    expect(from('reviewer')).toBeUndefined();
    expect(from('somebody-else')).toBe(task);
  });

  test('builders are recorded, once per worker', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.build(id, 'tree', 'fail');
    mill.end(id, 'failed', { failure: 'validation', message: 'red' });
    mill.build(id, 'tree-2');
    expect(mill.task(id).builders).toEqual(['agent-1']);
  });
});
