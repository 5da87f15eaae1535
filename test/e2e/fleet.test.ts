import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerView } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { emergencyStop, FleetBed, NEEDS_PROC } from '../support/fleet-bed.ts';
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

  test('an emergency stop lists what it affects, kills agents that ignore signals, and lasts across a restart until resume', async () => {
    await emergencyStop(bed, 3);
  });
});
