import type { LoggedEvent } from '@tidemill/contract';
import { decide, reduce } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import {
  accepted,
  type Mill,
  memoryPlace,
  newTask,
  open,
  type Place,
  PROJECT,
  rules,
  sharedPlaces,
} from './store-bed.ts';

const places = { memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') };

describe.each(Object.entries(places))('the store on %s', (_name, makePlace) => {
  let place: Place;
  let mill: Mill;
  beforeEach(async () => {
    place = await makePlace();
    mill = await open(place);
  });
  afterEach(async () => {
    await mill.store.close();
    await place.remove();
  });
  const restart = async (more: Parameters<typeof open>[1]) => {
    await mill.store.close();
    mill = await open(place, more);
  };

  test('keeps events and rows together and returns both', async () => {
    await mill.register(1);
    const reply = accepted(await mill.store.execute(newTask({ title: 'First', body: "it's \\ \u0000 ☃ 'quoted'" })));
    expect(reply.events.map((event) => [event.seq, event.body.type])).toEqual([[3, 'task.created']]);
    expect(reply.task).toMatchObject({ number: 1, title: 'First', stage: 'open', role: 'verifier' });
    expect(await mill.store.task(reply.task!.id)).toEqual(reply.task);
    expect(await mill.store.taskByNumber(PROJECT, 1)).toEqual(reply.task);
    const [logged] = await mill.store.events({ after: 2, limit: 10 });
    expect(logged).toEqual(reply.events[0]);
    expect(await mill.store.lastSeq()).toBe(3);
    const claimed = await mill.mustClaim('w1');
    expect(claimed.lease?.workerId).toBe(`${PROJECT}/w1`);
    expect(await mill.store.leased(PROJECT)).toEqual([claimed]);
  });

  test('a refusal changes nothing', async () => {
    await mill.register(1);
    const reply = await mill.claim('w1');
    expect(reply).toMatchObject({ ok: false, refusal: { code: 'nothing_ready' } });
    const missing = await mill.store.execute(newTask({ dependsOn: ['task_nowhere'] }));
    expect(missing).toMatchObject({ ok: false, refusal: { code: 'not_found' } });
    expect(await mill.store.lastSeq()).toBe(2);
    expect(await mill.store.tasks({ projectId: PROJECT })).toEqual([]);
  });

  test('commands given together are decided in order, each on the state after the previous one', async () => {
    await mill.register(3);
    const replies = await Promise.all([
      mill.store.execute(newTask({ taskId: 'task_a', priority: 1 })),
      mill.store.execute(newTask({ taskId: 'task_b', dependsOn: ['task_a'] })),
      mill.store.execute(newTask({ taskId: 'task_a' })),
    ]);
    expect(replies.map((reply) => reply.ok)).toEqual([true, true, false]);
    expect(replies[1]).toMatchObject({ task: { number: 2, unmet: 1 } });
    const [first, second] = await Promise.all([mill.claim('w1'), mill.claim('w2')]);
    expect(first).toMatchObject({ ok: true, task: { id: 'task_a' } });
    expect(second).toMatchObject({ ok: false, refusal: { code: 'nothing_ready' } });
  });

  test('commands of one call happen all or not at all, together with other calls', async () => {
    await mill.register(1);
    const [before, refused, accepted, after] = await Promise.all([
      mill.store.execute(newTask({ taskId: 'task_a' })),
      mill.store.executeAll([newTask({ taskId: 'task_x' }), newTask({ dependsOn: ['task_nowhere'] }), newTask()]),
      mill.store.executeAll([newTask({ taskId: 'task_b', dependsOn: ['task_a'] }), newTask({ dependsOn: ['task_b'] })]),
      mill.store.execute(newTask({ taskId: 'task_d' })),
    ]);
    expect(before).toMatchObject({ ok: true, task: { number: 1 } });
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'not_found' }, index: 1 });
    expect(accepted).toMatchObject({ ok: true, replies: [{ task: { number: 2 } }, { task: { number: 3, unmet: 1 } }] });
    expect(after).toMatchObject({ ok: true, task: { number: 4 } });
    expect(await mill.store.task('task_x')).toBeNull();
    const log = await mill.store.events({ types: ['task.created'], limit: 10 });
    const replied = accepted.ok ? accepted.replies.flatMap(({ events }) => events) : [];
    expect(log.slice(1, 3)).toEqual(replied);
    expect(log).toHaveLength(4);
  });

  test('concurrent calls share a commit', async () => {
    await mill.register();
    let commits = 0;
    mill.store.onCommit(() => void commits++);
    await Promise.all(Array.from({ length: 200 }, () => mill.create()));
    // One, and perhaps a wake-up for what happened before the listener was there.
    expect(commits).toBeLessThanOrEqual(2);
  });

  test('gives every worker of one batch of claims another task, in claiming order', async () => {
    await mill.register(40);
    await Promise.all(Array.from({ length: 50 }, (_, index) => mill.create({ priority: index % 5 })));
    const claims = await Promise.all(Array.from({ length: 40 }, (_, index) => mill.claim(`w${index + 1}`, 4)));
    const tasks = claims.map((reply) => accepted(reply).task!);
    expect(new Set(tasks.map((task) => task.id)).size).toBe(40);
    const order = tasks.map((task) => task.priority * 1000 + task.number);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test('a decision that throws fails alone', async () => {
    let batches = 0;
    await restart({
      rules: {
        decide: (slice, command, env) => {
          batches += 1;
          if (command.type === 'task.create' && command.title === 'bug') throw new Error('a bug in decide');
          return decide(slice, command, env);
        },
      },
    });
    await mill.register();
    const settled = await Promise.allSettled([mill.create(), mill.create({ title: 'bug' }), mill.create()]);
    expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await mill.store.tasks({ projectId: PROJECT })).map((task) => task.number)).toEqual([1, 2]);
    expect(batches).toBe(4);
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
  });

  test('an event that cannot be applied fails only its own command', async () => {
    await restart({
      rules: {
        reduce: (slice, projectId, at, body) => {
          if (body.type === 'task.created' && body.title === 'bug') throw new Error('a bug in reduce');
          reduce(slice, projectId, at, body);
        },
      },
    });
    await mill.register();
    const settled = await Promise.allSettled([mill.create(), mill.create({ title: 'bug' }), mill.create()]);
    expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await mill.store.lastSeq()).toBe(3);
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
  });

  test('a second project on the same root is refused, and its neighbours in the batch are not', async () => {
    await mill.register();
    if (!place.keepsOverReopening) return;
    const settled = await Promise.allSettled([
      mill.create(),
      mill.must({ type: 'project.register', projectId: 'project_2', name: 'two', root: '/one', rules }),
      mill.create(),
    ]);
    expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: { code: 'conflict' } });
  });

  test('a subscriber gets every event once and in order while many write', async () => {
    await mill.register();
    const [early, late] = [new AbortController(), new AbortController()];
    const total = 1 + 300;
    const follow = async (after: number, stop: AbortController) => {
      const seen: LoggedEvent[] = [];
      for await (const event of mill.store.subscribe(after, {}, stop.signal)) {
        seen.push(event);
        if (event.seq === total) stop.abort();
      }
      return seen;
    };
    const first = follow(0, early);
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, () => mill.create()));
    const second = follow(150, late);
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 20 }, () => mill.create()));
    expect((await first).map((event) => event.seq)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    expect((await second).map((event) => event.seq)).toEqual(Array.from({ length: 151 }, (_, index) => index + 151));
  });

  test('a commit wakes listeners until they leave', async () => {
    let woken = 0;
    const leave = mill.store.onCommit(() => void woken++);
    await mill.register();
    // A fresh listener may get one wake-up more, for what happened before it was there.
    expect(woken).toBeGreaterThan(0);
    leave();
    const before = woken;
    await mill.create();
    expect(woken).toBe(before);
  });

  test('a cycle of dependencies is seen through tasks the command does not name', async () => {
    await mill.register();
    const a = await mill.create();
    const b = await mill.create({ dependsOn: [a.id] });
    const c = await mill.create({ dependsOn: [b.id] });
    const set = (taskId: string, dependsOn: string[]) =>
      mill.store.execute({ type: 'task.set_dependencies', projectId: PROJECT, taskId, dependsOn });
    expect(await set(a.id, [c.id])).toMatchObject({ ok: false, refusal: { code: 'dependency_cycle' } });
    accepted(await set(c.id, []));
    expect(await set(a.id, [c.id])).toMatchObject({ ok: true, task: { unmet: 1 } });
  });

  test('dependents of finished tasks are freed, also those created at the same time', async () => {
    await mill.register(20);
    const bases = await Promise.all(Array.from({ length: 20 }, () => mill.create()));
    const leased = await Promise.all(bases.map((_, index) => mill.mustClaim(`w${index + 1}`)));
    const dependents = await Promise.all(
      leased.flatMap((task) => [
        mill.create({ dependsOn: [task.id] }),
        mill.finish(task).then(() => null),
        mill.create({ dependsOn: [task.id, bases[0]!.id] }),
      ]),
    );
    for (const each of dependents) if (each) expect(await mill.store.task(each.id)).toMatchObject({ unmet: 0 });
    expect(await mill.store.workload(PROJECT)).toMatchObject({ ready: 40 });
  });

  test('has after reopening what was written, which is what a replay of the log gives', async () => {
    await mill.register(5);
    for (let index = 0; index < 30; index++) await mill.create({ files: index % 3 ? [] : ['src/**'] });
    for (const worker of ['w1', 'w2', 'w3']) await mill.finish(await mill.mustClaim(worker));
    await mill.mustClaim('w4');
    const before = await mill.store.tasks({ projectId: PROJECT });
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
    if (!place.keepsOverReopening) return;
    const seq = await mill.store.lastSeq();
    await restart({});
    expect(await mill.store.tasks({ projectId: PROJECT })).toEqual(before);
    expect(await mill.store.projectByRoot('/one')).toMatchObject({ id: PROJECT, nextNumber: 31 });
    expect(await mill.store.lastSeq()).toBe(seq);
    expect(accepted(await mill.store.execute(newTask())).events[0]!.seq).toBe(seq + 1);
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
  });

  test('a closed store completes accepted calls, and refuses the rest', async () => {
    await mill.register();
    const last = mill.create();
    const closing = mill.store.close();
    await expect(mill.create()).rejects.toMatchObject({ code: 'store_failed' });
    expect((await last).number).toBe(1);
    await closing;
    mill = await open(place);
  });
});
