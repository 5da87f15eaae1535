import { AppError, personActor } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import type { EngineBed } from '../../../../../test/support/engine-bed.ts';
import { categoryText, openLoop, proposalDraft, seenIn } from '../../../../../test/support/loop-bed.ts';
import { SimTracker } from '../../../../../test/support/sim-tracker.ts';
import type { Store } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { openItems } from '../loop/open-items.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ada = personActor('ada');
let bed: EngineBed;
afterEach(() => bed.close());

const open = async (world: Parameters<typeof openLoop>[0]) => {
  bed = await openLoop(world);
};
const proposals = () => seenIn(bed).proposals();
const states = () => seenIn(bed).states();
const used = () => seenIn(bed).used();
const alertText = (kind: string) => seenIn(bed).alertText(kind);

describe('with an empty queue the loop', () => {
  test('asks an agent within 30 seconds; the proposal is a task of its category, claimed within 2 minutes, and lands', async () => {
    await open({
      ideas: { testing: proposalDraft('Grease the wheel'), security: 'nothing' },
      loop: { categories: ['testing'] },
    });
    await bed.pass(30 * SECOND);
    const modes = (await bed.log('run.started')).map(({ body }) => (body as { mode: string }).mode);
    expect(modes[0]).toBe('propose');
    expect(modes).toContain('implement');
    await bed.pass(2 * MINUTE);
    const [task] = await bed.store.tasks({ projectId: bed.projectId });
    expect(task).toMatchObject({
      title: 'Grease the wheel',
      kind: 'improvement',
      origin: { kind: 'loop', category: 'testing' },
      criteria: [{ text: 'a test shows that Grease the wheel is done' }, {}, {}],
    });
    await bed.pass(10 * MINUTE);
    expect(await states()).toEqual(['testing landed']);
    const [made] = await bed.log('proposal.accepted');
    const [claimed] = (await bed.log('lease.claimed')).filter(
      ({ body }) => 'subjectId' in body && body.subjectId === task!.id,
    );
    expect(claimed!.at - made!.at).toBeLessThan(2 * MINUTE);
  });

  test('does nothing while it is off, stops when it is switched off, and begins when it is switched on', async () => {
    await open({ ideas: { testing: 'silent' }, loop: { enabled: false } });
    await bed.pass(HOUR);
    expect(await used()).toEqual([]);
    await bed.must({ type: 'loop.switch', projectId: bed.projectId, on: true, by: ada });
    await bed.pass(10 * SECOND);
    expect(await used()).toEqual(['testing']);
    await bed.must({ type: 'loop.switch', projectId: bed.projectId, on: false, by: ada });
    await bed.pass(10 * SECOND);
    expect(await bed.log('job.ended')).toMatchObject([{ body: { status: 'cancelled' } }]);
  });

  test('tries the next category after nothing, a duplicate, missing files and prose', async () => {
    await open({
      ideas: {
        a: 'nothing',
        b: proposalDraft('Oil the old gate'),
        c: proposalDraft('Paint the door', { files: ['door.ts'], dependencies: ['left-pad', '#99'] }),
        d: 'dies',
        e: proposalDraft('Sharpen the millstone', { dependencies: ['react@19', 'node:fs', '#1'] }),
      },
    });
    await bed.add(1, { title: 'Oil the old gate', body: 'Oil the old gate makes the mill better.' });
    await bed.pass(30 * MINUTE);
    expect((await used()).slice(0, 5)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await states()).toEqual(['b duplicate', 'c invalid', 'e landed']);
    const [twin, missing] = await proposals();
    expect(twin).toMatchObject({ number: 1, related: [{ ref: '#1', title: 'Oil the old gate' }] });
    expect(twin?.why).toContain('it is the same as #1 "Oil the old gate"');
    expect(missing?.why).toContain('files that do not exist: door.ts');
    expect(missing?.why).toContain('does not have: left-pad, #99');
    const day = (await bed.log('category.rested')).map(({ body }) => (body as { category: string }).category);
    expect(day.slice(0, 4)).toEqual(['a', 'b', 'c', 'd']);
    const e = (await bed.store.tasks({ projectId: bed.projectId, search: 'millstone' }))[0];
    expect(e?.dependsOn).toEqual(['task_1']);
  });

  test('drops what an open issue asks for that is no task, and goes on while the tracker fails', async () => {
    const board = new SimTracker();
    const body = 'Oil the old gate makes the mill better.';
    board.add('Oil the old gate', { labels: [], body, author: 'eve', mayPush: false });
    board.add('Paint the door', { labels: [], body: 'It creaks.', state: 'closed' });
    const tracker = { tracker: board, trust: 'push' as const, pollMs: DAY, offersProposals: false, closes: false };
    await open({
      ideas: { a: proposalDraft('Oil the old gate'), b: proposalDraft('Paint the door') },
      deps: () => ({ tracker }),
    });
    await bed.pass(30 * MINUTE);
    expect(await states()).toEqual(['a duplicate', 'b landed']);
    const [twin] = await proposals();
    expect(twin?.why).toMatch(/the same as sim:board#1 "Oil the old gate" \(open in the tracker, \d+ % alike\)/);

    const notes: string[] = [];
    const project = { id: bed.projectId } as EngineDeps['project'];
    const deps = { tracker, store: bed.store, project, clock: bed.clock, onNote: (text: string) => notes.push(text) };
    board.troubles.push({ trouble: 'offline', on: 'open items' });
    expect((await openItems(deps)).map(({ title }) => title)).toEqual(['Oil the old gate']);
    expect(notes).toEqual([expect.stringContaining('the open items of sim:board cannot be read')]);
  });

  test('has one alert when all categories rest, stays idle, and goes on after the rest', async () => {
    await open({ ideas: { a: 'nothing', b: 'nothing' } });
    await bed.pass(HOUR);
    expect(await bed.alerts()).toEqual(['warning loop_exhausted']);
    expect(await alertText('loop_exhausted')).toContain('All 2 categories in use rest.');
    await bed.pass(3 * HOUR);
    expect(await bed.log('alert.raised')).toHaveLength(1);
    expect(await used()).toEqual(['a', 'b']);
    bed.clock.jump(7 * DAY);
    await bed.pass(2 * MINUTE);
    expect((await used()).length).toBeGreaterThan(2);
  });

  test('skips a category whose text is missing or broken with one note, and one that is switched off', async () => {
    await open({
      ideas: {
        broken: proposalDraft('Nothing of this'),
        off: proposalDraft('Nor of this'),
        good: proposalDraft('But this'),
      },
      texts: [
        categoryText('broken', { fault: 'x.md:3: there is no placeholder {nam}' }),
        categoryText('off', { isOff: true }),
        categoryText('good'),
      ],
    });
    await bed.pass(10 * MINUTE);
    expect(await states()).toEqual(['good landed']);
    expect(bed.notes.filter((note) => note.includes('broken'))).toEqual([
      'the loop skips the category broken: x.md:3: there is no placeholder {nam}',
    ]);
  });

  test('goes on with another category when no task can be made of a proposal', async () => {
    await open({
      ideas: { a: proposalDraft('Turn the first wheel'), b: proposalDraft('Mend a broken sail') },
      deps: failingOnce,
    });
    await bed.pass(10 * MINUTE);
    expect(await states()).toEqual(['a refused', 'b landed']);
    expect((await proposals())[0]?.why).toContain('no task could be made of it');
    expect(bed.notes.join()).toContain('no task could be made of proposal 1');
  });

  test('waits while the store is unreachable, and then goes on with the same choice', async () => {
    let failures = 3;
    const broken = (self: EngineBed): Partial<EngineDeps> => ({
      store: changed(self.store, 'loop.propose', () => {
        failures -= 1;
        if (failures >= 0) throw new AppError('store_failed', 'no store', { retriable: true });
      }),
    });
    await open({ ideas: { a: proposalDraft('Grease the wheel'), b: 'nothing' }, deps: broken });
    await bed.pass(10 * MINUTE);
    expect((await used())[0]).toBe('a');
    expect(await states()).toEqual(['a landed']);
    expect(bed.notes.join()).toMatch(/the store is unavailable|retrying/);
  });
});

describe('where a person approves proposals', () => {
  test('three proposals wait, none is a task, and a restart loses none', async () => {
    await open({
      ideas: {
        a: proposalDraft('Grease the wheel'),
        b: proposalDraft('Paint a door'),
        c: proposalDraft('Mend some sails'),
        d: proposalDraft('Weigh flour'),
      },
      loop: { min: 3, max: 10, approval: 'requires_approval' },
    });
    await bed.pass(2 * SECOND);
    await bed.stop();
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect(await states()).toEqual(['a waiting', 'b waiting', 'c waiting']);
    expect(await bed.store.tasks({ projectId: bed.projectId })).toEqual([]);
    const [first] = await proposals();
    const about = { projectId: bed.projectId, proposalId: first!.id, categoryId: first!.categoryId };
    await bed.must({ type: 'proposal.refuse', ...about, why: 'no', by: ada });
    await bed.pass(MINUTE);
    expect(await states()).toEqual(['a refused', 'b waiting', 'c waiting', 'd waiting']);
  });

  test('a stall of an hour is told with what waits for what, and is over with the next step', async () => {
    await open({ ideas: { a: proposalDraft('Grease the wheel') }, loop: { approval: 'requires_approval' } });
    await bed.pass(59 * MINUTE);
    expect(await bed.alerts()).toEqual([]);
    await bed.pass(5 * MINUTE);
    expect(await bed.alerts()).toEqual(['warning loop_stalled']);
    expect(await alertText('loop_stalled')).toContain('1 proposal waits for a yes: `tidemill loop proposals`.');
    const [first] = await proposals();
    const about = { projectId: bed.projectId, proposalId: first!.id, categoryId: first!.categoryId };
    await bed.must({ type: 'proposal.refuse', ...about, why: 'no', by: ada });
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).not.toContain('warning loop_stalled');
  });

  test('notify_and_proceed makes the task and tells the person', async () => {
    await open({ ideas: { a: proposalDraft('Grease the wheel') }, loop: { approval: 'notify_and_proceed' } });
    await bed.pass(MINUTE);
    expect(await bed.store.tasks({ projectId: bed.projectId })).toMatchObject([
      { number: 1, title: 'Grease the wheel', kind: 'improvement', origin: { kind: 'loop', category: 'a' } },
    ]);
    expect(await alertText('autonomy')).toContain('The loop added #1 Grease the wheel (proposal 1, a).');
  });
});

