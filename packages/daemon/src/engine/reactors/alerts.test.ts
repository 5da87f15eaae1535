import { type FailureClass, personActor } from '@tidemill/contract';
import { workerHealth } from '@tidemill/core';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineBed, quickAgent, silentAgent } from '../../../../../test/support/engine-bed.ts';
import type { Agent, AgentEnd } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const projectId = 'project_1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ada = personActor('ada');
const OWNER = { name: null, role: 'admin' } as const;

let bed: EngineBed;
afterEach(() => bed.close());

async function open(change: (bed: EngineBed) => Partial<EngineDeps> = () => ({}), pipeline = 'quick') {
  bed = await EngineBed.open({ defaultPipeline: pipeline }, (self) => ({
    agentFor: () => quickAgent(() => self.repository),
    ...change(self),
  }));
}
const steer = (name: string, desired: 'running' | 'paused') =>
  bed.must({ type: 'worker.steer', projectId, workerId: `${projectId}/${name}`, desired, by: ada });
const textOf = async (kind: string) =>
  (await bed.store.records({ noun: 'alert', projectId, isOpen: true })).find((alert) => alert.kind === kind)?.text;
const isOpen = async (kind: string) => (await textOf(kind)) !== undefined;
const raised = async (kind: string) =>
  (await bed.log('alert.raised')).some(({ body }) => body.type === 'alert.raised' && body.kind === kind);
const accept = ['it works'];

/** An agent whose runs fail like this until `isFixed`. */
function failing(failure: FailureClass, isFixed: () => boolean, self: EngineBed): Agent {
  const works = quickAgent(() => self.repository);
  const end: AgentEnd = { kind: 'failed', failure, message: 'no', exitCode: 1 };
  return {
    label: 'failing',
    start: (request, sink) =>
      isFixed() ? works.start(request, sink) : { end: Promise.resolve(end), stop: async () => undefined },
  };
}

