import { personActor, type SeenItem } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import type { CommandOf } from '../command.ts';

const projectId = 'project_1';
const itemId = 'tracker/project_1/k';
const ada = personActor('ada');
const seen = (hash: string, change: Partial<SeenItem> = {}): SeenItem => ({
  ...{ title: 'Add', body: '', kind: 'feature', priority: 2, labels: [], blockedBy: [], state: 'open' },
  ...{ isRejected: false, hash, updatedAt: hash, ...change },
});

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
});

const see = (hash: string, change: Partial<CommandOf<'tracker_item.see'>> = {}) =>
  mill.execute({
    ...{ type: 'tracker_item.see', projectId, itemId, key: 'k', url: null, author: 'eve', isTrusted: false },
    ...{ waiting: 'untrusted', seen: seen(hash), ...change },
  });
const item = () => {
  const found = mill.records.get(itemId);
  return found?.noun === 'tracker_item' ? found : undefined;
};
const created = (origin = itemId) => mill.add({ origin: { kind: 'tracker', id: origin } });
const take = (taskId: string, before: string | null = null, hash?: string) =>
  mill.execute({
    ...{ type: 'tracker_item.take', projectId, itemId, taskId, before, by: ada },
    ...(hash === undefined ? {} : { hash }),
  });

describe('an item of a tracker', () => {
  test('is recorded once, and again only when a change counts', () => {
    expect(see('h1').ok).toBe(true);
    const count = mill.log.length;
    expect(see('h1', { seen: seen('h1', { updatedAt: 'later', labels: ['x'] }) }).ok).toBe(true);
    expect(mill.log.length).toBe(count);
    for (const change of [{ state: 'closed' as const }, { blockedBy: [{ key: 'other', isDone: false }] }]) {
      const before = mill.log.length;
      see('h1', { seen: seen('h1', change) });
      expect(mill.log.length).toBe(before + 1);
    }
  });

  test('is taken once, for the text that the person saw, and by a task of its own', () => {
    see('h1');
    expect(take(created('another item'))).toMatchObject({ ok: false, refusal: { code: 'not_found' } });
    const taskId = created();
    expect(take(taskId, null, 'h0')).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    expect(take(taskId, null, 'h1').ok).toBe(true);
    expect(take(taskId).ok).toBe(true);
    expect(take(created())).toMatchObject({ ok: false, refusal: { message: 'k is already a task' } });
    expect(item()).toMatchObject({ status: 'taken', taskId, takenHash: 'h1', waiting: '' });
  });

  test('that a stranger edited waits again; refusing the edit keeps the task', () => {
    see('h1');
    const taskId = created();
    take(taskId);
    see('h2');
    expect(item()).toMatchObject({ status: 'taken', waiting: 'edited', takenHash: 'h1' });
    mill.execute({ type: 'tracker_item.refuse', projectId, itemId, why: 'no', by: ada });
    expect(item()).toMatchObject({ status: 'taken', waiting: '', takenHash: 'h2' });
    see('h3', { isTrusted: true, waiting: '' });
    expect(item()).toMatchObject({ waiting: '' });
    const follow = { type: 'tracker_item.follow', projectId, itemId, taskId } as const;
    expect(mill.execute({ ...follow, hash: 'h2' })).toMatchObject({ ok: false });
    expect(mill.execute({ ...follow, hash: 'h3' }).ok).toBe(true);
    expect(item()).toMatchObject({ takenHash: 'h3' });
  });

  test('that is refused, left or unknown says what can be done', () => {
    expect(take(created())).toMatchObject({ ok: false, refusal: { code: 'not_found' } });
    see('h1');
    mill.execute({ type: 'tracker_item.refuse', projectId, itemId, why: 'no', by: ada });
    see('h2');
    expect(item()).toMatchObject({ status: 'refused', waiting: '' });
    mill.execute({ type: 'tracker_item.leave', projectId, itemId, why: 'deleted' });
    expect(mill.execute({ type: 'tracker_item.refuse', projectId, itemId, why: 'no', by: ada })).toMatchObject({
      ok: false,
    });
    see('h2');
    expect(item()).toMatchObject({ status: 'waiting', waiting: 'untrusted' });
  });

  test('of our own has its intention recorded first, then its key, each once', () => {
    const taskId = created('proposal_1');
    const offer = { type: 'tracker_item.offer' as const, projectId, itemId, taskId, labels: ['agent-generated'] };
    for (let n = 0; n < 2; n += 1) expect(mill.execute(offer).ok).toBe(true);
    expect(item()).toMatchObject({ status: 'offered', key: null, offers: ['agent-generated'] });
    const create = { type: 'tracker_item.create', projectId, itemId, url: null } as const;
    for (let n = 0; n < 2; n += 1) expect(mill.execute({ ...create, key: 'k' }).ok).toBe(true);
    expect(mill.execute({ ...create, key: 'other' })).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    expect(item()).toMatchObject({ status: 'taken', key: 'k', taskId });
  });

  test('has each written state and each failure recorded once', () => {
    see('h1');
    const count = () => mill.log.length;
    const fail = { type: 'tracker_item.fail', projectId, itemId, error: '422' } as const;
    mill.execute(fail);
    const before = count();
    mill.execute(fail);
    expect(count()).toBe(before);
    const published = { hash: 'p', commentId: '1', labels: ['x'], status: null, isClosed: false };
    for (let n = 0; n < 2; n += 1) mill.execute({ type: 'tracker_item.publish', projectId, itemId, published });
    expect([count(), item()?.error]).toEqual([before + 1, null]);
  });
});
