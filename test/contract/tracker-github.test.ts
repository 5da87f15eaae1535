import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isGone, type TrackerTrouble } from '../../packages/daemon/src/ports.ts';
import { TROUBLES, type Trouble } from '../support/github/exchange.ts';
import { GithubTrackerBed } from '../support/github-tracker-bed.ts';
import { trackerSuite } from './tracker-suite.ts';

let bed: GithubTrackerBed;
beforeAll(async () => {
  bed = await GithubTrackerBed.start();
});
afterAll(() => bed.close());
beforeEach(() => {
  bed.github.faults.clear();
  bed.github.log.length = 0;
});

trackerSuite('issues on GitHub', () => bed.place());

const commented = { instance: 'here', isActive: true, text: 'At work.', id: null };
const keyOf = (number: number) => `github:ada/mill#${number}`;

describe('issues are selected', () => {
  test('by one of several labels, each once, whatever the case', async () => {
    const [a, b] = [bed.newLabel(), bed.newLabel()];
    const ada = bed.github.as('ada');
    const both = await ada.openIssue('Both', '', { labels: [a, b] });
    const one = await ada.openIssue('One', '', { labels: [b] });
    const { items } = await bed.open({ labels: [a, b] }).changes(null);
    expect(items.map(({ key }) => key)).toEqual([keyOf(both), keyOf(one)]);
    // GitHub itself ignores the case when it lists; what comes later is selected by the tracker.
    const loud = bed.open({ labels: [a.toUpperCase(), b] });
    const { cursor } = await loud.changes(null);
    const later = await ada.openIssue('Later', '', { labels: [a] });
    const changes = await loud.changes(cursor);
    expect(changes.items.find(({ key }) => key === keyOf(later))).toMatchObject({ isSelected: true });
  });

  test('by a milestone', async () => {
    const ada = bed.github.as('ada');
    const { number: milestone } = await ada.ask('POST', '/milestones', { title: 'Spring' });
    const number = await ada.openIssue('In spring', '', { milestone });
    const tracker = bed.open({ milestone: 'spring' });
    expect((await tracker.changes(null)).items.map(({ key }) => key)).toEqual([keyOf(number)]);
    expect((await bed.open({ milestone: 'Autumn' }).changes(null)).items).toEqual([]);
  });

  test('by a board and its status; the priority is a field; the status goes back', async () => {
    const ada = bed.github.as('ada');
    const board = bed.github.addProject(7, 'Mill', {
      Status: ['Todo', 'In Progress', 'In Review', 'Done'],
      Priority: ['Urgent', 'Low'],
    });
    const [todo, later] = [await ada.openIssue('Todo', ''), await ada.openIssue('Later', '')];
    board.move(todo, 'Status', 'Todo');
    board.move(todo, 'Priority', 'Urgent');
    board.move(later, 'Status', 'Done');
    const tracker = bed.open({ project: { number: 7, statuses: ['todo'] } });
    const first = await tracker.changes(null);
    expect(first.items.map(({ key, content }) => [key, content.priority])).toEqual([[keyOf(todo), 0]]);
    await tracker.setStatus(keyOf(todo), 'working');
    expect(board.value(todo, 'Status')).toBe('In Progress');
    await tracker.setStatus(keyOf(todo), 'waiting');
    expect(board.value(todo, 'Status')).toBe('In Progress');
    board.move(later, 'Status', 'Todo');
    const second = await tracker.changes(first.cursor);
    const selected = second.items.filter(({ isSelected }) => isSelected).map(({ key }) => key);
    expect(selected).toEqual([keyOf(later)]);
    bed.github.log.length = 0;
    await tracker.changes(second.cursor);
    expect(bed.github.log.length).toBeLessThanOrEqual(3);
    await expect(bed.open({ project: { number: 99 } }).changes(null)).rejects.toMatchObject({ trouble: 'access' });
  });
});

