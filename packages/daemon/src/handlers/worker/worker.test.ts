import { type Api, type LoggedEvent, personActor } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { createIds, systemClock } from '../../clock.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import type { Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { workerViews } from './worker.ts';

const HOUR = 3_600_000;
const ADA = personActor('ada');

let bed: OfflineBed;
let api: Api;
let project: string;
/** The same store, written by an earlier daemon. */
let before: Store;
let agoMs: number;

beforeEach(async () => {
  bed = await OfflineBed.open();
  ({ api, project } = bed);
  agoMs = 0;
  const clock = { now: () => Date.now() - agoMs, sleep: systemClock.sleep };
  before = await openStore({ url: openDataFolder(bed.env).storeFile, clock, ids: createIds(clock) });
  for (const [name, role] of [
    ['agent-1', 'builder'],
    ['agent-2', 'builder'],
    ['merger', 'merger'],
  ] as const)
    await must({ type: 'worker.register', projectId: project, workerId: `${project}/${name}`, name, role });
});
afterEach(async () => {
  await before.close();
  await bed.close();
});

const must = async (command: Command) => {
  const reply = await before.execute(command);
  if (!reply.ok) throw new Error(reply.refusal.message);
};
const claim = (name: string) => {
  const workerId = `${project}/${name}`;
  return must({ type: 'work.claim', projectId: project, workerId, role: 'builder', owner: 'gone', window: 8 });
};
async function audits(): Promise<LoggedEvent['body'][]> {
  const found: LoggedEvent['body'][] = [];
  for await (const { body } of api.events({ project, types: ['emergency.executed'] })) found.push(body);
  return found;
}

