import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { MIGRATIONS, type Migration } from '../../packages/daemon/src/store/migrations.ts';
import { open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const next = MIGRATIONS.length + 1;
const NEWER: Migration = {
  version: next,
  sqlite: `ALTER TABLE tasks ADD COLUMN title TEXT;
           UPDATE tasks SET title = json_extract(doc, '$.title');
           CREATE INDEX tasks_title ON tasks (title);`,
  postgres: `ALTER TABLE tasks ADD COLUMN title text;
             UPDATE tasks SET title = doc->>'title';
             CREATE INDEX tasks_title ON tasks (title);`,
};
const BROKEN: Migration = {
  ...NEWER,
  sqlite: `${NEWER.sqlite} SELECT nonsense;`,
  postgres: `${NEWER.postgres} SELECT nonsense;`,
};

describe.each(Object.entries(sharedPlaces(inject('postgresUrl') ?? '')))('the schema on %s', (_name, makePlace) => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace();
    const mill = await (await open(place)).register(1);
    for (const title of ['One', 'Two', 'Three']) await mill.create({ title });
    await mill.finish(await mill.mustClaim('w1'));
    await mill.store.close();
  });
  afterEach(() => place.remove());

  test('a store of an earlier version is upgraded with its data', async () => {
    const mill = await open(place, { migrations: [...MIGRATIONS, NEWER] });
    expect(await mill.store.tasks({ projectId: PROJECT })).toHaveLength(3);
    await mill.create({ title: 'Four' });
    await mill.finish(await mill.mustClaim('w1'));
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
    await mill.store.close();
    const again = await open(place, { migrations: [...MIGRATIONS, NEWER] });
    expect(await again.store.workload(PROJECT)).toMatchObject({ byStage: { done: 2, open: 2 } });
    await again.store.close();
  });

  test('a store of a newer version is refused and not changed', async () => {
    const newer = { migrations: [...MIGRATIONS, NEWER] };
    await (await open(place, newer)).store.close();
    await expect(open(place)).rejects.toMatchObject({
      code: 'store_newer',
      message: expect.stringContaining(`version ${next}`),
    });
    const mill = await open(place, newer);
    expect(await mill.store.tasks({ projectId: PROJECT })).toHaveLength(3);
    await mill.store.close();
  });

  test('a migration step that fails leaves the previous version', async () => {
    await expect(open(place, { migrations: [...MIGRATIONS, BROKEN] })).rejects.toMatchObject({ code: 'store_failed' });
    const mill = await open(place);
    expect(await mill.store.tasks({ projectId: PROJECT })).toHaveLength(3);
    await mill.create();
    await mill.store.close();
  });

  test('several processes that open an old store at once upgrade it once', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => open(place, { migrations: [...MIGRATIONS, NEWER] })));
    for (const { store } of opened) expect(await store.tasks({ projectId: PROJECT })).toHaveLength(3);
    for (const { store } of opened) await store.close();
  });

  test('a row that cannot be read is named', async () => {
    const spoil = {
      version: next,
      sqlite: `UPDATE tasks SET doc = '{"id":7}' WHERE number = 2`,
      postgres: `UPDATE tasks SET doc = '{"id":7}' WHERE number = 2`,
    };
    const mill = await open(place, { migrations: [...MIGRATIONS, spoil] });
    await expect(mill.store.taskByNumber(PROJECT, 2)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(mill.store.taskByNumber(PROJECT, 2)).rejects.toThrow('{"id":7}');
    expect(await mill.mustClaim('w1')).toMatchObject({ number: 3 });
    await mill.store.close();
  });

  test('a row that was changed behind the log is found', async () => {
    const tamper = { version: next, sqlite: '', postgres: '' };
    tamper.sqlite = 'UPDATE tasks SET doc = replace(doc, \'"Two"\', \'"Tow"\'); DELETE FROM tasks WHERE number = 3;';
    tamper.postgres =
      'UPDATE tasks SET doc = replace(doc::text, \'"Two"\', \'"Tow"\')::json; DELETE FROM tasks WHERE number = 3;';
    const mill = await open(place, { migrations: [...MIGRATIONS, tamper] });
    const faults = await compareLogWithProjection(mill.store);
    expect(faults).toHaveLength(2);
    expect(faults.join()).toMatch(/differs from the log in title.*is missing/s);
    await mill.store.close();
  });
});