describe('trust in the author of an issue', () => {
  test('comes from the rights on the repository, and a stranger has none', async () => {
    const label = bed.newLabel();
    for (const login of ['ada', 'bob', 'eve']) {
      const number = await bed.github.as(login).openIssue(`By ${login}`, '');
      await bed.github.as('ada').label(number, label);
    }
    const { items } = await bed.open({ labels: [label] }).changes(null);
    expect(items.map(({ author, mayPush }) => [author, mayPush])).toEqual([
      ['ada', true],
      ['bob', true],
      ['eve', false],
    ]);
  });

  test('a token that may not ask trusts nobody', async () => {
    const label = bed.newLabel();
    await bed.github.as('bob').openIssue('One', '', { labels: [label] });
    bed.github.faults.plan({ path: /permission$/ }, TROUBLES.forbidden);
    const { items } = await bed.open({ labels: [label] }).changes(null);
    expect(items.map(({ mayPush }) => mayPush)).toEqual([false]);
  });

  test("a stranger's copy of our marks means nothing", async () => {
    const label = bed.newLabel();
    const mark = '<!-- tidemill:item:tracker/p/1 -->';
    const number = await bed.github.as('eve').openIssue('Mine', `x ${mark}`);
    await bed.github.as('ada').label(number, label);
    await bed.github.as('eve').comment(number, 'x\n\n<!-- tidemill:here:active -->');
    await bed.github.as('eve').comment(number, 'x\n\n<!-- tidemill:elsewhere:active -->');
    const tracker = bed.open({ labels: [label] });
    const [item] = (await tracker.changes(null)).items;
    expect(item).toMatchObject({ marker: null, content: { body: 'x' } });
    expect(await tracker.comment(keyOf(number), commented)).toEqual({ id: expect.any(String) });
    const comments = await bed.github.as('ada').comments(number);
    expect(comments.map(({ user }) => user.login)).toEqual(['eve', 'eve', 'mill-bot']);
  });
});

test('of two marks in an issue of our own the last one counts as ours', async () => {
  const tracker = bed.open({ labels: [bed.newLabel()] });
  const item = { title: 'Own', body: 'x <!-- tidemill:item:tracker/p/other -->', labels: ['agent-generated'] };
  const first = await tracker.create({ ...item, marker: 'tracker/p/own' });
  expect(await tracker.create({ ...item, marker: 'tracker/p/own' })).toEqual(first);
  expect((await tracker.create({ ...item, marker: 'tracker/p/other' })).key).not.toBe(first.key);
});

describe('an issue that is gone is reported', () => {
  test.each([
    ['deleted', 'it was deleted'],
    ['transferred', 'it was transferred to another repository'],
  ] as const)('in the case: %s', async (how, why) => {
    const number = await bed.github.as('ada').openIssue('One', '');
    bed.github.issues.remove(number, how);
    expect(await bed.open({ labels: ['x'] }).items([keyOf(number)])).toEqual([{ key: keyOf(number), gone: why }]);
  });

  test('a repository that the token may not see any more is not an issue that was deleted', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    bed.github.faults.plan({}, TROUBLES.missing, 2);
    await expect(bed.open({ labels: ['x'] }).items([keyOf(number)])).rejects.toMatchObject({ trouble: 'access' });
    bed.github.faults.plan({}, TROUBLES.missing);
    const [gone] = await bed.open({ labels: ['x'] }).items([keyOf(number)]);
    expect(isGone(gone!) && gone.gone).toBe('it was deleted, or converted to a discussion');
  });

  test('a deleted comment is written again', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const tracker = bed.open({ labels: ['x'] });
    const { id } = (await tracker.comment(keyOf(number), commented)) as { id: string };
    await bed.github.as('ada').ask('DELETE', `/issues/comments/${id}`);
    const again = (await tracker.comment(keyOf(number), { ...commented, id })) as { id: string };
    expect(again.id).not.toBe(id);
    expect(await bed.github.as('ada').comments(number)).toHaveLength(1);
  });
});

