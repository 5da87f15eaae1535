import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createIds, systemClock } from '../clock.ts';
import type { Store } from '../ports.ts';
import { compareLogWithProjection } from '../store/compare.ts';
import { openStore } from '../store/open.ts';
import { StoredTokens } from './tokens.ts';

const BY = personActor('ada');
let folder: string;
let stores: Store[];
const file = () => join(folder, 'tokens.json');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-tokens-'));
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

async function process(notes: string[] = []): Promise<{ store: Store; tokens: StoredTokens }> {
  const clock = systemClock;
  const store = await openStore({ url: join(folder, 'store.db'), clock, ids: createIds(clock) });
  stores.push(store);
  return { store, tokens: await StoredTokens.open(file(), { store, clock, onNote: (text) => void notes.push(text) }) };
}

const filed = (name: string, token: string) => ({
  name,
  role: 'operator',
  createdAt: 5,
  lastUsedAt: 6,
  hash: createHash('sha256').update(token).digest('hex'),
});

test('two processes on one store agree from the next request on', async () => {
  const [one, other] = [await process(), await process()];
  const { token } = await one.tokens.add('ci', 'worker', BY);
  expect(await other.tokens.callerOf(token)).toMatchObject({ name: 'ci', role: 'worker' });
  await expect(other.tokens.add('CI', 'viewer', BY)).rejects.toMatchObject({ code: 'conflict' });
  await other.tokens.revoke('CI', BY);
  expect(await one.tokens.callerOf(token)).toBeNull();
  const again = await other.tokens.add('ci', 'viewer', BY);
  expect(await one.tokens.callerOf(again.token)).toMatchObject({ role: 'viewer', since: again.createdAt });
  expect(await one.tokens.callerOf(token)).toBeNull();
  expect(await compareLogWithProjection(one.store)).toEqual([]);
});

describe('a caller with a token', () => {
  /** The tokens of a store whose writes or reads fail as told. */
  async function failing(fault: Partial<Store>) {
    const { store, tokens } = await process();
    const { token } = await tokens.add('ci', 'worker', BY);
    const notes: [string, unknown][] = [];
    const around = {
      store: { ...store, ...fault },
      clock: systemClock,
      onNote: (...note: [string, unknown]) => void notes.push(note),
    };
    return { token, tokens: await StoredTokens.open(file(), around), notes };
  }

  test('is let in when the use cannot be recorded, and the failure is noted', async () => {
    const full = new Error('the disk is full');
    const { token, tokens, notes } = await failing({ execute: () => Promise.reject(full) });
    expect(await tokens.callerOf(token)).toMatchObject({ name: 'ci', role: 'worker' });
    await expect.poll(() => notes).toEqual([['the last use of the token ci could not be recorded', full]]);
  });

  test('is let in when the recording is refused, and the refusal is noted', async () => {
    const refusal = { code: 'not_found', message: 'there is no such token', hint: '' } as const;
    const { token, tokens, notes } = await failing({ execute: async () => ({ ok: false, refusal }) });
    expect(await tokens.callerOf(token)).toMatchObject({ name: 'ci' });
    await expect.poll(() => notes).toMatchObject([[expect.any(String), { code: 'not_found' }]]);
  });

  test('is not let in when the token cannot be looked up, and the reason is noted', async () => {
    const gone = new Error('the store is gone');
    const { token, tokens, notes } = await failing({ records: () => Promise.reject(gone) });
    await expect(tokens.callerOf(token)).rejects.toBe(gone);
    expect(notes).toEqual([['a token could not be looked up', gone]]);
  });

  test('has its use recorded at most once a minute', async () => {
    const { store, tokens } = await process();
    const { token } = await tokens.add('ci', 'worker', BY);
    let now = systemClock.now();
    const around = { store, clock: { now: () => now }, onNote: () => undefined };
    const later = await StoredTokens.open(file(), around);
    const uses = async () => (await store.events({ types: ['token.used'], limit: 10 })).length;
    await later.callerOf(token);
    await expect.poll(uses).toBe(1);
    const lastUsedAt = (await later.list())[0]!.lastUsedAt!;
    now = lastUsedAt + 59_999;
    await later.callerOf(token);
    now = lastUsedAt + 60_000;
    await later.callerOf(token);
    await expect.poll(uses).toBe(2);
  });

  test('of another form, or unknown, is nobody', async () => {
    const { tokens } = await process();
    expect(await tokens.callerOf('')).toBeNull();
    expect(await tokens.callerOf('ghp_x')).toBeNull();
    expect(await tokens.callerOf('tidemill_x')).toBeNull();
  });
});

test('a token that does not exist cannot be revoked, and the hint names those that do', async () => {
  const { tokens } = await process();
  await expect(tokens.revoke('ci', BY)).rejects.toMatchObject({ code: 'not_found', hint: 'There are no tokens.' });
  await tokens.add('box', 'viewer', BY);
  await tokens.add('web', 'viewer', BY);
  await expect(tokens.revoke('ci', BY)).rejects.toMatchObject({ hint: 'There are box, web.' });
});

describe('the token file of an earlier version', () => {
  test('is imported once and renamed', async () => {
    writeFileSync(file(), JSON.stringify({ tokens: [filed('box', 'tidemill_old')] }));
    const { tokens } = await process();
    expect(await tokens.callerOf('tidemill_old')).toEqual({ name: 'box', role: 'operator', since: 5 });
    expect(existsSync(file())).toBe(false);
    expect(readFileSync(`${file()}.taken-over`, 'utf8')).toContain('"box"');
    await tokens.revoke('box', BY);
    expect(await (await process()).tokens.callerOf('tidemill_old')).toBeNull();
  });

  test('yields to a token of the same name from another data folder', async () => {
    const { token } = await (await process()).tokens.add('box', 'viewer', BY);
    writeFileSync(file(), JSON.stringify({ tokens: [filed('Box', 'tidemill_old')] }));
    const { tokens } = await process();
    expect(await tokens.callerOf(token)).toMatchObject({ name: 'box', role: 'viewer' });
    expect(await tokens.callerOf('tidemill_old')).toMatchObject({ name: 'Box-2', role: 'operator' });
  });

  test('stays in place when it is damaged', async () => {
    writeFileSync(file(), 'not JSON at all');
    const notes: string[] = [];
    const { tokens } = await process(notes);
    expect(notes).toEqual(['the tokens of an earlier version were not imported']);
    expect(await tokens.list()).toEqual([]);
    expect(readFileSync(file(), 'utf8')).toBe('not JSON at all');
  });
});
