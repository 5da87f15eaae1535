import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerView } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FleetBed, NEEDS_PROC } from '../support/fleet-bed.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

/** One daemon for all of them, in this order. */
describe('the fleet', { timeout: 3 * MINUTE }, () => {
  beforeEach(({ skip }) => skip(process.platform !== 'linux', NEEDS_PROC));
  let bed: FleetBed;
  beforeAll(async () => {
    bed = new FleetBed();
    await bed.machine.up(bed.root);
  });
  afterAll(() => bed.close());

  test('a pause waits for the checkpoint, nothing new is taken, resume continues', async () => {
    for (const title of ['One', 'Two']) await bed.add(title);
    await bed.begun(1);
    await bed.run('pause');
    const paused = await bed.workerNamed('agent-1');
    expect(paused).toMatchObject({ status: 'paused', desired: 'paused', desiredBy: 'ada', task: { number: 1 } });
    await until(() => bed.session('agent-1').status === 'paused');
    expect(bed.session('agent-1')).toMatchObject({
      currentProjectNumber: 1,
      branchName: expect.stringContaining('task/1'),
    });
    bed.openDoors(1, 2, 3);
    await until(async () => (await bed.workers()).every(({ task }) => task === null));
    // Any event now would wake a worker that may work.
    await bed.add('Three');
    expect((await bed.status()).tasks).toMatchObject({ open: 2 });
    expect((await bed.run('pause')).code).toBe(0);
    await bed.run('resume');
    await bed.idle();
    expect((await bed.status()).tasks).toEqual({ done: 3 });
    const log = await bed.events('worker.steered', 'lease.claimed');
    const steered = (desired: string) =>
      log.find(
        ({ body }) => body.type === 'worker.steered' && body.desired === desired && body.workerId.endsWith('/agent-1'),
      )!;
    const between = log.filter(
      ({ seq, body }) => body.type === 'lease.claimed' && seq > steered('paused').seq && seq < steered('running').seq,
    );
    expect(between).toEqual([]);
    expect((await bed.task(1)).runs).toHaveLength(1);
    expect(await bed.workerNamed('agent-1')).toMatchObject({ status: 'idle', tasksCompleted: 3, errors: 0 });
  });

  test('pause --now freezes the processes, and resume continues the same run', async () => {
    const number = await bed.add('One to freeze');
    await bed.begun(number);
    const { stdout } = await bed.run('pause', '--now');
    expect(stdout).toContain(`Frozen: agent-1 (#${number})`);
    await until(async () => {
      const all = await bed.agents();
      return all.length > 0 && all.every(({ state }) => state === 'T');
    });
    const before = bed.tick(number);
    bed.openDoors(number);
    expect(await bed.workerNamed('agent-1')).toMatchObject({ status: 'paused', desired: 'frozen', task: { number } });
    expect((await bed.run('workers')).stdout).toMatch(/agent-1 +frozen/);
    expect(bed.tick(number)).toBe(before);
    expect(await bed.agents()).not.toEqual([]);
    await bed.run('resume');
    await bed.idle();
    expect(await bed.task(number)).toMatchObject({
      task: { stage: 'done' },
      runs: [{ outcome: 'pr_ready', failure: null }],
    });
  });

  test('stop ends an agent that ignores signals, keeps its work and returns the task; start continues', async () => {
    const number = await bed.add('One, stubborn');
    await bed.begun(number);
    const { task } = await bed.task(number);
    expect((await bed.run('workers', 'stop', 'agent-1')).code).toBe(0);
    await bed.machine.event('lease.released', (body) => body.subjectId === task.id);
    expect(await bed.agents()).toEqual([]);
    expect(await bed.workerNamed('agent-1')).toMatchObject({ status: 'stopped', task: null, errors: 0 });
    await until(() => bed.session('agent-1').status === 'stopped');
    expect(await bed.task(number)).toMatchObject({
      task: { stage: 'implement', lease: null, counters: { failures: {} } },
      runs: [{ outcome: 'interrupted', summary: 'stopped by ada' }],
    });
    const kept = await bed.events('snapshot.taken');
    expect(kept.filter(({ body }) => 'taskId' in body && body.taskId === task.id)).toHaveLength(1);
    for (const verb of ['stop', 'pause', 'pause', 'stop'])
      expect((await bed.run('workers', verb, 'agent-1')).code).toBe(0);
    bed.openDoors(number);
    expect((await bed.run('workers', 'start', 'agent-1')).code).toBe(0);
    await bed.idle();
    expect((await bed.task(number)).task.stage).toBe('done');
  });

  test('a crash is shown with its error; restart clears it, reset clears the figures', async () => {
    const number = await bed.add('One that dies');
    const { id } = (await bed.task(number)).task;
    // It is retried for a while; after that, the shown state stays.
    await bed.machine.event('task.blocked', (body) => body.taskId === id);
    await until(async () => (await bed.workerNamed('agent-1')).status === 'crashed');
    const { errors, lastError } = await bed.workerNamed('agent-1');
    expect(errors).toBeGreaterThan(0);
    expect(lastError).toContain('out of steam');
    await until(() => bed.session('agent-1').status === 'crashed');
    expect(bed.session('agent-1')).toMatchObject({
      errorCount: errors,
      lastError: expect.stringContaining('out of steam'),
    });
    const again = await bed.json<WorkerView[]>('workers', 'restart', 'agent-1');
    expect(again).toMatchObject([{ name: 'agent-1', status: 'idle', errors }]);
    const reset = await bed.json<WorkerView[]>('workers', 'reset', 'agent-1');
    expect(reset).toMatchObject([{ status: 'idle', errors: 0, lastError: null, tasksCompleted: 0 }]);
    await until(() => bed.session('agent-1').errorCount === 0);
    const audit = (await bed.events('emergency.executed')).map(({ body }) => body);
    expect(audit).toMatchObject([
      { operation: 'restart_worker', by: { name: 'ada' }, workers: ['agent-1'] },
      { operation: 'reset_worker', by: { name: 'ada' }, workers: ['agent-1'] },
    ]);
    await bed.run('task', 'cancel', String(number));
  });

  test('restart asks before it ends an agent at work', async () => {
    const number = await bed.add('One to restart');
    await bed.begun(number);
    const asked = await bed.run('workers', 'restart', 'agent-1');
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain(`This stops agent-1, working on #${number}.`);
    bed.openDoors(number);
    expect((await bed.run('workers', 'restart', 'agent-1', '--yes')).code).toBe(0);
    await bed.idle();
    expect((await bed.task(number)).task.stage).toBe('done');
  });

  test('workers are added and removed at run time, with their session files', async () => {
    // Without files that are still being written; they have another name until they are complete.
    const files = () =>
      existsSync(join(bed.root, '.claude-sessions'))
        ? readdirSync(join(bed.root, '.claude-sessions')).filter((name) => name.endsWith('.session'))
        : [];
    const named = (...names: string[]) => names.map((name) => `${name}.session`);
    expect(await bed.json<WorkerView>('workers', 'add')).toMatchObject({ name: 'agent-2', status: 'idle' });
    await until(() => files().length === 3);
    expect(files().sort()).toEqual(named('agent-1', 'agent-2', 'review-agent'));
    await bed.run('workers', 'remove', 'agent-1');
    await until(() => !files().includes('agent-1.session'));
    expect((await bed.run('workers', 'remove', 'agent-2')).stderr).toContain('agent-2 is the last builder');
    expect((await bed.run('workers', 'remove', 'merger')).stderr).toContain('merger cannot be removed');
    expect(await bed.json<WorkerView>('workers', 'add')).toMatchObject({ name: 'agent-1', status: 'idle' });
    const api = bed.machine.api();
    const project = (await api.projects({ root: bed.root }))[0]!.id;
    for (let count = 3; count <= 10; count += 1) await api.addWorker({ project });
    await expect(api.addWorker({ project })).rejects.toMatchObject({ code: 'bad_input' });
    await until(() => files().length === 11);
    for (let count = 4; count <= 10; count += 1) await api.removeWorker({ project, worker: `agent-${count}` });
    await until(() => files().length === 4);
    expect(bed.repository.git('status', '--porcelain', '-uall').split('\n')).toEqual(['?? .tidemill/config.yaml']);
  });

  test('a task is taken from one worker and given to another', async () => {
    const number = await bed.add('One to hand over');
    await bed.begun(number);
    const holder = (await bed.workers()).find(({ task }) => task !== null)!.name;
    const other = holder === 'agent-1' ? 'agent-2' : 'agent-1';
    const hand = (to: string) => bed.run('workers', 'reassign', String(number), to);
    expect((await hand('agent-9')).stderr).toContain('no worker "agent-9"');
    expect((await hand('review-agent')).stderr).toContain('is a reviewer');
    await hand(other);
    await until(async () => (await bed.workerNamed(other)).task?.number === number);
    bed.openDoors(number);
    await bed.idle();
    const { task, runs } = await bed.task(number);
    expect(task.stage).toBe('done');
    expect(runs.map(({ workerId, outcome }) => [workerId.split('/').at(-1), outcome])).toEqual([
      [holder, 'interrupted'],
      [other, 'pr_ready'],
    ]);
  });
});
