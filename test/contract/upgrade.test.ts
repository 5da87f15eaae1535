import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { describeEvent, engineActor, personActor } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoredTokens } from '../../packages/daemon/src/access/tokens.ts';
import { openOffline } from '../../packages/daemon/src/assembly/offline.ts';
import { createIds, systemClock } from '../../packages/daemon/src/clock.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';

/**
 * `test/support/earlier` was written by commit ceb51d7, the last one before actors, hosts and tokens in the store: its own
 * commands on its own SQLite store, dumped as SQL, and its own file of tokens. The root of the project is made up. Tasks
 * are in plan, needs_info (cancelled), done, merge, review and implement.
 */
const EARLIER = join(import.meta.dirname, '../support/earlier');
const TOKEN = 'tidemill_A8_8ZoFpHe_NehVej3hvmSS7K_uS60HkdtxDjQo7n_U';
const projectId = 'project_almanac';
const workerId = `${projectId}/agent-1`;

let home: string;
let store: Store;
let tokens: StoredTokens;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-upgrade-'));
  copyFileSync(join(EARLIER, 'tokens.json'), join(home, 'tokens.json'));
  const db = new DatabaseSync(join(home, 'store.db'));
  db.exec(readFileSync(join(EARLIER, 'store.sql'), 'utf8'));
  db.close();
  store = await openStore({ url: join(home, 'store.db'), clock: systemClock, ids: createIds(systemClock) });
  const around = { store, clock: systemClock, onNote: () => undefined };
  tokens = await StoredTokens.open(join(home, 'tokens.json'), around);
});
afterAll(async () => {
  await store.close();
  rmSync(home, { recursive: true });
});

const events = async (...types: string[]) =>
  (await store.events({ projectId, types, limit: 100 })).map(({ body }) => body);

describe('a data folder of an earlier version', () => {
  test('is read in the current shape', async () => {
    const ada = personActor('ada');
    const worker = (await store.workers(projectId)).find(({ id }) => id === workerId);
    expect(worker).toMatchObject({ desired: 'paused', desiredBy: ada, host: '' });
    expect(worker!.beats).toHaveLength(1);
    const [steered] = await events('worker.steered');
    expect(steered).toMatchObject({ desired: 'paused', by: ada });
    expect(describeEvent(steered!)).toEqual({ who: 'ada', text: 'set agent-1 to paused' });
    const questions = await store.records({ noun: 'question', projectId });
    expect(questions.map(({ answer }) => answer?.by)).toContainEqual(ada);
    const noted = (await store.tasks({ projectId })).flatMap(({ context }) => context.filter(({ by }) => by));
    expect(noted).toMatchObject([{ summary: 'Mind the tests.', by: ada }]);
    expect(await events('alert.acknowledged')).toMatchObject([{ by: engineActor('delivery') }]);
    const unread = (await store.events({ limit: 1000 })).filter(({ body }) => body.type === 'log.unreadable');
    expect(unread).toEqual([]);
  });

  test('keeps its tokens', async () => {
    expect(await tokens.callerOf(TOKEN)).toMatchObject({ name: 'ci-box', role: 'worker' });
    expect(existsSync(join(home, 'tokens.json'))).toBe(false);
    expect(existsSync(join(home, 'tokens.json.taken-over'))).toBe(true);
  });

  test('lets one of its tasks continue, with its workers under their old ids', async () => {
    const about = { projectId, workerId };
    const register = { ...about, name: 'agent-1', role: 'builder', host: 'here' } as const;
    expect(await store.execute({ type: 'worker.register', ...register })).toMatchObject({ ok: true });
    await store.execute({ type: 'worker.steer', ...about, desired: 'running', by: personActor('bob') });
    const claimed = await store.execute({
      type: 'work.claim',
      ...about,
      role: 'builder',
      owner: 'here/daemon',
      window: 8,
    });
    expect(claimed).toMatchObject({ ok: true, task: { lease: { workerId } } });
    const task = (claimed.ok && claimed.task) || null;
    const fence = { projectId, subjectId: task!.id, token: task!.lease!.token };
    const released = await store.execute({ type: 'lease.release', ...fence, why: 'done for now' });
    expect(released).toMatchObject({ ok: true, task: { lease: null } });
  });

  test('has log and rows in agreement for doctor, before and after', async () => {
    expect(await compareLogWithProjection(store)).toEqual([]);
    const { api, close } = await openOffline({ TIDEMILL_HOME: home });
    const { findings } = await api.doctor({});
    await close();
    const ofStore = findings.filter(({ check }) => ['store', 'log', 'tokens'].includes(check));
    expect(ofStore.map(({ level, check }) => `${level} ${check}`)).toEqual(['ok store', 'ok log']);
  });
});

/**
 * `store-11.db.gz` was written by commit 080e26a, the last one with nouns in camel case: random commands about proposed
 * guards, tracker items, lessons and tasks.
 */
describe('a store whose nouns have names in camel case', () => {
  const ofDemo = 'project_1';
  let folder: string;
  let old: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidemill-upgrade-'));
    const file = join(folder, 'store.db');
    writeFileSync(file, gunzipSync(readFileSync(join(EARLIER, 'store-11.db.gz'))));
    old = await openStore({ url: file, clock: systemClock, ids: createIds(systemClock) });
  });
  afterAll(async () => {
    await old.close();
    rmSync(folder, { recursive: true });
  });

  test('is read under the new names, rows and events', async () => {
    const counts = async (noun: 'guard_proposal' | 'tracker_item' | 'lesson_use') => {
      const rows = await old.records({ noun, projectId: ofDemo });
      expect(rows.every((row) => row.noun === noun)).toBe(true);
      return rows.length;
    };
    expect(await counts('guard_proposal')).toBe(2);
    expect(await counts('tracker_item')).toBe(3);
    expect(await counts('lesson_use')).toBe(6);
    const seen = await old.events({ projectId: ofDemo, types: ['tracker_item.seen'], limit: 10 });
    expect(seen.map(({ body }) => body.type)).toEqual(Array(3).fill('tracker_item.seen'));
    const all = await old.events({ limit: 1000 });
    expect(all.filter(({ body }) => body.type === 'log.unreadable')).toEqual([]);
  });

  test('lets its tasks, guards and items go on, and log and rows agree', async () => {
    const [guard] = await old.records({ noun: 'guard_proposal', projectId: ofDemo });
    expect(guard?.status).toBe('withdrawn');
    const register = { projectId: ofDemo, workerId: 'late', name: 'late', role: 'builder', host: 'here' } as const;
    expect(await old.execute({ type: 'worker.register', ...register })).toMatchObject({ ok: true });
    const claim = { projectId: ofDemo, workerId: 'late', role: 'builder', owner: 'here/daemon', window: 8 } as const;
    expect(await old.execute({ type: 'work.claim', ...claim })).toMatchObject({ ok: true });
    expect(await compareLogWithProjection(old)).toEqual([]);
    const { api, close } = await openOffline({ TIDEMILL_HOME: folder });
    const { findings } = await api.doctor({});
    await close();
    const ofStore = findings.filter(({ check }) => ['store', 'log'].includes(check));
    expect(ofStore.map(({ level, check }) => `${level} ${check}`)).toEqual(['ok store', 'ok log']);
  });
});
