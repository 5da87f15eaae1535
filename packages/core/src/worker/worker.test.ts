import {
  AskedQuestion,
  BEATS_KEPT,
  type DesiredState,
  personActor,
  workerIdOf,
  workerLabel,
  workerName,
} from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { workerHealth } from '../health/worker-health.ts';
import { FOR_OTHERS, LEASE_CAP_MS } from '../lease/lease.ts';
import { workerStatus } from './status.ts';

const projectId = 'project_1';
const steer = (mill: Mill, is: DesiredState, workerId = 'agent-1') =>
  mill.must({ type: 'worker.steer', projectId, workerId, desired: is, by: personActor('ada') });
const worker = (mill: Mill, id = 'agent-1') => mill.workers.get(id)!;
const beat = { memoryMb: 12, cpuPercent: 3 };

describe('workers of two hosts', () => {
  const register = (host: string, workerId: string) =>
    ({ type: 'worker.register', projectId, workerId, name: 'agent-1', role: 'builder', host }) as const;

  test('have their own ids; the host is shown where two have the same name', () => {
    const mill = new Mill();
    const ids = ['here', 'there'].map((host) => workerIdOf(projectId, 'agent-1', host));
    mill.must(register('here', ids[0]!));
    mill.must(register('there', ids[1]!));
    const [one, other] = ids.map((id) => mill.workers.get(id)!);
    expect(workerLabel(one!, [one!, other!])).toBe('agent-1@here');
    expect(workerLabel(one!, [one!])).toBe('agent-1');
    expect(ids.map(workerName)).toEqual(['agent-1', 'agent-1']);
  });

  test('a worker without a host goes to the first host that takes it over, with its desired state', () => {
    const mill = new Mill();
    mill.must({ type: 'worker.beat', projectId, workerId: 'agent-1', beat });
    const { fence, runId } = mill.startRun(mill.add());
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    const end = { outcome: 'failed', failure: 'crash', message: 'exit 3', envelope: null, usage } as const;
    mill.must({ type: 'run.finish', ...fence, runId, ...end, workerId: 'agent-1' });
    steer(mill, 'paused');
    const before = worker(mill);
    expect(before).toMatchObject({ host: '', beats: [beat], errors: 1, lastError: 'crash: exit 3' });
    const events = mill.must(register('here', 'agent-1'));
    expect(typesOf(events)).toEqual(['worker.registered']);
    expect(worker(mill)).toEqual({ ...before, host: 'here', desired: 'paused', desiredBy: personActor('ada') });
    expect(mill.must(register('here', 'agent-1'))).toEqual([]);
    expect(mill.refusal(register('there', 'agent-1'))).toBe('conflict');
  });
});

