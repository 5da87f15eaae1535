import { ENGINE, type Trace } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, rules, sharedPlaces } from './store-bed.ts';

const places = { memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') };
const OTHER = 'project_2';

describe.each(Object.entries(places))('searching the text of records in %s', (_name, makePlace) => {
  let place: Place;
  let mill: Mill;
  let made = 0;
  beforeEach(async () => {
    made = 0;
    place = await makePlace();
    mill = await (await open(place)).register();
    await mill.must({ type: 'project.register', projectId: OTHER, name: 'two', root: '/two', rules });
  });
  afterEach(async () => {
    await mill.store.close();
    await place.remove();
  });

  async function put(what: string, more: Partial<Trace> = {}, projectId = PROJECT): Promise<string> {
    made += 1;
    const id = `trace_${made}`;
    const about = { subjectId: null, runId: null, taskNumber: null, agent: null, files: [], correct: null, why: null };
    const trace = {
      id,
      type: 'note',
      source: 'person',
      key: `k${made}`,
      what,
      at: made,
      seq: null,
      by: ENGINE,
    } as const;
    await mill.must({ type: 'trace.store', projectId, trace: { ...about, ...trace, ...more } });
    return id;
  }
  const find = async (words: string | undefined, more: { tags?: string[]; limit?: number; before?: number } = {}) => {
    const asked = { noun: 'trace', projectId: PROJECT, limit: 10, ...more } as const;
    const found = await mill.store.searchRecords(words === undefined ? asked : { ...asked, words });
    return found.map(({ record }) => record.id);
  };

  test('words are found in other forms, the record with the most of them first', async () => {
    const tested = await put('The agent marked the feature as tested without any evidence');
    await put('A migration was renamed');
    const tests = await put('The tests were skipped');
    expect(await find('testing evidence')).toEqual([tested, tests]);
    expect(await find('EVIDENCE')).toEqual([tested]);
    expect(await find('nothing like this')).toEqual([]);
    expect(await find('!!! ?')).toEqual([]);
    const [best] = await mill.store.searchRecords({ noun: 'trace', words: 'tested evidence', limit: 1 });
    expect(best?.score).toBe(1);
  });

  test('rare words count more than common ones', async () => {
    for (let index = 0; index < 12; index += 1) await put(`the guard refused call ${index}`);
    const rare = await put('the guard refused a zeppelin');
    for (let index = 0; index < 12; index += 1) await put(`the guard refused call ${index + 20}`);
    expect((await find('refused zeppelin guard'))[0]).toBe(rare);
  });

  test('a word that thousands have does not hide the ones with a rarer word', async () => {
    const rare = await put('guard zeppelin');
    await Promise.all(Array.from({ length: 150 }, (_, index) => put(`guard balloon ${index}`)));
    expect((await find('guard zeppelin', { limit: 1 }))[0]).toBe(rare);
  });

  test('tags filter, with words and without, and the newest comes first', async () => {
    const first = await put('one red', { type: 'note', key: 'A b:ü', taskNumber: 7 });
    const second = await put('two red', { type: 'failure', taskNumber: 7 });
    const third = await put('three', { type: 'note' });
    expect(await find(undefined)).toEqual([third, second, first]);
    expect(await find(undefined, { tags: ['type:note'] })).toEqual([third, first]);
    expect(await find(undefined, { tags: ['type:note', 'task:7'] })).toEqual([first]);
    expect(await find('red', { tags: ['type:failure'] })).toEqual([second]);
    expect(await find(undefined, { tags: ['key:A b:ü'] })).toEqual([first]);
    expect(await find(undefined, { tags: ['key:a b:ü'] })).toEqual([]);
    // A text that looks like a tag is not one.
    await put('type:approval type_3a_approval');
    expect(await find(undefined, { tags: ['type:approval'] })).toEqual([]);
  });

  test('the list without words is read page by page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift(await put(`number ${index}`));
    const seen: string[] = [];
    for (let before: number | undefined; ; ) {
      const page = await mill.store.searchRecords({
        ...{ noun: 'trace', projectId: PROJECT, limit: 2 },
        ...(before === undefined ? {} : { before }),
      });
      seen.push(...page.map(({ record }) => record.id));
      before = page.at(-1)?.place;
      if (page.length < 2) break;
    }
    expect(seen).toEqual(ids);
  });

  test('projects are apart, and all of them are searched without one', async () => {
    const here = await put('a harbour');
    const there = await put('another harbour', {}, OTHER);
    expect(await find('harbour')).toEqual([here]);
    const all = await mill.store.searchRecords({ noun: 'trace', words: 'harbour', limit: 5 });
    expect(all.map(({ record }) => record.id).sort()).toEqual([here, there]);
  });

  test.each([
    ['another script', '日本語の試験が失敗した', '試験'],
    ['accents', 'Prüfung übersprungen', 'prüfung'],
    ['quotes and operators', `it's "quoted" OR NOT (x) AND words:* -y`, `"quoted" AND`],
    ['a null character', 'null\0character', 'character'],
    ['a word without end', 'x'.repeat(5_000), 'x'.repeat(5_000)],
    ['names in code', 'calls parseJsonFile in src/http/json_file.ts', 'json file'],
  ])('a text is found with %s in it', async (_what, text, words) => {
    await put('something else');
    const id = await put(text);
    expect((await find(words))[0]).toBe(id);
  });

  test('the same trace again changes nothing, and a flood of one run is counted only up to its limit', async () => {
    await put('again', { id: 'trace_x', key: 'same', runId: 'run_1' });
    const seq = await mill.store.lastSeq();
    await put('again', { id: 'trace_x', key: 'same', runId: 'run_1' });
    expect(await mill.store.lastSeq()).toBe(seq);
    for (let index = 0; index < 30; index += 1) await put('again', { key: 'same', runId: 'run_1' });
    await put('again', { key: 'same', runId: 'run_2' });
    const [pattern] = await mill.store.records({ noun: 'pattern', projectId: PROJECT });
    expect(pattern).toMatchObject({ key: 'same', count: 11, runs: 2, example: 'again' });
    expect(pattern?.traceIds).toHaveLength(10);
  });

  test('the log gives the same rows, and a repaired store still finds them', async () => {
    const id = await put('a lighthouse');
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
    await mill.store.repair();
    expect(await find('lighthouse')).toEqual([id]);
    if (!place.keepsOverReopening) return;
    await mill.store.close();
    mill = await open(place);
    expect(await find('lighthouse')).toEqual([id]);
  });
});
