import { personActor, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mill, memoryPlace, newTask, open, PROJECT } from '../../../../../test/contract/store-bed.ts';
import type { Store } from '../../ports.ts';
import { executeAccepted, executeTogether } from './atomic.ts';
import { purgeQueue, recoverStuck } from './emergency.ts';

const ada = personActor('ada');
let mill: Mill;
beforeEach(async () => {
  mill = await (await open(await memoryPlace())).register(2);
});
afterEach(() => mill.store.close());

const cancel = ({ id: taskId }: Task): Command => ({
  ...{ type: 'task.cancel', projectId: PROJECT, taskId, by: ada, from: 'open' },
});
const stages = async () => (await mill.store.tasks({ projectId: PROJECT })).map(({ stage }) => stage);
const create = async (count: number) => {
  const tasks: Task[] = [];
  for (let made = 0; made < count; made += 1) tasks.push(await mill.create());
  return tasks;
};
const records = async () =>
  (await mill.store.events({ types: ['emergency.executed'], limit: 100 })).map(({ body }) => body);

/** The store as seen by a caller that somebody overtakes: `faster` happens just before its first write. */
function overtaken(faster: () => Promise<unknown>): Store {
  let isOvertaken = false;
  const executeAll = async (commands: readonly Command[]) => {
    if (!isOvertaken) await faster();
    isOvertaken = true;
    return mill.store.executeAll(commands);
  };
  return { ...mill.store, executeAll };
}

describe('commands that are executed as far as they are accepted', () => {
  test('a refused one is left out, and those before and after it take effect', async () => {
    const [one, two, three, four] = await create(4);
    await mill.must(cancel(two!));
    const commands = [one, two, three, four].map((task) => cancel(task!));
    expect(await executeAccepted(mill.store, commands)).toEqual([commands[0], commands[2], commands[3]]);
    expect(await stages()).toEqual(Array(4).fill('cancelled'));
  });

  test('several refused ones are left out, also the first and the last', async () => {
    const [one, two, three] = await create(3);
    await mill.must(cancel(one!));
    await mill.must(cancel(three!));
    const commands = [one, one, two, three].map((task) => cancel(task!));
    expect(await executeAccepted(mill.store, commands)).toEqual([commands[2]]);
    expect(await stages()).toEqual(Array(3).fill('cancelled'));
  });

  test('nothing is left when all are refused, and nothing is executed when there are none', async () => {
    const [one] = await create(1);
    await mill.must(cancel(one!));
    const before = await mill.store.lastSeq();
    expect(await executeAccepted(mill.store, [cancel(one!)])).toEqual([]);
    expect(await executeAccepted(mill.store, [])).toEqual([]);
    expect(await mill.store.lastSeq()).toBe(before);
  });
});

describe('commands that are executed together', () => {
  test('take effect in order, with a reply for each', async () => {
    const replies = await executeTogether(mill.store, [newTask({ taskId: 'a' }), newTask({ taskId: 'b' })]);
    expect(replies.map(({ task }) => task?.id)).toEqual(['a', 'b']);
  });

  test('have no effect when one is refused, and the refusal says why', async () => {
    const [one] = await create(1);
    await mill.must(cancel(one!));
    const refused = executeTogether(mill.store, [newTask(), cancel(one!)]);
    await expect(refused).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('#1') });
    expect(await stages()).toEqual(['cancelled']);
  });
});

describe('a purge of the queue', () => {
  test('leaves a task that a worker took meanwhile, and names only those it cancelled', async () => {
    await create(3);
    const store = overtaken(() => mill.mustClaim('w1'));
    const project = (await mill.store.project(PROJECT))!;
    expect(await purgeQueue(store, project, ada)).toEqual([2, 3]);
    expect(await stages()).toEqual(['check', 'cancelled', 'cancelled']);
    expect(await records()).toMatchObject([{ operation: 'purge_queue', tasks: [2, 3] }]);
  });

  test('cancels every task of a queue that is longer than a page, from the first to the last', async () => {
    const all = Array.from({ length: 1001 }, (_, index) => index + 1);
    await executeTogether(
      mill.store,
      all.map((number) => newTask({ taskId: `task_${number}` })),
    );
    expect(await purgeQueue(mill.store, (await mill.store.project(PROJECT))!, ada)).toEqual(all);
    expect(await mill.store.tasks({ projectId: PROJECT, stages: ['open'] })).toEqual([]);
    expect(await records()).toMatchObject([{ tasks: all.slice(0, 1000) }, { tasks: [1001] }]);
  });

  test('of an empty queue is on record, too', async () => {
    expect(await purgeQueue(mill.store, (await mill.store.project(PROJECT))!, ada)).toEqual([]);
    expect(await records()).toMatchObject([{ operation: 'purge_queue', tasks: [], by: ada }]);
  });
});

describe('the recovery of stuck tasks', () => {
  const kept: unknown[] = [];
  const deps = (store: Store) => ({
    store,
    withWorkspace: <T>(work: (workspace: { snapshot(task: unknown): Promise<string> }) => Promise<T>) =>
      work({ snapshot: async (task) => `refs/kept/${kept.push(task)}` }),
  });

  test('takes those that are still stuck when one of them ended meanwhile', async () => {
    await create(2);
    const [first, second] = [await mill.mustClaim('w1'), await mill.mustClaim('w2')];
    const store = overtaken(() => mill.finish(first));
    await recoverStuck(deps(store), (await store.project(PROJECT))!, [first, second], ada);
    expect(await mill.store.leased(PROJECT)).toEqual([]);
    expect(await stages()).toEqual(['done', 'check']);
    expect(await records()).toMatchObject([{ operation: 'recover_stuck' }]);
    const noted = await mill.store.events({ types: ['snapshot.taken'], limit: 10 });
    expect(noted.map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ taskId: second.id, why: 'it was stuck' }),
    );
  });

  test('opens no workspace when nothing is stuck', async () => {
    const withWorkspace = () => Promise.reject(new Error('the repository is not there'));
    await recoverStuck({ store: mill.store, withWorkspace }, (await mill.store.project(PROJECT))!, [], ada);
    expect(await records()).toMatchObject([{ operation: 'recover_stuck', tasks: [] }]);
  });
});
