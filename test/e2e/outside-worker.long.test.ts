import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@tidemill/contract/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OutsideBed, READY } from '../support/outside-bed.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
let bed: OutsideBed;
beforeEach(async () => {
  bed = new OutsideBed();
  await bed.open();
}, MINUTE);
afterEach(() => bed.close());

describe('workers outside the daemon', () => {
  test('two at once get two tasks, one that claims five times at once gets one', { timeout: 2 * MINUTE }, async () => {
    for (const title of ['One', 'Two', 'Three']) await bed.api.addTask({ project: bed.project, title });
    const names = ['alpha', 'alpha', 'beta', 'alpha', 'beta', 'alpha', 'alpha'];
    const claims = await Promise.all(names.map(bed.claimed));
    const of = (name: string) => new Set(claims.flatMap((each, i) => (names[i] === name ? [each.runId] : [])));
    expect([of('alpha').size, of('beta').size]).toEqual([1, 1]);
    expect(new Set(claims.map(({ number }) => number))).toEqual(new Set([1, 2]));
    expect(await bed.events('run.started')).toHaveLength(2);
    // They do not count towards the daemon's own limits.
    for (let number = 2; number <= 10; number += 1) await bed.api.addWorker({ project: bed.project });
    await expect(bed.api.addWorker({ project: bed.project })).rejects.toMatchObject({ code: 'bad_input' });
    expect(await bed.api.removeWorker({ project: bed.project, worker: 'beta' })).toEqual({ removed: 'beta' });
    await bed.machine.event('lease.released', (body) => body.workerId.endsWith('/beta'));
  });

  test('is steered like any other: paused it gets no more tasks, stopped it loses its task, its work is kept', {
    timeout: 3 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await bed.api.addTask({ project: bed.project, title });
    const work = await bed.claimed();
    bed.write(work, 'one.txt');
    await bed.api.steerWorkers({ project: bed.project, worker: 'alpha', operation: 'pause' });
    // It may finish its current task.
    expect(await bed.claim()).toMatchObject({ number: 1, fence: work.fence });
    await bed.api.releaseClaim({ project: bed.project, task: 1, fence: work.fence, why: 'no time' });
    await expect(bed.claim()).rejects.toMatchObject({ code: 'worker_paused' });
    expect((await bed.taskOf(1)).runs).toMatchObject([{ outcome: 'interrupted', summary: 'no time' }]);
    expect(await bed.api.snapshots({ project: bed.project })).toHaveLength(1);
    await expect(bed.api.releaseClaim({ project: bed.project, task: 1, fence: work.fence })).rejects.toMatchObject({
      code: 'stale_lease',
    });

    await bed.api.steerWorkers({ project: bed.project, worker: 'alpha', operation: 'resume' });
    const again = await bed.claimed();
    expect(again).toMatchObject({ number: 1, worktree: work.worktree, fence: work.fence + 1 });
    expect(existsSync(join(again.worktree, 'one.txt'))).toBe(true);
    await bed.api.steerWorkers({ project: bed.project, worker: 'alpha', operation: 'stop', by: 'ada' });
    await bed.machine.event('lease.released', (body) => body.token === again.fence);
    const stale = { code: 'stale_lease', hint: expect.stringContaining('kept') };
    await expect(bed.api.beatClaim({ project: bed.project, task: 1, fence: again.fence })).rejects.toMatchObject(stale);
    await expect(bed.finish(again, READY)).rejects.toMatchObject(stale);

    await bed.api.steerWorkers({ project: bed.project, worker: 'alpha', operation: 'start' });
    const third = await bed.claimed();
    expect(await bed.api.emergencyStop({ by: 'ada', reason: 'smoke' })).toEqual({
      workers: ['alpha'],
      tasks: [third.number],
      deliveries: [],
    });
    expect(await bed.api.claims({ project: bed.project })).toEqual([]);
    expect(await bed.viewOf('alpha')).toMatchObject({ status: 'stopped', task: null });
    for (const name of ['alpha', 'newcomer'])
      await expect(bed.claim(name)).rejects.toMatchObject({ code: 'worker_paused' });
    expect(await bed.viewOf('newcomer')).toBeUndefined();
  });

  test('is checked: an empty change is no_changes, and an investigation changes nothing', {
    timeout: 3 * MINUTE,
  }, async () => {
    await bed.api.addTask({ project: bed.project, title: 'One' });
    const lazy = await bed.claimed();
    await bed.finish(lazy, READY);
    expect((await bed.taskOf(1)).task).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_changes' } });

    await bed.api.addTask({ project: bed.project, title: 'Two', kind: 'bug', pipeline: 'bug', accept: ['it turns'] });
    const looking = await bed.claimed();
    expect(looking).toMatchObject({ number: 2, stage: 'investigate', mode: 'investigate' });
    bed.write(looking, 'stray.txt');
    await expect(bed.finish(looking, READY)).rejects.toMatchObject({ code: 'bad_input' });
    const found = { outcome: 'investigation_complete', investigationSummary: 'a loose screw' } as const;
    expect(await bed.finish(looking, found)).toMatchObject({ stage: 'implement' });
    expect(existsSync(join(looking.worktree, 'stray.txt'))).toBe(false);
    expect(await bed.events('snapshot.taken')).toHaveLength(1);
    const building = await bed.claimed();
    expect(building).toMatchObject({ number: 2, mode: 'implement' });
    expect(building.prompt).toContain('a loose screw');
    expect(await bed.finish(building, { outcome: 'failed', summary: 'no screwdriver' })).toMatchObject({
      stage: 'implement',
    });
    expect((await bed.taskOf(2)).runs.at(-1)).toMatchObject({ outcome: 'failed', failure: 'agent_reported' });
  });

  test('a worker’s token is valid only for its own claims, even with a known fence; an admin’s for all', {
    timeout: 2 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await bed.api.addTask({ project: bed.project, title });
    const { url } = await bed.api.health({});
    const tokenOf = async (name: string, role: 'worker' | 'admin') =>
      createClient({ url, token: (await bed.api.addToken({ name, role })).token });
    const [mine, other, boss] = [
      await tokenOf('mine', 'worker'),
      await tokenOf('other', 'worker'),
      await tokenOf('boss', 'admin'),
    ];
    const work = (await mine.claimWork({ project: bed.project, worker: 'alpha' }))!;
    const about = { project: bed.project, task: work.number, fence: work.fence };
    const refused = { code: 'forbidden', message: expect.stringMatching(/another token|not claimed with the token/) };
    await expect(other.claimWork({ project: bed.project, worker: 'alpha' })).rejects.toMatchObject(refused);
    await expect(other.beatClaim(about)).rejects.toMatchObject(refused);
    await expect(other.releaseClaim(about)).rejects.toMatchObject(refused);
    await expect(other.finishClaim({ ...about, result: { ...READY } })).rejects.toMatchObject(refused);
    // A claim under the daemon's own token also does not belong to everybody who knows its fence.
    const own = await bed.claimed('beta');
    await expect(other.releaseClaim({ ...about, task: own.number, fence: own.fence })).rejects.toMatchObject(refused);
    expect(await mine.claimWork({ project: bed.project, worker: 'alpha' })).toMatchObject({ runId: work.runId });
    await mine.beatClaim(about);
    expect(await boss.releaseClaim(about)).toMatchObject({ number: work.number, worker: null });
  });

  test('bad input is refused with a hint', { timeout: 2 * MINUTE }, async () => {
    const other = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    try {
      for (const worker of ['', 'agent-1', 'agent-77', 'all', 'merger', '../etc', 'Ada', 'x'.repeat(51), 'wörker'])
        await expect(bed.api.claimWork({ project: bed.project, worker })).rejects.toMatchObject({ code: 'bad_input' });
      await expect(bed.api.claimWork({ project: bed.project, worker: 7 as never })).rejects.toMatchObject({
        code: 'bad_input',
      });
      await expect(bed.api.claimWork({ project: 'nowhere', worker: 'alpha' })).rejects.toMatchObject({
        code: 'no_project',
      });
      const idle = (await bed.api.registerProject({ root: other.root })).id;
      await expect(bed.api.claimWork({ project: idle, worker: 'alpha' })).rejects.toMatchObject({
        code: 'daemon_unreachable',
        hint: expect.stringContaining('tidemill up'),
      });
      for (const task of ['99', '../../etc/passwd', 'task_nobody'])
        await expect(bed.api.beatClaim({ project: bed.project, task, fence: 1 })).rejects.toMatchObject({
          code: 'not_found',
        });
      await bed.api.addTask({ project: bed.project, title: 'One' });
      await expect(bed.api.beatClaim({ project: bed.project, task: 1, fence: 0 })).rejects.toMatchObject({
        code: 'stale_lease',
      });
      const work = await bed.claimed();
      for (const more of [{ percent: 101 }, { text: 'x'.repeat(301) }, { fence: -1 }, { fence: 0.5 }])
        await expect(
          bed.api.beatClaim({ project: bed.project, task: 1, fence: work.fence, ...more }),
        ).rejects.toMatchObject({
          code: 'bad_input',
        });
    } finally {
      other.remove();
    }
  });

  test('a correctly guessed fence token cannot hand in work of the daemon’s own agents', {
    timeout: 2 * MINUTE,
  }, async () => {
    await bed.api.steerWorkers({ project: bed.project, worker: 'agent-1', operation: 'resume' });
    await bed.api.addTask({ project: bed.project, title: 'One' });
    await bed.machine.event('run.started');
    const [leased] = await bed.api.claims({ project: bed.project });
    expect(leased).toMatchObject({ worker: 'agent-1', isOutside: false });
    for (const call of [bed.api.beatClaim, bed.api.releaseClaim])
      await expect(call({ project: bed.project, task: 1, fence: 1 })).rejects.toMatchObject({ code: 'stale_lease' });
    const result = { ...READY };
    await expect(bed.api.finishClaim({ project: bed.project, task: 1, fence: 1, result })).rejects.toMatchObject({
      code: 'stale_lease',
    });
    expect(await bed.api.claims({ project: bed.project })).toMatchObject([{ worker: 'agent-1' }]);
  });
});
