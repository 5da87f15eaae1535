import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { workedTime } from '../spec/build.ts';
import { LEASE_MS } from '../work.ts';
import { LEASE_CAP_MS } from './lease.ts';

const projectId = 'project_1';
const claimBy = (workerId: string, role: 'builder' | 'reviewer' = 'builder') =>
  ({ type: 'work.claim', projectId, workerId, role, owner: 'daemon-1', window: 8 }) as const;

describe('claiming', () => {
  test('gives the task a lease and moves an open one to its start, in one decision', () => {
    const mill = new Mill();
    const id = mill.add();
    expect(typesOf(mill.claim('agent-1'))).toEqual(['lease.claimed', 'task.moved']);
    expect(mill.task(id)).toMatchObject({
      stage: 'plan',
      fence: 1,
      lease: { workerId: 'agent-1', owner: 'daemon-1', token: 1, claimedAt: mill.now, expiresAt: mill.now + LEASE_MS },
    });
  });

  test('a worker holds one task at a time, a task has one worker', () => {
    const mill = new Mill();
    mill.add();
    mill.claim('agent-1');
    expect(mill.refusal(claimBy('agent-2'))).toBe('nothing_ready');
    mill.add();
    expect(mill.refusal(claimBy('agent-1'))).toBe('worker_busy');
    expect(mill.offered('agent-2')).toBe(2);
  });

  test('takes a registered worker in its own role', () => {
    const mill = new Mill();
    mill.add();
    expect(mill.refusal(claimBy('nobody'))).toBe('not_found');
    expect(mill.refusal(claimBy('agent-1', 'reviewer'))).toBe('bad_input');
    mill.must({ type: 'worker.remove', projectId, workerId: 'agent-1' });
    expect(mill.refusal(claimBy('agent-1'))).toBe('not_found');
  });

  test('each claim has a larger token, also after cancel and retry', () => {
    const mill = new Mill();
    const id = mill.add();
    for (let token = 1; token < 5; token += 1) {
      expect(mill.take(id).token).toBe(token);
      mill.must({ type: 'task.cancel', projectId, taskId: id, by: personActor('ada') });
      mill.must({ type: 'task.retry', projectId, taskId: id, by: personActor('ada') });
    }
  });

  test('a task whose stage was removed from its pipeline asks a person', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'review');
    const { review: _gone, ...stages } = mill.rules().pipelines.feature!.stages;
    const feature = { ...mill.rules().pipelines.feature!, stages };
    mill.must({ type: 'project.configure', projectId, rules: { ...mill.rules(), pipelines: { feature } } });
    expect(typesOf(mill.claim('reviewer'))).toEqual(['alert.raised', 'task.blocked']);
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_transition' }, lease: null });
    mill.must({ type: 'task.retry', projectId, taskId: id, by: personActor('ada'), stage: 'merge' });
    expect(mill.offered('merger')).toBe(1);
  });

  test('a task whose stage now needs another role is offered to that role', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'review');
    const { feature } = mill.rules().pipelines;
    const review = {
      actor: 'human',
      onlyIfPlansAreReviewed: false,
      on: { approved: 'merge', changes_requested: 'plan' },
    } as const;
    const pipelines = { feature: { ...feature!, stages: { ...feature!.stages, review } } };
    mill.must({ type: 'project.configure', projectId, rules: { ...mill.rules(), pipelines } });
    mill.claim('reviewer');
    expect(mill.task(id)).toMatchObject({ stage: 'review', role: null, lease: null });
    mill.must({ type: 'task.approve', projectId, taskId: id, by: personActor('ada') });
    expect(mill.task(id).stage).toBe('merge');
  });

  test('an open task whose pipeline was removed asks a person', () => {
    const mill = new Mill();
    const id = mill.add({ pipeline: 'quick' });
    const { feature } = mill.rules().pipelines;
    mill.must({ type: 'project.configure', projectId, rules: { ...mill.rules(), pipelines: { feature: feature! } } });
    mill.claim('agent-1');
    expect(mill.task(id).blocked?.text).toBe('Pipeline quick no longer exists.');
  });
});

