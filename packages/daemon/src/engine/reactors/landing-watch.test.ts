import type { LoggedEvent, Task } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mill, memoryPlace, open, PROJECT, rules } from '../../../../../test/contract/store-bed.ts';
import type { EngineDeps } from '../deps.ts';
import { LandingWatch } from './landing-watch.ts';

const WHY = 'the checkout has uncommitted changes';
const SECOND = 1_000;
const stages = { merge: { actor: 'system', does: 'merge', on: { approved: 'done', failed: 'blocked' } } };
const landing = { name: 'landing', description: '', start: 'merge', stages } as never;

let mill: Mill;
let watch: LandingWatch;
let now: number;
let obstacle: string | null;
let seen: number;
let ticks: number[];

const clock = { now: () => now, sleep: async () => undefined };

beforeEach(async () => {
  now = 0;
  obstacle = WHY;
  seen = 0;
  ticks = [];
  mill = await (await open(await memoryPlace(), { clock: { ...clock, now: () => now } })).register();
  const pipelines = { ...rules.pipelines, landing };
  await mill.must({ type: 'project.configure', projectId: PROJECT, rules: { ...rules, pipelines } });
  for (const name of ['m1', 'm2']) await mill.worker(name, 'merger');
  const workspace = { landingObstacle: async () => obstacle };
  const project = (await mill.store.project(PROJECT))!;
  watch = new LandingWatch({ store: mill.store, clock, project, workspace } as unknown as EngineDeps);
});
afterEach(() => mill.store.close());

const tickIn = (ms: number) => void ticks.push(ms);
/** What the reactor's host does: hands over the new events, then a tick. */
async function pass(ms: number): Promise<void> {
  now += ms;
  const events: LoggedEvent[] = await mill.store.events({ after: seen, types: [...watch.on], limit: 1_000 });
  seen = await mill.store.lastSeq();
  if (events.length > 0) await watch.handle({ cause: 'events', events, tickIn } as never);
  await watch.handle({ cause: 'tick', tickIn } as never);
}
async function claim(worker = 'm1'): Promise<Task> {
  const reply = await mill.claim(worker, 8, 'merger');
  if (!reply.ok || !reply.task) throw new Error('nothing was claimed');
  return reply.task;
}
const wait = ({ id: subjectId, fence: token }: Task, untilMs = 5 * SECOND, why = WHY) =>
  mill.must({ type: 'stage.wait', projectId: PROJECT, subjectId, token, why, untilMs, landing: { maxMs: untilMs } });
const alerts = () => mill.store.records({ noun: 'alert', projectId: PROJECT, isOpen: true });
const wakes = async () =>
  (await mill.store.events({ types: ['task.waiting'], limit: 100 })).flatMap(({ body }) =>
    body.type === 'task.waiting' && body.why === 'it is retried' ? [body.taskId] : [],
  );

describe('a landing that waits', () => {
  test('is told after a minute, although it was claimed and tried again meanwhile', async () => {
    await mill.create({ pipeline: 'landing' });
    await wait(await claim());
    await pass(0);
    await pass(30 * SECOND);
    const again = await claim();
    await pass(10 * SECOND);
    await wait(again);
    await pass(10 * SECOND);
    expect(await alerts()).toEqual([]);
    await pass(10 * SECOND);
    expect(await alerts()).toMatchObject([{ kind: 'landing_waits', severity: 'error', taskId: again.id }]);
    expect((await alerts())[0]!.text).toMatch(`A finished task cannot land on main: ${WHY}.`);
  });

  test('is told after a minute, although it was woken, claimed and held up again meanwhile', async () => {
    await mill.create({ pipeline: 'landing' });
    await wait(await claim(), 600 * SECOND);
    await pass(0);
    obstacle = null;
    await pass(30 * SECOND);
    const again = await claim();
    await pass(5 * SECOND);
    obstacle = WHY;
    await wait(again);
    await pass(20 * SECOND);
    expect(await alerts()).toEqual([]);
    await pass(5 * SECOND);
    expect(await alerts()).toMatchObject([{ kind: 'landing_waits', taskId: again.id }]);
  });

  test('is told with all others that wait as long, and the alert is closed when they have landed', async () => {
    await mill.create({ pipeline: 'landing' });
    await mill.create({ pipeline: 'landing' });
    const [one, two] = [await claim('m1'), await claim('m2')];
    await wait(one);
    await pass(0);
    await pass(30 * SECOND);
    await wait(two);
    await pass(0);
    await pass(30 * SECOND);
    expect(await alerts()).toMatchObject([{ taskId: one.id, text: expect.stringContaining('A finished task cannot') }]);
    await pass(30 * SECOND);
    expect(await alerts()).toMatchObject([{ text: expect.stringContaining('2 finished tasks cannot') }]);
    for (const task of [await claim('m1'), await claim('m2')])
      await mill.must({
        type: 'stage.finish',
        projectId: PROJECT,
        subjectId: task.id,
        token: task.fence,
        outcome: 'failed',
        failure: 'validation',
        message: 'red',
      });
    await pass(5 * SECOND);
    expect(await alerts()).toEqual([]);
  });

  test('is looked at every five seconds, and no longer when it is over', async () => {
    await mill.create({ pipeline: 'landing' });
    await pass(0);
    expect(ticks).toEqual([]);
    const task = await claim();
    await wait(task);
    await pass(0);
    expect(ticks).toEqual([5 * SECOND, 5 * SECOND]);
    await mill.must({
      type: 'task.cancel',
      projectId: PROJECT,
      taskId: task.id,
      by: { kind: 'person', id: 'ada', name: 'ada' },
    });
    await pass(5 * SECOND);
    expect(ticks).toHaveLength(2);
  });

  test('is woken once when the way is free', async () => {
    await mill.create({ pipeline: 'landing' });
    const task = await claim();
    await wait(task, 600 * SECOND);
    await pass(0);
    await pass(5 * SECOND);
    expect(await wakes()).toEqual([]);
    obstacle = null;
    await pass(5 * SECOND);
    expect(await wakes()).toEqual([task.id]);
    await pass(5 * SECOND);
    expect(await wakes()).toEqual([task.id]);
  });

  test('is woken although another one was claimed just before', async () => {
    for (let made = 0; made < 2; made += 1) await mill.create({ pipeline: 'landing' });
    const [one, two] = [await claim('m1'), await claim('m2')];
    await wait(one, 5 * SECOND);
    await wait(two, 600 * SECOND);
    await pass(10 * SECOND);
    expect((await claim('m1')).id).toBe(one.id);
    obstacle = null;
    await pass(5 * SECOND);
    expect(await wakes()).toEqual([two.id]);
  });

  test('for a remote that has an alert of its own is not told twice', async () => {
    obstacle = null;
    const why = 'origin refuses the push of main: no permission';
    const alert = { kind: 'push_refused', subject: '', severity: 'error', text: why, taskId: null } as const;
    await mill.must({ type: 'alert.raise', projectId: PROJECT, ...alert });
    await mill.create({ pipeline: 'landing' });
    await wait(await claim(), 600 * SECOND, `${why} (tried twice)`);
    await pass(0);
    await pass(60 * SECOND);
    expect(await alerts()).toMatchObject([{ kind: 'push_refused' }]);
    await mill.must({ type: 'alert.resolve', projectId: PROJECT, kind: 'push_refused', subject: '' });
    await pass(5 * SECOND);
    expect(await alerts()).toMatchObject([{ kind: 'landing_waits', text: expect.stringContaining(why) }]);
  });
});
