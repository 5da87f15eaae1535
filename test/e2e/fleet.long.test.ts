import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emergencyStop, FleetBed, NEEDS_PROC } from '../support/fleet-bed.ts';

const MINUTE = 60_000;

describe('the fleet, in its further operations', { timeout: 3 * MINUTE }, () => {
  let bed: FleetBed;
  beforeEach(({ skip }) => {
    skip(process.platform !== 'linux', NEEDS_PROC);
    bed = new FleetBed();
  });
  afterEach(() => bed?.close());

  test('an emergency stop lists what it affects, kills ten agents that ignore signals, and lasts across a restart until resume', {
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
