import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MetricsView, ProjectStatus, TaskDetail } from '@tidemill/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { BudgetBed, noon } from '../support/budget-bed.ts';

describe('a budget in the real program', { timeout: 120_000 }, () => {
  const bed = new BudgetBed();
  const { machine, repository, root } = bed;
  afterAll(() => bed.close());

  it('alerts at 90 %, stops at 100 %, survives a restart, continues when raised', async () => {
    bed.write(bed.config(`budget: { dailyUsd: 10, monthlyUsd: 100, timeZone: ${noon} }`));
    const first = await machine.up(root);
    const one = await bed.add('The dear one');
    expect((await bed.alerted('budget_90')).body).toMatchObject({ severity: 'error' });
    const two = await bed.add('The one that comes too late');
    expect(await bed.ownAccount()).toMatchObject({
      daily: { spentUsd: 9.1 },
      stopped: expect.stringContaining('90 %'),
    });

    bed.give('more');
    const stop = await machine.event('emergency.executed');
    expect(stop.body).toMatchObject({ by: { kind: 'engine', name: 'budget' }, workers: ['agent-1'], tasks: [1] });
    expect((await bed.alerted('budget_100')).body).toMatchObject({ severity: 'critical' });
    await machine.event('task.waiting', (body) => body.taskId === one.id);
    const shown = await machine.json<TaskDetail>(['task', 'show', '1'], root);
    expect(shown.task).toMatchObject({ stage: 'implement', lease: null, waiting: expect.stringContaining('budget') });
    expect(repository.git('show', `${shown.task.branch}:work-1.txt`)).toBe('half');
    expect(await bed.claimsOf(two.id)).toBe(0);
    await machine.run(['stop'], root);
    await first.ended;

    const second = await machine.up(root);
    const account = await bed.ownAccount();
    expect(account.daily.spentUsd).toBeCloseTo(10.6);
    expect(account.daily.reservedUsd).toBe(0);
    expect(account.stopped).toContain('used up');
    expect(await bed.claimsOf(one.id)).toBe(1);
    expect(await bed.claimsOf(two.id)).toBe(0);

    // From here on the agents do not say what a request costs: it counts half a dollar.
    bed.give('cheap');
    bed.write(bed.config(`budget: { dailyUsd: 40, monthlyUsd: 100, timeZone: ${noon} }`));
    for (const { id } of [one, two])
      await machine.event('task.moved', (body) => body.to === 'done' && body.taskId === id);
    expect((await bed.ownAccount()).daily.spentUsd).toBeCloseTo(11.6);
    const metrics = await machine.json<MetricsView>(['metrics', '--period', '7d'], root);
    expect(metrics).toMatchObject({ isStale: false, total: { completed: 2 } });
    expect(metrics.total.costUsd).toBeCloseTo(11.6);
    expect(repository.git('show', 'main:work-2.txt')).toBe('whole');
    await machine.run(['stop'], root);
    await second.ended;
  });
});

/** One daemon for both, in this order. */
describe('settings of a running program', { timeout: 120_000 }, () => {
  const bed = new BudgetBed();
  const { machine, root } = bed;
  afterAll(() => bed.close());
  const builders = (status: ProjectStatus) => status.workers.filter(({ role }) => role === 'builder').length;

  it('impossible values are replaced, and reported on the terminal, in the status and as an alert', async () => {
    bed.write(
      bed.config('budget: { dailyUsd: -5, monthlyUsd: 0, timeZone: Mars/Base }').replace('workers: 2', 'workers: 11'),
    );
    const daemon = await machine.up(root);
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(builders(status)).toBe(10);
    for (const warning of ['workers is 11', 'budget.dailyUsd is -5', 'budget.monthlyUsd is 0', 'Mars/Base']) {
      expect(status.warnings.join('\n')).toContain(warning);
      expect(daemon.stderr()).toContain(warning);
    }
    expect((await bed.alerted('config_adjusted')).body).toMatchObject({ severity: 'warning' });
    expect((await bed.ownAccount()).limits).toEqual({ dailyUsd: 50, monthlyUsd: 500 });
    expect(readFileSync(join(machine.data, 'daemon.log'), 'utf8')).toContain('workers is 11');
  });

  it('a changed file takes effect without a restart; an invalid one is reported and changes nothing', async () => {
    bed.write(bed.config(''));
    const { seq } = await machine.event('worker.removed', (body) => body.workerId.endsWith('/agent-3'));
    bed.write(bed.config('budget: { dailyUsd: 7, monthlyUsd: 70 }').replace('workers: 2', 'workers: 4'));
    await machine.event('worker.registered', (body) => body.name === 'agent-4', seq);
    expect((await bed.ownAccount()).limits).toEqual({ dailyUsd: 7, monthlyUsd: 70 });
    bed.write('workers: [');
    await bed.alerted('config_invalid');
    const status = await machine.json<ProjectStatus>(['status'], root);
    expect(builders(status)).toBe(4);
    expect(status.warnings.join()).toContain('The previous settings stay in effect');
    bed.write(bed.config('').replace('workers: 2', 'workers: 1'));
    await machine.event('worker.removed', (body) => body.workerId.endsWith('/agent-4'), seq);
    await machine.event('worker.removed', (body) => body.workerId.endsWith('/agent-2'), seq);
    await expect
      .poll(async () => (await machine.json<ProjectStatus>(['status'], root)).warnings.join(), { timeout: 60_000 })
      .not.toContain('The previous settings stay in effect');
  });
});
