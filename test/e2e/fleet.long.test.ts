import type { WorkerView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emergencyStop, FleetBed, NEEDS_PROC } from '../support/fleet-bed.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

describe('the fleet, in its further operations', { timeout: 3 * MINUTE }, () => {
  let bed: FleetBed;
  beforeEach(({ skip }) => {
    skip(process.platform !== 'linux', NEEDS_PROC);
    bed = new FleetBed();
  });
  afterEach(() => bed?.close());

  test('a crash is shown with its error; restart clears it, reset clears the figures', async () => {
    await bed.add('One that dies');
    await bed.machine.up(bed.root);
    // It is retried for a while; after that, the shown state stays.
    await bed.machine.event('task.blocked');
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
  });

  test('restart asks before it ends an agent at work', async () => {
    await bed.add('One');
    await bed.machine.up(bed.root);
    await bed.begun(1);
    const asked = await bed.run('workers', 'restart', 'agent-1');
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain('This stops agent-1, working on #1.');
    bed.openDoors(1);
    expect((await bed.run('workers', 'restart', 'agent-1', '--yes')).code).toBe(0);
    await bed.idle();
    expect((await bed.task(1)).task.stage).toBe('done');
  });

  test('a task is taken from one worker and given to another', async () => {
    await bed.add('One');
    await bed.machine.up(bed.root, '--workers', '2');
    await bed.begun(1);
    const holder = (await bed.workers()).find(({ task }) => task !== null)!.name;
    const other = holder === 'agent-1' ? 'agent-2' : 'agent-1';
    expect((await bed.run('workers', 'reassign', '1', 'agent-9')).stderr).toContain('no worker "agent-9"');
    expect((await bed.run('workers', 'reassign', '1', 'review-agent')).stderr).toContain('is a reviewer');
    await bed.run('workers', 'reassign', '1', other);
    await until(async () => (await bed.workerNamed(other)).task?.number === 1);
    bed.openDoors(1);
    await bed.idle();
    const { task, runs } = await bed.task(1);
    expect(task.stage).toBe('done');
    expect(runs.map(({ workerId, outcome }) => [workerId.split('/').at(-1), outcome])).toEqual([
      [holder, 'interrupted'],
      [other, 'pr_ready'],
    ]);
  });

  test('an emergency stop kills ten agents that ignore signals, and lasts across a restart until resume', {
    timeout: 5 * MINUTE,
  }, async () => {
    await bed.machine.up(bed.root, '--workers', '10');
    await emergencyStop(bed, 10);
  });

  test('stop --now ends a daemon that does not respond, with all its child processes, and says so', async () => {
    await bed.add('One, stubborn');
    const daemon = await bed.machine.up(bed.root);
    await bed.begun(1);
    daemon.child.kill('SIGSTOP');
    const { code, stdout } = await bed.run('stop', '--now');
    expect(stdout).toContain(`The daemon (pid ${daemon.pid}) did not respond and was killed.`);
    expect(code).toBe(0);
    await daemon.ended;
    expect(await bed.agents()).toEqual([]);
    expect((await bed.run('stop', '--now')).stderr).toContain('no daemon responds');
    bed.openDoors(1);
    expect((await bed.run('up', '--until-idle')).code).toBe(0);
    expect((await bed.task(1)).task.stage).toBe('done');
  });

  test('a daemon with busy and frozen agents stops, and leaves nothing behind', async () => {
    for (const title of ['One', 'Two']) await bed.add(title);
    const daemon = await bed.machine.up(bed.root, '--workers', '2');
    await bed.begun(1, 2);
    await bed.run('workers', 'pause', 'agent-1', '--now');
    await bed.run('stop');
    await daemon.ended;
    expect(await bed.agents()).toEqual([]);
    expect((await bed.workers()).map(({ task }) => task)).toEqual(Array(5).fill(null));
    expect(await bed.workerNamed('agent-1')).toMatchObject({ desired: 'frozen' });
  });

  test('purge asks, names the number, and cancels tasks that were not started', async () => {
    for (const title of ['One', 'Two', 'Three']) await bed.add(title);
    const asked = await bed.run('purge');
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain('This cancels 3 tasks that have not started.');
    expect(await bed.json('purge', '--yes')).toEqual({ tasks: [1, 2, 3] });
    expect((await bed.status()).tasks).toEqual({ cancelled: 3 });
    expect((await bed.run('purge')).stdout).toContain('The queue was empty.');
    expect((await bed.events('emergency.executed')).map(({ body }) => body)).toMatchObject([
      { operation: 'purge_queue', by: { name: 'ada' }, tasks: [1, 2, 3] },
      { operation: 'purge_queue', tasks: [] },
    ]);
  });
});