describe('a landing that a dirty checkout holds up', { timeout: 60_000 }, () => {
  it('is told after a minute with what to do, writes almost nothing for hours, and lands soon after', async () => {
    await open();
    bed.repository.isDirty = true;
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(4 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('merge');
    expect(await bed.alerts()).toContain('error landing_waits');
    expect(await textOf('landing_waits')).toContain('the checkout has uncommitted changes');
    const before = await bed.store.lastSeq();
    await bed.pass(6 * HOUR);
    const written = await bed.store.events({ after: before, limit: 100_000 });
    expect(written.filter(({ body }) => body.type !== 'worker.beat').length).toBeLessThan(150);
    bed.repository.isDirty = false;
    await bed.pass(30_000);
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    expect(await isOpen('landing_waits')).toBe(false);
  });

  it('is not told after a short wait', async () => {
    await open();
    bed.repository.isDirty = true;
    await bed.add(1, { accept });
    await bed.start();
    for (let seconds = 0; (await bed.store.task('task_1'))?.waiting === null && seconds < 600; seconds += 5)
      await bed.pass(5_000);
    bed.repository.isDirty = false;
    await bed.pass(2 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    expect(await raised('landing_waits')).toBe(false);
  });
});

describe('tasks behind one that does not continue', { timeout: 60_000 }, () => {
  it('are told within a minute when it is cancelled, until the dependency is dropped', async () => {
    await open(() => ({ agentFor: () => silentAgent }));
    await bed.add(1);
    await bed.add(2, { dependsOn: ['task_1'] });
    await bed.start();
    await bed.must({ type: 'task.cancel', projectId, taskId: 'task_1', by: ada });
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('error dependency_cancelled #1');
    await bed.must({ type: 'task.set_dependencies', projectId, taskId: 'task_2', dependsOn: [] });
    await bed.pass(2 * MINUTE);
    expect(await isOpen('dependency_cancelled')).toBe(false);
  });

  it('are told after two hours when it is blocked', async () => {
    await open((self) => ({ agentFor: () => failing('no_progress', () => false, self) }));
    await bed.add(1);
    await bed.add(2, { dependsOn: ['task_1'] });
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('blocked');
    expect(await isOpen('dependency_blocked')).toBe(false);
    await bed.pass(2 * HOUR);
    expect(await bed.alerts()).toContain('error dependency_blocked #1');
  });
});

describe('a review that waits', { timeout: 60_000 }, () => {
  it('is told after two hours with the reason, and is over when it is done', async () => {
    await open(undefined, 'feature');
    await bed.add(1, { accept });
    await bed.start();
    await steer('review-agent', 'paused');
    await bed.pass(110 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('review');
    expect(await isOpen('review_waiting')).toBe(false);
    await bed.pass(20 * MINUTE);
    expect(await textOf('review_waiting')).toContain(
      'review-agent is paused. Let it work with `tidemill workers resume',
    );
    await steer('review-agent', 'running');
    await bed.pass(10 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    expect(await isOpen('review_waiting')).toBe(false);
  });

  it('is told with the reason that its agent is in backoff', async () => {
    await open(
      (self) => ({
        agentFor: (mode) =>
          mode === 'review' ? failing('auth', () => false, self) : quickAgent(() => self.repository),
      }),
      'feature',
    );
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(3 * HOUR);
    expect(await raised('agent_auth')).toBe(true);
    expect(await textOf('review_waiting')).toContain('its agent is in backoff');
  });
});

describe('workers', { timeout: 60_000 }, () => {
  const remote = `${projectId}/far/agent-1`;
  const beat = () =>
    bed.must({ type: 'worker.beat', projectId, workerId: remote, beat: { memoryMb: 1, cpuPercent: 0 } });

  it('of a daemon that died are degraded, then unresponsive, and well when they beat again', async () => {
    await open(() => ({ agentFor: () => silentAgent }));
    const about = { projectId, workerId: remote, name: 'agent-1', role: 'builder', host: 'far' } as const;
    await bed.start();
    await bed.must({ type: 'worker.register', ...about });
    await beat();
    await bed.pass(119_000);
    expect(await raised('worker_degraded')).toBe(true);
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('error worker_unresponsive agent-1');
    expect(await isOpen('worker_degraded')).toBe(false);
    expect(await textOf('worker_unresponsive')).toContain('tidemill up');
    await beat();
    await bed.pass(MINUTE);
    expect(await isOpen('worker_unresponsive')).toBe(false);
  });

  it('outside the daemon that lose their task are unresponsive until they come back', async () => {
    await open(() => ({ agentFor: () => silentAgent, workers: 1 }));
    await bed.add(1);
    await bed.add(2);
    await bed.start();
    await bed.pass(1_000);
    const claim = async () => {
      const claimed = bed.engine.outside.claim('alpha', OWNER);
      await bed.pass(10_000);
      expect(await claimed).not.toBeNull();
    };
    await claim();
    await bed.pass(5 * MINUTE);
    expect(await bed.alerts()).toContain('error worker_unresponsive alpha');
    await bed.pass(HOUR);
    expect(await isOpen('worker_unresponsive')).toBe(true);
    await claim();
    await bed.pass(MINUTE);
    expect(await isOpen('worker_unresponsive')).toBe(false);
  });

  it('whose runs fail again and again raise the error rate', async () => {
    await open((self) => {
      let runs = 0;
      return { agentFor: () => failing('crash', () => ++runs === 1, self), workers: 1 };
    });
    for (const number of [1, 2, 3]) await bed.add(number);
    await bed.start();
    await bed.pass(20 * MINUTE);
    expect(await raised('error_rate')).toBe(true);
    expect(await textOf('error_rate')).toMatch(/Last error \(#\d\): "no"\. Restart it with/);
    await bed.pass(2 * HOUR);
    expect(await isOpen('error_rate')).toBe(false);
  });

  it('that all fail are one critical alert with the last error', async () => {
    await open((self) => ({ agentFor: () => failing('crash', () => false, self), workers: 2 }));
    for (const number of [1, 2, 3]) await bed.add(number);
    await bed.start();
    await bed.pass(20 * MINUTE);
    expect(await bed.alerts()).toContain('critical all_failed');
    expect(await textOf('all_failed')).toMatch(/Last error \(#\d\): "no"\./);
    expect(await raised('error_rate')).toBe(false);
    await bed.pass(2 * HOUR);
    expect(await isOpen('all_failed')).toBe(false);
  });

  it('with five tasks raise no alert about the queue', async () => {
    await open();
    for (let number = 1; number <= 5; number += 1) await bed.add(number, { accept });
    await bed.start();
    await bed.pass(30 * MINUTE);
    expect((await bed.alerts()).filter((alert) => alert.includes('queue'))).toEqual([]);
  });

  it('with a queue that is too long or too short raise an alert', async () => {
    await open(() => ({ agentFor: () => silentAgent }));
    for (let number = 1; number <= 14; number += 1) await bed.add(number);
    await bed.start();
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('warning queue_high queue');
    for (let number = 1; number <= 11; number += 1)
      await bed.must({ type: 'task.cancel', projectId, taskId: `task_${number}`, by: ada });
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('info queue_low queue');
    expect(await isOpen('queue_high')).toBe(false);
  });
});

describe('a stuck task', { timeout: 60_000 }, () => {
  const question = async () =>
    (await bed.store.records({ noun: 'question', projectId, isOpen: true })).find(
      ({ effect }) => effect.kind === 'stuck',
    );
  async function answer(text: string): Promise<void> {
    const { id: questionId } = (await question())!;
    const about = { projectId, taskId: 'task_1', questionId, by: ada, source: 'user' as const };
    await bed.must({ type: 'question.answer', ...about, text });
  }

  it('names its worker, and is over when it shows a sign of life', async () => {
    let say: (text: string) => void = () => undefined;
    await open(() => ({
      agentFor: () => ({
        label: 'slow',
        start(_request, sink) {
          say = (text) => sink.output(text);
          say('reading the files\n');
          return silentAgent.start(_request, sink);
        },
      }),
      workers: 1,
    }));
    await bed.add(1);
    await bed.start();
    await bed.pass(12 * MINUTE);
    expect(await bed.alerts()).toContain('warning stuck #1');
    expect(await textOf('stuck')).toContain('tidemill workers restart agent-1');
    expect(await textOf('stuck')).toContain('Last output: "reading the files".');
    say('still here\n');
    await bed.pass(2 * MINUTE);
    expect(await isOpen('stuck')).toBe(false);
  });

  it('is not interrupted at 30 minutes after the answer "Wait", and asked about again half an hour later', async () => {
    await open(() => ({ agentFor: () => silentAgent, workers: 1 }));
    await bed.add(1);
    await bed.start();
    await bed.pass(22 * MINUTE);
    await answer('Wait');
    await bed.pass(2 * MINUTE);
    expect(await isOpen('stuck')).toBe(false);
    await bed.pass(26 * MINUTE);
    expect((await bed.store.runs('task_1')).map(({ status }) => status)).toEqual(['running']);
    expect(await question()).toBeUndefined();
    await bed.pass(4 * MINUTE);
    expect(await question()).toBeDefined();
    expect((await bed.store.runs('task_1')).map(({ status }) => status)).toEqual(['running']);
    await bed.pass(12 * MINUTE);
    expect((await bed.store.runs('task_1'))[0]?.outcome).toBe('interrupted');
  });

  it('is not interrupted after the answer "Wait", also over a restart of the daemon', async () => {
    await open(() => ({ agentFor: () => silentAgent, workers: 1, isOwnerDead: () => true }));
    await bed.add(1);
    await bed.start();
    await bed.pass(22 * MINUTE);
    await answer('Wait');
    await bed.stop();
    await bed.start();
    await bed.pass(25 * MINUTE);
    expect(await question()).toBeUndefined();
    expect(await isOpen('stuck')).toBe(false);
  });

  it('is not healthy merely because the daemon beats', async () => {
    await open(() => ({ agentFor: () => silentAgent, workers: 1 }));
    await bed.add(1);
    await bed.start();
    const health = async () => {
      const worker = (await bed.store.workers(projectId)).find(({ name }) => name === 'agent-1')!;
      return workerHealth(worker, bed.clock.now());
    };
    await bed.pass(9 * MINUTE);
    expect(await health()).toBe('healthy');
    await bed.pass(3 * MINUTE);
    expect(await health()).toBe('degraded');
    await bed.pass(9 * MINUTE);
    expect(await health()).toBe('unresponsive');
  });
});
