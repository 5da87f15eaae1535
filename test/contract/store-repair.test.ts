import { accountId, personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compare, compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { MIGRATIONS, type Migration } from '../../packages/daemon/src/store/migrations.ts';
import { open, type Place, PROJECT, rules, sharedPlaces } from './store-bed.ts';

const OTHER = 'project_2';
const ALL = accountId('all');
/** The result of two usage lines of 1e308, and a damaged task and project. */
const sql = (cast: string) => `
UPDATE records SET doc = replace(doc${cast}, '"spentDayUsd":3', '"spentDayUsd":null')${cast && '::json'}
  WHERE id = '${ALL}';
UPDATE tasks SET doc = '{"id":7}' WHERE number = 2;
UPDATE projects SET doc = '{}' WHERE id = '${OTHER}';
UPDATE events SET body = '{"type":"run.spent","taskId":7}' WHERE type = 'run.spent';
`;
const spoil: Migration = { version: MIGRATIONS.length + 1, sqlite: sql(''), postgres: sql('::text') };

describe.each(Object.entries(sharedPlaces(inject('postgresUrl') ?? '')))(
  'a damaged store on %s',
  (_name, makePlace) => {
    let place: Place;
    let events = 0;
    beforeEach(async () => {
      place = await makePlace();
      const mill = await (await open(place)).register(1);
      await mill.must({ type: 'project.register', projectId: OTHER, name: 'two', root: '/two', rules });
      await mill.worker('b1', 'builder');
      const expensive = await mill.create({ title: 'One', pipeline: 'agent' });
      for (const title of ['Two', 'Three'])
        await mill.create({ title, dependsOn: title === 'Two' ? [expensive.id] : [] });
      await mill.must({
        type: 'work.claim',
        projectId: PROJECT,
        workerId: `${PROJECT}/b1`,
        role: 'builder',
        owner: 'o',
        window: 8,
      });
      const run = { projectId: PROJECT, subjectId: expensive.id, token: 1, runId: 'run_1' };
      await mill.must({ type: 'run.start', ...run, mode: 'implement', agent: 'a' });
      const usage = { inputTokens: 1, outputTokens: 1, requests: 1, costUsd: 3 };
      await mill.must({ type: 'run.spend', ...run, usage });
      const envelope = { outcome: 'pr_ready', summary: '' } as const;
      await mill.must({ type: 'run.finish', ...run, outcome: 'pr_ready', envelope, usage });
      events = await mill.store.lastSeq();
      await mill.store.close();
    });
    afterEach(() => place.remove());

    test('is read and written except for damaged rows, and each of those is named', async () => {
      const { store } = await open(place, { migrations: [...MIGRATIONS, spoil] });
      expect((await store.projects()).map(({ id }) => id)).toEqual([PROJECT]);
      expect((await store.tasks({ projectId: PROJECT })).map(({ number }) => number)).toEqual([1, 3]);
      await expect(store.taskByNumber(PROJECT, 2)).rejects.toMatchObject({
        code: 'store_failed',
        hint: expect.stringContaining('doctor --repair'),
      });
      await expect(store.record('account', ALL)).rejects.toThrow('spentDayUsd');
      const log = await store.events({ after: 0, limit: 1000 });
      expect(log).toHaveLength(events);
      expect(log.filter(({ body }) => body.type === 'log.unreadable')).toMatchObject([{ body: { was: 'run.spent' } }]);
      const { rows, unread } = await compare(store);
      expect(rows.map(({ noun, why }) => `${noun} ${why.split(':')[0]}`)).toEqual([
        'project cannot be read',
        'task cannot be read',
        'record cannot be read',
      ]);
      expect(unread).toHaveLength(1);
      await store.close();
    });

    test('a claim skips a task that cannot be read, and does not fail with another command that needs it', async () => {
      const mill = await open(place, { migrations: [...MIGRATIONS, spoil] });
      const note = (taskId: string) =>
        mill.store.execute({ type: 'task.note', projectId: PROJECT, taskId, by: personActor('ada'), text: 'x' });
      const [three] = await mill.store.tasks({ projectId: PROJECT, numbers: [3] });
      const [bad] = (await compare(mill.store)).rows.filter(({ noun }) => noun === 'task');
      const [failed, noted, claimed] = await Promise.allSettled([note(bad!.id), note(three!.id), mill.claim('w1')]);
      expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'store_failed' } });
      expect(noted).toMatchObject({ status: 'fulfilled', value: { ok: true } });
      expect(claimed).toMatchObject({ status: 'fulfilled', value: { ok: true, task: { number: 3 } } });
      await mill.store.close();
    });

    test('is intact after a repair: the rows come from the log, and the damaged ones are kept', async () => {
      const mill = await open(place, { migrations: [...MIGRATIONS, spoil] });
      const repaired = await mill.store.repair();
      expect(repaired.map(({ noun, id, isRebuilt }) => [noun, id, isRebuilt])).toEqual([
        ['project', OTHER, true],
        ['task', expect.any(String), true],
        ['record', ALL, true],
      ]);
      expect(await compareLogWithProjection(mill.store)).toEqual([]);
      expect(await mill.store.lastSeq()).toBe(events);
      expect((await mill.store.projects()).map(({ id }) => id)).toEqual([PROJECT, OTHER]);
      expect(await mill.store.taskByNumber(PROJECT, 2)).toMatchObject({ title: 'Two', unmet: 0 });
      // The end of the run also reports its cost.
      expect(await mill.store.record('account', ALL)).toMatchObject({ spentDayUsd: 3, reserved: {} });
      expect(await mill.store.repair()).toEqual([]);
      await mill.create({ title: 'Four' });
      await mill.finish(await mill.mustClaim('w1'));
      expect(await compareLogWithProjection(mill.store)).toEqual([]);
      await mill.store.close();
    });
  },
);