describe('the loop limits itself', () => {
  test('the loop pauses with an alert when too many runs fail, and goes on when it is switched on', async () => {
    await open({ ideas: { a: 'dies', b: 'dies', c: 'dies', d: 'dies', e: 'nothing' } });
    await bed.pass(HOUR);
    expect(await bed.alerts()).toContain('error loop_paused');
    expect(await alertText('loop_paused')).toContain('runs of the last day failed, more than 50 %');
    const before = (await used()).length;
    await bed.pass(3 * HOUR);
    expect(await used()).toHaveLength(before);
    await bed.must({ type: 'loop.switch', projectId: bed.projectId, on: true, by: ada });
    await bed.pass(MINUTE);
    expect(await bed.alerts()).not.toContain('error loop_paused');
  });

  test('the loop counts landed work that a later commit reverts', async () => {
    await open({ ideas: { a: proposalDraft('Grease the wheel') } });
    await bed.pass(10 * MINUTE);
    const [task] = await bed.store.tasks({ projectId: bed.projectId });
    const commits = [{ commit: 'f00', subject: 'Revert', reverts: [task!.landedCommit!] }];
    bed.repository.recentCommits = async () => commits as never;
    await bed.pass(2 * MINUTE);
    expect(await states()).toEqual(['a reverted']);
    expect(await bed.store.records({ noun: 'category', projectId: bed.projectId })).toMatchObject([
      { landed: 1, reverted: 1 },
    ]);
  });
});

/** The first task cannot be made. */
function failingOnce(self: EngineBed): Partial<EngineDeps> {
  let isFirst = true;
  return {
    store: changed(self.store, 'task.create', () => {
      const fails = isFirst;
      isFirst = false;
      return fails
        ? { ok: false, index: 0, refusal: { code: 'unknown_pipeline', message: 'no pipeline', hint: '' } }
        : undefined;
    }),
  };
}

/** A store that does something else at this command. */
function changed(store: Store, type: string, instead: () => unknown): Store {
  const run = (method: 'execute' | 'executeAll') => async (given: { type: string } | { type: string }[]) => {
    const isIt = [given].flat().some((command) => command.type === type);
    const answer = isIt ? instead() : undefined;
    return answer ?? (store[method] as (given: unknown) => Promise<unknown>)(given);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'execute' || name === 'executeAll') return run(name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
