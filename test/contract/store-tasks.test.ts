import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import type { TaskQuery } from '../../packages/daemon/src/ports.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const places = { memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') };

describe.each(Object.entries(places))('listing tasks of %s', (_name, makePlace) => {
  let place: Place;
  let mill: Mill;
  beforeEach(async () => {
    place = await makePlace();
    mill = await open(place);
    await mill.register(1);
  });
  afterEach(async () => {
    await mill.store.close();
    await place.remove();
  });
  const numbers = async (query: Omit<TaskQuery, 'projectId'>) =>
    (await mill.store.tasks({ projectId: PROJECT, ...query })).map(({ number }) => number);
  const titled = async (...titles: string[]) => {
    for (const title of titles) await mill.create({ title });
  };

  test('a search finds all words in any order and case, or the number; wildcards are letters like others', async () => {
    await titled('Parse the Config file', '100% of ÄPFEL', 'file_names', 'fileXnames', 'a\\b "quoted"', 'NUL\0byte');
    const found: [search: string, numbers: number[]][] = [
      ['file config', [1]],
      ['CONFIG the', [1]],
      ['äpfel', [2]],
      ['%', [2]],
      ['0% of', [2]],
      ['file_', [3]],
      ['e', [1, 2, 3, 4, 5, 6]],
      ['\\', [5]],
      ['"quoted"', [5]],
      ['nulbyte', [6]],
      ['#4', [4]],
      ['4', [4]],
      ['4 filex', [4]],
      ['4 config', []],
      ['100', [2]],
      ['9999999999 99999999999999999999', []],
      ["'; DROP TABLE tasks; --", []],
      ['  ', [1, 2, 3, 4, 5, 6]],
    ];
    for (const [search, expected] of found) expect([search, await numbers({ search })]).toEqual([search, expected]);
  });

  test('a title that was changed is found by its new words only', async () => {
    const { id: taskId } = await mill.create({ title: 'Old words' });
    await mill.must({ type: 'task.edit', projectId: PROJECT, taskId, by: personActor('ada'), title: 'New ones' });
    expect([await numbers({ search: 'old' }), await numbers({ search: 'new' })]).toEqual([[], [1]]);
  });

  test('pages go up, or down from the newest, with every filter', async () => {
    await titled('a1', 'b2', 'a3', 'b4', 'a5', 'b6');
    expect(await numbers({ newestFirst: true, limit: 2 })).toEqual([6, 5]);
    expect(await numbers({ newestFirst: true, afterNumber: 5, limit: 2 })).toEqual([4, 3]);
    expect(await numbers({ newestFirst: true, afterNumber: 0, search: 'a' })).toEqual([5, 3, 1]);
    expect(await numbers({ newestFirst: true, afterNumber: 1 })).toEqual([]);
    expect(await numbers({ afterNumber: 2, search: 'a', limit: 1 })).toEqual([3]);
    const { number } = await mill.mustClaim('w1');
    expect(await numbers({ stages: ['check'], newestFirst: true })).toEqual([number]);
    expect(await numbers({ stages: ['check', 'open'], newestFirst: true, limit: 2 })).toEqual([6, 5]);
    expect(await numbers({ stages: [] })).toEqual([]);
    expect(await mill.store.tasks({ projectId: 'project_9' })).toEqual([]);
  });

  test('finds them by ids, by numbers, and by what they wait for', async () => {
    const first = await mill.create();
    const second = await mill.create({ dependsOn: [first.id] });
    const third = await mill.create({ dependsOn: [first.id, second.id] });
    expect(await numbers({ ids: [third.id, first.id, 'task_0'] })).toEqual([1, 3]);
    expect(await numbers({ numbers: [3, 1, 99, 2 ** 40] })).toEqual([1, 3]);
    expect(await numbers({ waitingFor: [first.id] })).toEqual([2, 3]);
    expect(await numbers({ waitingFor: [second.id, third.id] })).toEqual([3]);
    for (const nothing of [{ ids: [] }, { numbers: [] }, { waitingFor: [] }])
      expect(await numbers(nothing)).toEqual([]);
    const known = await mill.store.taskNumbers([second.id, 'task_0', first.id]);
    expect(new Map(known)).toEqual(
      new Map([
        [first.id, 1],
        [second.id, 2],
      ]),
    );
    expect((await mill.store.taskNumbers([])).size).toBe(0);
  });
});
