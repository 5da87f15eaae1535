import { hash } from 'node:crypto';
import { type Actor, type Api, LEVEL_TOKENS, personActor } from '@tidemill/contract';
import { tokensOf } from '@tidemill/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { openFolderStore } from '../../assembly/store-address.ts';
import { createIds, systemClock } from '../../clock.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import { ownTrace } from '../../engine/learning/own-trace.ts';

let bed: OfflineBed;
let api: Api;
let project: string;
beforeAll(async () => {
  bed = await OfflineBed.open();
  ({ api, project } = bed);
  for (let index = 0; index < 60; index += 1)
    await store(`Marked as tested without evidence, case ${index}`, { type: 'violation', why: 'w'.repeat(900) });
  await store('A decision about the wheel', { type: 'decision', correct: 'Oak', files: ['src/wheel.ts'] });
}, 60_000);
afterAll(() => bed.close());

const store = (what: string, more: object = {}) => api.storeTrace({ project, by: 'ada', type: 'note', what, ...more });
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: { code: string; message: string; hint: string }) => error,
  );

describe('the traces of a project', () => {
  test.each(['metadata', 'summary', 'full'] as const)(
    'a page of the level %s stays within its tokens, and the next one goes on behind it',
    async (level) => {
      const tokens = LEVEL_TOKENS[level];
      const asked = { project, words: 'tested evidence', level, tokens, limit: 200 } as const;
      const seen = new Set<string>();
      let pages = 0;
      for (let cursor: string | null = ''; cursor !== null; pages += 1) {
        const page = await api.traces({ ...asked, ...(cursor === '' ? {} : { cursor }) });
        expect(tokensOf(JSON.stringify(page.traces))).toBeLessThanOrEqual(tokens + page.traces.length + 2);
        for (const { id } of page.traces) expect(seen.has(id)).toBe(false);
        for (const { id } of page.traces) seen.add(id);
        cursor = page.cursor;
      }
      expect(seen.size).toBe(60);
      expect(pages).toBeGreaterThan(1);
    },
  );

  test('each level shows what it is for: what exists, what it says, everything', async () => {
    const find = async (level: 'metadata' | 'summary' | 'full') =>
      (await api.traces({ project, words: 'wheel', level })).traces[0]!;
    const metadata = await find('metadata');
    expect(Object.keys(metadata).sort()).toEqual(['agent', 'at', 'id', 'score', 'source', 'task', 'type']);
    expect(await find('summary')).toMatchObject({ what: 'A decision about the wheel', score: 1 });
    expect(await find('summary')).not.toHaveProperty('files');
    expect(await find('full')).toMatchObject({ correct: 'Oak', files: ['src/wheel.ts'], by: personActor('ada') });
  });

  test('reading step by step takes at most 15 % of the tokens of handing over all hits', async () => {
    const asked = { project, words: 'tested evidence' } as const;
    const all = await api.traces({ ...asked, level: 'full', limit: 200 });
    const page = await api.traces({ ...asked, level: 'metadata', tokens: LEVEL_TOKENS.metadata });
    let used = page.tokens;
    for (const { id } of page.traces.slice(0, 5))
      used += tokensOf(JSON.stringify(await api.trace({ project, trace: id, level: 'summary' })));
    used += tokensOf(JSON.stringify(await api.trace({ project, trace: page.traces[0]!.id, level: 'full' })));
    expect(used / all.tokens).toBeLessThanOrEqual(0.15);
  });

  test('one trace is cut to the tokens of its level, whatever it contains', async () => {
    const files = Array.from({ length: 50 }, (_, index) => `src/${'試'.repeat(150)}${index}.ts`);
    const { id } = await store('試'.repeat(4_000), { correct: '験'.repeat(2_000), why: '験'.repeat(2_000), files });
    for (const level of ['metadata', 'summary', 'full'] as const) {
      const view = await api.trace({ project, trace: id, level });
      expect(tokensOf(JSON.stringify(view)), level).toBeLessThanOrEqual(LEVEL_TOKENS[level]);
    }
  });

  test('traces that repeat are a pattern, the most frequent first, with what it asks for', async () => {
    for (let index = 0; index < 3; index += 1) await store('Dates are local', { type: 'correction', key: 'utc' });
    const found = await api.patterns({ project });
    expect(found[0]).toMatchObject({ type: 'violation', count: 60, suggests: 'guard or lesson' });
    expect(found.find(({ key }) => key === 'person:correction:utc')).toMatchObject({
      count: 3,
      suggests: 'guard or lesson',
    });
    expect(await api.patterns({ project, least: 61 })).toEqual([]);
    expect((await api.patterns({ project, type: 'correction' })).map(({ count }) => count)).toEqual([3]);
  });

  test('secrets and hidden characters are not kept', async () => {
    const view = await store('password=hunter2 sk-abcdefghijklmnopqrstuv \u001b[31mred\u202e');
    expect(view.what).toBe('password=*** *** red');
    const [found] = (await api.traces({ project, words: 'hunter2' })).traces;
    expect(found?.what ?? '').not.toContain('hunter2');
  });

  test.each([
    ['an unknown task', () => store('x', { task: 99 }), 'not_found'],
    ['an empty text', () => store('  '), 'bad_input'],
    ['a text without end', () => store('x'.repeat(4_001)), 'bad_input'],
    ['an unknown type', () => store('x', { type: 'opinion' }), 'bad_input'],
    ['an opinion beside the facts', () => store('x', { score: 10 }), 'bad_input'],
    ['too many files', () => store('x', { files: Array.from({ length: 51 }, () => 'a') }), 'bad_input'],
    ['an unknown trace', () => api.trace({ project, trace: 'trace_0' }), 'not_found'],
    ['a cursor of another list', () => api.traces({ project, cursor: 'o3' }), 'bad_input'],
    ['a cursor that was made up', () => api.traces({ project, words: 'x', cursor: "o1'; drop" }), 'bad_input'],
  ])('%s is refused, with a hint, and changes nothing', async (_what, call, code) => {
    const before = (await api.traces({ project, limit: 1 })).traces[0]?.id;
    const error = await failure(call());
    expect(error?.code).toBe(code);
    expect(error?.hint).not.toBe('');
    expect((await api.traces({ project, limit: 1 })).traces[0]?.id).toBe(before);
  });

  test('an agent may record 50 traces a day, and no more', async () => {
    const opened = await openFolderStore(openDataFolder(bed.env), bed.env);
    const by: Actor = { kind: 'agent', id: 'agent-1', name: 'claude' };
    const needs = { store: opened.store, clock: systemClock, ids: createIds(systemClock), hash: sha };
    const record = async (index: number) => {
      const said = {
        type: 'note',
        what: `noted ${index}`,
        correct: null,
        why: null,
        files: [],
        key: undefined,
      } as const;
      const trace = await ownTrace(needs, { id: project }, { ...said, files: [], task: null, by });
      await opened.store.execute({ type: 'trace.store', projectId: project, trace });
    };
    for (let index = 0; index < 50; index += 1) await record(index);
    const error = await failure(record(50));
    expect(error).toMatchObject({ code: 'too_large', message: expect.stringContaining('50 traces within a day') });
    await opened.store.close();
    expect((await api.traces({ project, source: 'agent', limit: 100 })).traces).toHaveLength(50);
  });
});

const sha = (text: string) => hash('sha256', text);