describe('the desired state of a worker', () => {
  test('changes nothing when it is set again, and that is no error', () => {
    const mill = new Mill();
    for (const is of ['paused', 'frozen', 'stopped', 'running'] as const) {
      expect(typesOf(steer(mill, is))).toEqual(['worker.steered']);
      expect(steer(mill, is)).toEqual([]);
    }
    expect(steer(mill, 'running')).toEqual([]);
  });

  test.each(['paused', 'frozen', 'stopped'] as const)('a worker that is %s claims nothing', (is) => {
    const mill = new Mill();
    mill.add();
    steer(mill, is);
    expect(mill.offered('agent-1')).toBe('worker_paused');
    expect(mill.offered('agent-2')).toBe(1);
    steer(mill, 'running');
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('survives the registration of the next start', () => {
    const mill = new Mill();
    steer(mill, 'stopped');
    mill.must({ type: 'worker.register', projectId, workerId: 'agent-1', name: 'agent-1', role: 'builder' });
    expect(worker(mill)).toMatchObject({ desired: 'stopped', desiredBy: personActor('ada'), desiredAt: mill.now });
  });

  test('cannot be set for a worker that does not exist', () => {
    const mill = new Mill();
    const about = {
      type: 'worker.steer',
      projectId,
      workerId: 'agent-9',
      desired: 'paused',
      by: personActor('ada'),
    } as const;
    expect(mill.refusal(about)).toBe('not_found');
  });
});

test('a name belongs to the daemon or to an outside worker, never to both', () => {
  const mill = new Mill();
  const register = { type: 'worker.register', projectId, role: 'builder' } as const;
  mill.must({ ...register, workerId: 'alpha', name: 'alpha', isOutside: true });
  expect(worker(mill, 'alpha').isOutside).toBe(true);
  expect(worker(mill).isOutside).toBe(false);
  expect(mill.must({ ...register, workerId: 'alpha', name: 'alpha', isOutside: true })).toEqual([]);
  expect(mill.refusal({ ...register, workerId: 'alpha', name: 'alpha' })).toBe('conflict');
  expect(mill.refusal({ ...register, workerId: 'agent-1', name: 'agent-1', isOutside: true })).toBe('conflict');
});

describe('a worker as it is shown', () => {
  const idle = { desired: 'running', crash: null, role: 'builder' } as const;
  const crash = { error: 'exit 3', at: 1, status: 'crashed' } as const;

  test('is idle, working, reviewing, paused or stopped by its desired state and its work', () => {
    expect(workerStatus(idle, null)).toBe('idle');
    expect(workerStatus(idle, { mode: 'implement' })).toBe('working');
    expect(workerStatus({ ...idle, desired: 'paused' }, { mode: 'implement' })).toBe('paused');
    expect(workerStatus({ ...idle, desired: 'frozen' }, { mode: 'implement' })).toBe('paused');
    expect(workerStatus({ ...idle, desired: 'stopped' }, null)).toBe('stopped');
    expect(workerStatus({ ...idle, role: 'reviewer' }, { mode: 'review' })).toBe('reviewing');
  });

  test('is shown as crashed while it has no task', () => {
    expect(workerStatus({ ...idle, crash }, null)).toBe('crashed');
    expect(workerStatus({ ...idle, crash: { ...crash, status: 'failed' } }, null)).toBe('failed');
    expect(workerStatus({ ...idle, crash }, { mode: 'plan' })).toBe('working');
  });

  test.each([
    [0, 'healthy'],
    [59_999, 'healthy'],
    [60_000, 'degraded'],
    [120_000, 'degraded'],
    [120_001, 'unresponsive'],
  ])('%s ms after the last heartbeat it is %s', (silentMs, health) => {
    expect(workerHealth({ beats: [{ at: 1_000, ...beat }] }, 1_000 + silentMs)).toBe(health);
  });
});

describe('the record of a worker', () => {
  test('keeps the last ten heartbeats, newest last', () => {
    const mill = new Mill();
    for (let i = 0; i < BEATS_KEPT + 3; i += 1) {
      mill.now += 30_000;
      mill.must({ type: 'worker.beat', projectId, workerId: 'agent-1', beat: { memoryMb: i, cpuPercent: 0 } });
    }
    expect(worker(mill).beats.map(({ memoryMb }) => memoryMb)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(worker(mill).beats.at(-1)?.at).toBe(mill.now);
  });

  test('keeps a crash with its error until the worker claims again or is started again', () => {
    const mill = new Mill();
    mill.add();
    const die = () => mill.must({ type: 'worker.crash', projectId, workerId: 'agent-1', error: 'exit 3' });
    die();
    expect(worker(mill).crash).toEqual({ error: 'exit 3', at: mill.now, status: 'crashed' });
    mill.claim('agent-1');
    expect(worker(mill).crash).toBeNull();
    die();
    steer(mill, 'stopped');
    expect(worker(mill).crash?.error).toBe('exit 3');
    steer(mill, 'running');
    expect(worker(mill).crash).toBeNull();
  });

  test('counts what landed and what failed, until a reset', () => {
    const mill = new Mill();
    const id = mill.add();
    const { fence, runId } = mill.startRun(id);
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    const end = { outcome: 'failed', failure: 'crash', message: 'exit 3', envelope: null, usage } as const;
    mill.must({ type: 'run.finish', ...fence, runId, ...end, workerId: 'agent-1' });
    expect(worker(mill)).toMatchObject({ errors: 1, lastError: 'crash: exit 3', completed: 0 });
    mill.now += 600_000;
    mill.bring(id, 'merge');
    const { fence: merging, commit } = mill.prepare(id, 'merged');
    mill.must({ type: 'merge.land', ...merging, commit, workers: ['agent-1', 'nobody'] });
    expect(worker(mill).completed).toBe(1);
    mill.must({ type: 'worker.reset', projectId, workerId: 'agent-1', by: personActor('ada') });
    expect(worker(mill)).toMatchObject({ completed: 0, errors: 0, lastError: null, beats: [], resetAt: mill.now });
  });
});

describe('assigning a task to a worker', () => {
  test('takes the lease, interrupts the run, and lets only that worker claim the task', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.startRun(id);
    mill.must({ type: 'task.assign', projectId, taskId: id, workerId: 'agent-2', by: personActor('ada') });
    const events = mill.must({
      type: 'lease.take',
      projectId,
      subjectId: id,
      by: personActor('ada'),
      why: 'given to another',
    });
    expect(typesOf(events)).toEqual(['run.finished', 'lease.released']);
    expect(mill.task(id)).toMatchObject({ lease: null, stage: 'plan', counters: { failures: {} } });
    expect(mill.offered('agent-1')).toBe('nothing_ready');
    expect(mill.offered('agent-2')).toBe(1);
    mill.must({ type: 'task.assign', projectId, taskId: id, workerId: null, by: personActor('ada') });
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('lets a task with an open question wait in needs_info for the answer, and then continue', () => {
    const mill = new Mill();
    const id = mill.add();
    const { fence, runId } = mill.startRun(id);
    mill.must({ type: 'run.ask', ...fence, runId, questions: [AskedQuestion.parse('Which port?')] });
    mill.must({ type: 'lease.take', projectId, subjectId: id, by: personActor('ada'), why: 'emergency stop' });
    expect(mill.task(id)).toMatchObject({ lease: null, stage: 'needs_info', resumeStage: 'plan' });
    const questionId = mill.task(id).openQuestions[0]!.id;
    mill.must({
      type: 'question.answer',
      projectId,
      taskId: id,
      questionId,
      by: personActor('ada'),
      source: 'user',
      text: '8080',
    });
    expect(mill.task(id)).toMatchObject({ stage: 'plan', openQuestions: [] });
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('is the hint of a refused claim: another worker may get the task', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.must({ type: 'task.assign', projectId, taskId: id, workerId: 'agent-2', by: personActor('ada') });
    const claim = {
      type: 'work.claim',
      projectId,
      workerId: 'agent-1',
      role: 'builder',
      owner: 'd',
      window: 8,
    } as const;
    const decision = mill.decideOnly(claim);
    expect(decision.ok ? '' : decision.refusal.hint).toBe(FOR_OTHERS);
  });

  test.each([
    ['nobody', 'not_found'],
    ['reviewer', 'bad_input'],
  ])('is refused for the worker %s', (workerId, code) => {
    const mill = new Mill();
    const id = mill.add();
    expect(mill.refusal({ type: 'task.assign', projectId, taskId: id, workerId, by: personActor('ada') })).toBe(code);
  });

  test('is refused for a cancelled task', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.must({ type: 'task.cancel', projectId, taskId: id, by: personActor('ada') });
    expect(
      mill.refusal({ type: 'task.assign', projectId, taskId: id, workerId: 'agent-1', by: personActor('ada') }),
    ).toBe('wrong_stage');
  });

  test('silence interrupts a task twice; the third time a person is asked', () => {
    const mill = new Mill();
    const id = mill.add();
    const interrupt = () => {
      mill.startRun(id);
      mill.must({
        type: 'lease.take',
        projectId,
        subjectId: id,
        by: personActor('supervisor'),
        why: 'silent',
        isStuck: true,
      });
      return mill.task(id);
    };
    expect(interrupt()).toMatchObject({ lease: null, blocked: null, counters: { failures: { stuck: 1 } } });
    expect(interrupt()).toMatchObject({ lease: null, blocked: null, counters: { failures: { stuck: 2 } } });
    expect(interrupt()).toMatchObject({ lease: null, stage: 'blocked', blocked: { reason: 'no_progress' } });
  });

  test('taking a lease that does not exist changes nothing', () => {
    const mill = new Mill();
    const id = mill.add();
    expect(mill.must({ type: 'lease.take', projectId, subjectId: id, by: personActor('ada'), why: '' })).toEqual([]);
  });
});

test('frozen time does not count towards the limit of a lease', () => {
  const mill = new Mill();
  const id = mill.add();
  const { fence } = mill.startRun(id);
  const claimedAt = mill.task(id).lease!.claimedAt;
  const renew = (afterMs: number, frozenMs: number) => {
    mill.now += afterMs;
    return typesOf(mill.must({ type: 'lease.renew', ...fence, frozenMs }));
  };
  expect(renew(LEASE_CAP_MS + 5_000, LEASE_CAP_MS)).toEqual(['lease.renewed']);
  expect(mill.task(id).lease?.claimedAt).toBe(claimedAt + LEASE_CAP_MS);
  expect(renew(LEASE_CAP_MS - 5_001, 0)).toEqual(['lease.renewed']);
  expect(renew(1, 0)).toContain('lease.released');
});

test('an emergency is recorded with who and what was affected', () => {
  const mill = new Mill();
  const about = {
    operation: 'emergency_stop',
    by: personActor('ada'),
    reason: 'smoke',
    workers: ['agent-1'],
    tasks: [7],
  } as const;
  const [event] = mill.must({ type: 'emergency.record', projectId, ...about, workers: ['agent-1'], tasks: [7] });
  expect(event).toEqual({ type: 'emergency.executed', ...about });
});