describe('without a daemon', () => {
  test('desired states are recorded for the next start, for one worker or all, and can be repeated', async () => {
    for (let time = 0; time < 2; time += 1) {
      const views = await api.steerWorkers({ project, worker: 'all', operation: 'pause', by: 'ada' });
      expect(views.map(({ name, status }) => [name, status])).toEqual([
        ['agent-1', 'paused'],
        ['agent-2', 'paused'],
        ['merger', 'paused'],
      ]);
    }
    await api.steerWorkers({ project, worker: 'agent-2', operation: 'stop' });
    await api.steerWorkers({ project, worker: 'agent-2', operation: 'stop' });
    expect((await api.workers({ project })).map(({ desired }) => desired)).toEqual(['paused', 'stopped', 'paused']);
    const stray = api.steerWorkers({ project, worker: 'agent-7', operation: 'stop' });
    await expect(stray).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('agent-1, agent-2') });
  });

  test('workers cannot be added or removed', async () => {
    await expect(api.addWorker({ project })).rejects.toMatchObject({ code: 'daemon_unreachable' });
    await expect(api.removeWorker({ project, worker: 'agent-1' })).rejects.toMatchObject({
      code: 'daemon_unreachable',
    });
  });

  test('leases that expired or are older than 8 hours are released and recorded; newer ones stay', async () => {
    await api.addTask({ project, title: 'One' });
    await api.addTask({ project, title: 'Two' });
    agoMs = 9 * HOUR;
    await claim('agent-1');
    agoMs = 0;
    await claim('agent-2');
    expect(await api.recoverStuck({ project, by: 'ada' })).toEqual({ tasks: [1] });
    const tasks = await api.tasks({ project });
    expect(tasks.map(({ number, worker, stage }) => [number, worker, stage])).toEqual([
      [1, null, 'implement'],
      [2, 'agent-2', 'implement'],
    ]);
    expect(await api.recoverStuck({ project, by: 'ada' })).toEqual({ tasks: [] });
    expect((await audits())[0]).toMatchObject({
      operation: 'recover_stuck',
      by: { kind: 'person', name: 'ada' },
      workers: ['agent-1'],
      tasks: [1],
    });
  });

  test('an emergency stop names the affected workers, releases their tasks and stops all', async () => {
    await api.addTask({ project, title: 'One' });
    await claim('agent-1');
    expect(await api.emergencyImpact({})).toEqual({
      busy: [{ project: 'the mill', worker: 'agent-1', number: 1, title: 'One' }],
      workers: 3,
      deliveries: [],
    });
    expect(await api.emergencyStop({ by: 'ada', reason: 'smoke' })).toEqual({
      workers: ['agent-1'],
      tasks: [1],
      deliveries: [],
    });
    expect((await api.workers({ project })).every(({ desired, task }) => desired === 'stopped' && task === null)).toBe(
      true,
    );
    expect(await audits()).toMatchObject([
      { operation: 'emergency_stop', by: { name: 'ada' }, reason: 'smoke', tasks: [1] },
    ]);
    await api.steerWorkers({ project, worker: 'all', operation: 'resume' });
    expect((await api.workers({ project })).every(({ desired }) => desired === 'running')).toBe(true);
  });

  test('an emergency stop names and stops deliveries that are on their way; what waits for approval, or rolls back, stays', async () => {
    const environment = { when: 'manual', after: null, hasHealth: false, hasRollback: true, repeatable: true } as const;
    const names = ['staging', 'preview', 'canary', 'production'];
    const delivery = names.map((name) => ({
      ...environment,
      name,
      approve: name === 'production' ? ('requires_approval' as const) : ('automated' as const),
    }));
    const { rules } = (await before.project(project))!;
    await must({ type: 'project.configure', projectId: project, rules: { ...rules, delivery } });
    const of = (name: string) => ({ projectId: project, deliveryId: `delivery_${name}`, environment: name });
    for (const name of names)
      await must({
        ...{ type: 'delivery.request', ...of(name), commit: 'c0ffee', tree: 'tree', tasks: [], taskCount: 0 },
        ...{ cause: 'manual', specId: null, override: 'a test', isApproved: false, replaces: [], by: ADA },
      });
    const owner = 'gone';
    for (const name of ['staging', 'canary']) await must({ type: 'delivery.begin', ...of(name), owner });
    await must({ type: 'delivery.move', ...of('canary'), owner, to: 'rolling_back', why: 'it failed' });
    expect((await api.emergencyImpact({})).deliveries).toEqual([
      { project: 'the mill', ref: 'D1', environment: 'staging' },
      { project: 'the mill', ref: 'D2', environment: 'preview' },
    ]);
    expect((await api.emergencyStop({ by: 'ada', reason: 'smoke' })).deliveries).toEqual([
      'D1 to staging',
      'D2 to preview',
    ]);
    const all = await api.deliveries({ project });
    expect(all.map(({ environment: name, status, stop }) => [name, status, stop?.by.name])).toEqual([
      ['production', 'waiting', undefined],
      ['canary', 'rolling_back', undefined],
      ['preview', 'cancelled', undefined],
      ['staging', 'running', 'ada'],
    ]);
  });

  test('a summary of ten workers with full histories tells the health of each with three reads of the store', async () => {
    for (let number = 3; number <= 10; number += 1) {
      const name = `agent-${number}`;
      await must({
        type: 'worker.register',
        projectId: project,
        workerId: `${project}/${name}`,
        name,
        role: 'builder',
      });
    }
    const silentForMs = (number: number) => (number === 9 ? 90_000 : number === 10 ? 150_000 : 0);
    for (let number = 1; number <= 10; number += 1)
      for (let beat = 0; beat < 12; beat += 1) {
        agoMs = silentForMs(number);
        await must({
          type: 'worker.beat',
          projectId: project,
          workerId: `${project}/agent-${number}`,
          beat: { memoryMb: beat, cpuPercent: number },
        });
      }
    agoMs = 0;
    const reads: string[] = [];
    const counted = new Proxy(before, {
      get: (target, key) => {
        reads.push(String(key));
        return Reflect.get(target, key);
      },
    });
    const views = await workerViews({ store: counted, clock: systemClock }, (await before.project(project))!);
    expect(reads).toHaveLength(3);
    const agents = views.filter(({ role }) => role === 'builder');
    expect(agents.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, index) => `agent-${index + 1}`));
    expect(agents.map(({ health }) => health)).toEqual([...Array(8).fill('healthy'), 'degraded', 'unresponsive']);
    expect(agents.every(({ memoryMb }) => memoryMb === 11)).toBe(true);
    expect((await api.workers({ project })).map(({ name }) => name)).toEqual(views.map(({ name }) => name));
  });
});