describe('holding a lease', () => {
  const leased = () => {
    const mill = new Mill();
    const id = mill.add();
    return { mill, id, ...mill.startRun(id) };
  };

  test('renewing moves its end', () => {
    const { mill, id, fence } = leased();
    mill.now += 30_000;
    mill.must({ type: 'lease.renew', ...fence });
    expect(mill.task(id).lease?.expiresAt).toBe(mill.now + LEASE_MS);
    expect(mill.task(id).lease?.claimedAt).toBe(mill.now - 30_000);
  });

  test('after eight hours it is over: the run is interrupted and the task is back in the queue', () => {
    const { mill, id, fence, runId } = leased();
    mill.now += LEASE_CAP_MS - 1;
    expect(typesOf(mill.must({ type: 'lease.renew', ...fence }))).toEqual(['lease.renewed']);
    mill.now += 1;
    const ended = typesOf(mill.must({ type: 'lease.renew', ...fence }));
    expect(ended).toEqual(['failure.counted', 'run.finished', 'lease.released']);
    expect(mill.runs.get(runId)).toMatchObject({ status: 'finished', outcome: 'interrupted' });
    expect(mill.task(id)).toMatchObject({ stage: 'plan', lease: null, blocked: null });
    expect(mill.offered('agent-2')).toBe(1);
  });

  test('a person is asked when it reached eight hours for the third time', () => {
    const { mill, id, fence } = leased();
    for (const again of [fence, null, null]) {
      const held = again ?? mill.startRun(id).fence;
      mill.now += LEASE_CAP_MS;
      mill.must({ type: 'lease.renew', ...held });
    }
    const blocked = { reason: 'time_limit', text: expect.stringContaining('3 times') };
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', resumeStage: 'plan', lease: null, blocked });
  });

  test('releasing ends the run as interrupted, which is not counted, and leaves the task in its stage', () => {
    const { mill, id, fence, runId } = leased();
    mill.must({ type: 'lease.release', ...fence, why: 'shutdown' });
    expect(mill.task(id)).toMatchObject({ stage: 'plan', lease: null, counters: { failures: {}, interruptions: 1 } });
    expect(mill.runs.get(runId)).toMatchObject({ outcome: 'interrupted', summary: 'shutdown', endedAt: mill.now });
    expect(mill.offered('agent-2')).toBe(1);
  });

  test.each([
    ['before its time', 0, false, 'conflict'],
    ['a moment before its time', LEASE_MS - 1, false, 'conflict'],
    ['when it ran out', LEASE_MS, false, null],
    ['at once when its owner is dead', 0, true, null],
  ])('expiring it %s is decided by its end and its owner', (_name, afterMs, ownerIsDead, refusal) => {
    const { mill, id, fence, runId } = leased();
    mill.now += afterMs;
    expect(mill.refusal({ type: 'lease.expire', ...fence, ownerIsDead })).toBe(refusal);
    expect(mill.runs.get(runId)?.status).toBe(refusal ? 'running' : 'finished');
    expect(mill.task(id).lease === null).toBe(refusal === null);
  });

  test('a lease of another token is not expired', () => {
    const { mill, id, fence } = leased();
    mill.must({ type: 'lease.release', ...fence, why: 'x' });
    expect(mill.refusal({ type: 'lease.expire', ...fence, ownerIsDead: true })).toBe('conflict');
    mill.take(id);
    expect(mill.refusal({ type: 'lease.expire', ...fence, ownerIsDead: true })).toBe('conflict');
  });

  test('waiting releases the worker, and leaves no running run', () => {
    const { mill, id, fence, runId } = leased();
    mill.must({ type: 'stage.wait', ...fence, why: 'the checkout is dirty', untilMs: 5_000 });
    expect(mill.task(id)).toMatchObject({ waiting: 'the checkout is dirty', notBefore: mill.now + 5_000, lease: null });
    expect(mill.runs.get(runId)?.status).toBe('finished');
    expect(mill.offered('agent-1')).toBe('nothing_ready');
    mill.now += 5_000;
    mill.end(id, 'plan_complete');
    expect(mill.task(id).waiting).toBeNull();
  });
});

describe('the fence of a lease', () => {
  test('the work of a run whose daemon died ends with the last sign of its worker', () => {
    const mill = new Mill();
    const { fence, runId } = mill.startRun(mill.add());
    const { startedAt } = mill.runs.get(runId)!;
    mill.now += 60_000;
    mill.must({ type: 'lease.renew', ...fence });
    const seenAt = mill.now;
    mill.now += 6 * 3_600_000;
    mill.must({ type: 'lease.expire', ...fence, ownerIsDead: true });
    const run = mill.runs.get(runId)!;
    expect(run).toMatchObject({ outcome: 'interrupted', lostAt: seenAt, endedAt: mill.now });
    expect(workedTime([run], startedAt, mill.now)).toBe(60_000);
  });

  test('every write of an earlier holder is refused and changes nothing', () => {
    const mill = new Mill();
    const id = mill.add();
    const { fence: old, runId } = mill.startRun(id);
    mill.must({ type: 'lease.expire', ...old, ownerIsDead: true });
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    const writes = () => [
      mill.refusal({ type: 'lease.renew', ...old }),
      mill.refusal({ type: 'lease.release', ...old, why: '' }),
      mill.refusal({ type: 'run.start', ...old, runId: 'run_9', mode: 'plan', agent: 'a' }),
      mill.refusal({ type: 'run.progress', ...old, runId, percent: 1, text: '' }),
      mill.refusal({ type: 'run.send_back', ...old, runId, gates: [] }),
      mill.refusal({ type: 'run.finish', ...old, runId, outcome: 'plan_complete', envelope: null, usage }),
      mill.refusal({ type: 'stage.finish', ...old, outcome: 'approved' }),
      mill.refusal({ type: 'stage.wait', ...old, why: '', untilMs: 1 }),
      mill.refusal({ type: 'work.commit', ...old, commit: 'c', tree: 't', notes: [] }),
      mill.refusal({ type: 'evidence.record', ...old, receipts: [] }),
      mill.refusal({ type: 'merge.prepare', ...old, commit: 'c', tree: 't', base: 'b' }),
      mill.refusal({ type: 'merge.abandon', ...old, why: '' }),
      mill.refusal({ type: 'merge.land', ...old, commit: 'c' }),
    ];
    const before = mill.log.length;
    expect(new Set(writes())).toEqual(new Set(['stale_lease']));
    expect(mill.log.length).toBe(before);
    mill.claim('agent-2');
    expect(new Set(writes())).toEqual(new Set(['stale_lease']));
    expect(mill.log.length).toBe(before + 1);
  });
});