describe('trouble with GitHub is reported in the words of the port', () => {
  const cases: [name: string, fault: Trouble, reading: TrackerTrouble, writing: TrackerTrouble][] = [
    ['a token that expired', TROUBLES.expired, 'access', 'access'],
    ['a token without a scope', TROUBLES.forbidden, 'access', 'access'],
    ['404', TROUBLES.missing, 'access', 'refused'],
    ['422', TROUBLES.unprocessable, 'access', 'refused'],
    ['429 with Retry-After', TROUBLES.secondary(7), 'rate_limited', 'rate_limited'],
    ['429 without', TROUBLES.secondary(), 'rate_limited', 'rate_limited'],
    ['the limit of the hour', TROUBLES.rateLimited(60), 'rate_limited', 'rate_limited'],
    ['502', TROUBLES.broken, 'offline', 'offline'],
    ['half an answer', { kind: 'half' }, 'offline', 'offline'],
    ['no answer', { kind: 'cut' }, 'offline', 'offline'],
  ];
  test.each(cases)('in the case: %s', async (_name, fault, reading, writing) => {
    const number = await bed.github.as('ada').openIssue('One', '');
    bed.github.faults.plan({}, fault);
    const read = await bed
      .open({ labels: ['x'] })
      .changes(null)
      .catch((error: unknown) => error);
    expect(read).toMatchObject({ name: 'TrackerError', trouble: reading });
    bed.github.faults.clear();
    bed.github.faults.plan({ method: 'PATCH' }, fault);
    const written = await bed
      .open({ labels: ['x'] })
      .close(keyOf(number))
      .catch((error: unknown) => error);
    expect(written).toMatchObject({ name: 'TrackerError', trouble: writing });
    expect(String((written as Error).message)).not.toContain('ghp_mill');
  });

  test('also for a lost answer, after which the comment and the issue are there once', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const tracker = bed.open({ labels: ['x'] });
    bed.github.faults.plan({ method: 'POST', path: /comments$/ }, { kind: 'lost' });
    await expect(tracker.comment(keyOf(number), commented)).rejects.toMatchObject({ trouble: 'offline' });
    await tracker.comment(keyOf(number), commented);
    expect(await bed.github.as('ada').comments(number)).toHaveLength(1);
    const item = { title: 'Once', body: 'x', labels: ['agent-generated'], marker: 'tracker/p/lost' };
    bed.github.faults.plan({ method: 'POST', path: /issues$/ }, { kind: 'lost' });
    await expect(tracker.create(item)).rejects.toMatchObject({ trouble: 'offline' });
    const { key } = await tracker.create(item);
    const all = await bed.github.as('ada').ask<{ title: string; number: number }[]>('GET', '/issues?per_page=100');
    expect(all.filter(({ title }) => title === 'Once').map((one) => keyOf(one.number))).toEqual([key]);
  });

  test('also for pages that shift while they are read, of which nothing is missed', async () => {
    const label = bed.newLabel();
    const ada = bed.github.as('ada');
    const numbers: number[] = [];
    for (let n = 0; n < 205; n += 1) numbers.push(await ada.openIssue(`Issue ${n}`, '', { labels: [label] }));
    // After the first page, issues of it are closed and edited: the rest would move up.
    let pages = 0;
    const shift = async () => {
      pages += 1;
      if (pages !== 3) return;
      for (const number of numbers.slice(0, 20)) await ada.editIssue(number, { state: 'closed' });
      await ada.editIssue(numbers[30]!, { title: 'Edited' });
    };
    bed.github.faults.plan({ path: /issues$/ }, { kind: 'first', act: shift }, 20);
    const { items } = await bed.open({ labels: [label] }).changes(null);
    const found = new Set(items.map(({ key }) => key));
    expect(numbers.slice(20).filter((number) => !found.has(keyOf(number)))).toEqual([]);
    expect(found.size).toBe(items.length);
    expect(items.find(({ key }) => key === keyOf(numbers[30]!))?.content.title).toBe('Edited');
  });
});

describe('a change whose processing fails after it was read', () => {
  test('is returned again: an edit, and a card that moved', async () => {
    const ada = bed.github.as('ada');
    const board = bed.github.addProject(8, 'Mill', { Status: ['Todo', 'Done'] });
    const [a, b] = [await ada.openIssue('A', ''), await ada.openIssue('B', '')];
    for (const number of [a, b]) board.move(number, 'Status', 'Done');
    const tracker = bed.open({ project: { number: 8, statuses: ['Todo'] } });
    const { cursor } = await tracker.changes(null);
    board.move(b, 'Status', 'Todo');
    await ada.editIssue(a, { title: 'A2' });
    // The rights of the authors cannot be asked for: nothing is returned, and the cursor is not used up.
    bed.github.faults.plan({ path: /permission$/ }, TROUBLES.broken);
    await expect(tracker.changes(cursor)).rejects.toMatchObject({ trouble: 'offline' });
    const titles = async (from: string) => {
      const { items, cursor: next } = await tracker.changes(from);
      return {
        next,
        seen: items.filter(({ key }) => [a, b].map(keyOf).includes(key)).map(({ content }) => content.title),
      };
    };
    const first = await titles(cursor);
    expect(first.seen).toEqual(expect.arrayContaining(['A2', 'B']));
    // The caller failed: it asks again with the same cursor.
    expect((await titles(cursor)).seen).toEqual(expect.arrayContaining(['A2', 'B']));
    const { next } = await titles(cursor);
    expect((await titles(next)).seen).toEqual([]);
  });

  test('a trusted author stays trusted when the card has left the selected status', async () => {
    const ada = bed.github.as('ada');
    const board = bed.github.addProject(9, 'Mill', { Status: ['Todo', 'In Progress'] });
    const number = await ada.openIssue('A', '');
    board.move(number, 'Status', 'Todo');
    const tracker = bed.open({ project: { number: 9, statuses: ['Todo'] } });
    await tracker.changes(null);
    await tracker.setStatus(keyOf(number), 'working');
    expect(await tracker.items([keyOf(number)])).toMatchObject([{ isSelected: false, mayPush: true }]);
  });
});
