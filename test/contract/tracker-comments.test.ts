import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TROUBLES } from '../support/github/exchange.ts';
import { GithubTrackerBed } from '../support/github-tracker-bed.ts';

let bed: GithubTrackerBed;
beforeAll(async () => {
  bed = await GithubTrackerBed.start();
});
afterAll(() => bed.close());
beforeEach(() => {
  bed.github.faults.clear();
  bed.github.log.length = 0;
});

const commented = { instance: 'here', isActive: true, text: 'At work.', id: null };
const keyOf = (number: number) => `github:ada/mill#${number}`;

describe('comments on a GitHub issue', () => {
  test('of programs and of Tidemills do not count as words of people', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const tracker = bed.open({ labels: ['x'] });
    const { cursor } = await tracker.changes(null);
    await tracker.comment(keyOf(number), commented);
    await bed.github.as('bob').comment(number, 'At work.\n\n<!-- tidemill:elsewhere:active -->\n');
    await bed.github.as('bob').comment(number, 'It says <!-- tidemill:elsewhere:active --> there. Why?');
    const program = { id: 9, body: 'Coverage fell.', issue_url: `${bed.github.url}/repos/ada/mill/issues/${number}` };
    const rows = ['Bot', 'User'].map((type, at) => ({
      ...{ ...program, id: 9 + at, author_association: 'OWNER', updated_at: '2100-01-01T00:00:00Z' },
      user: { login: type === 'Bot' ? 'coverage' : 'coverage[bot]', type },
    }));
    expect((await tracker.changes(cursor)).comments.map(({ author, text }) => [author, text])).toEqual([
      ['bob', 'It says <!-- tidemill:elsewhere:active --> there. Why?'],
    ]);
    bed.github.faults.plan({ path: /issues\/comments$/ }, { kind: 'answer', answer: { status: 200, body: rows } });
    expect((await tracker.changes(cursor)).comments).toEqual([]);
  });

  test('of many people at once cost one request for each hundred, and one for an unchanged list', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const tracker = bed.open({ labels: ['x'] });
    const { cursor } = await tracker.changes(null);
    for (let n = 0; n < 150; n += 1) await bed.github.as(n % 2 ? 'ada' : 'eve').comment(number, `Comment ${n}`);
    const { comments, cursor: next } = await tracker.changes(cursor);
    expect(new Set(comments.map(({ id }) => id)).size).toBe(150);
    expect(comments.filter(({ mayPush }) => mayPush)).toHaveLength(75);
    await tracker.changes(next);
    bed.github.log.length = 0;
    expect((await tracker.changes(next)).comments).toEqual([]);
    expect(bed.github.log.map(({ status }) => status)).toEqual([304, 304]);
  });

  test('that cannot be read, or whose authors cannot be asked about, are returned later', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const tracker = bed.open({ labels: ['x'] });
    const { cursor } = await tracker.changes(null);
    await bed.github.as('bob').comment(number, 'Round it.');
    for (const path of [/issues\/comments$/, /permission$/]) {
      bed.github.faults.plan({ path }, TROUBLES.broken);
      await expect(tracker.changes(cursor)).rejects.toMatchObject({ trouble: 'offline' });
    }
    expect((await tracker.changes(cursor)).comments.map(({ text }) => text)).toEqual(['Round it.']);
  });
});

describe('two Tidemills on one issue', () => {
  test('let a person take over what the comment of the other one keeps', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const [first, second] = [bed.open({ labels: ['x'] }), bed.open({ labels: ['x'] }, 'ghp_bob')];
    await first.comment(keyOf(number), commented);
    const other = { ...commented, instance: 'other', isTakenOver: true };
    expect(await second.comment(keyOf(number), other)).toEqual({ id: expect.any(String) });
    expect(await second.comment(keyOf(number), other)).toEqual({ id: expect.any(String) });
    expect(await bed.github.as('ada').comments(number)).toHaveLength(2);
  });

  test('the earlier comment wins, and an ended one does not count', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const key = keyOf(number);
    const [first, second] = [bed.open({ labels: ['x'] }), bed.open({ labels: ['x'] }, 'ghp_bob')];
    const mine = (await first.comment(key, commented)) as { id: string };
    expect(await second.comment(key, { ...commented, instance: 'other' })).toEqual({ takenBy: 'here (mill-bot)' });
    await first.comment(key, { ...commented, isActive: false, id: mine.id });
    expect(await second.comment(key, { ...commented, instance: 'other' })).toEqual({ id: expect.any(String) });
    expect(await bed.github.as('ada').comments(number)).toHaveLength(2);
  });

  test('a mark that is quoted, or of a member who may not push, stops nothing', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const mark = '<!-- tidemill:elsewhere:active -->';
    await bed.github.as('bob').comment(number, `It says ${mark} there. Why?`);
    const row = { id: 1, body: `At work.\n\n${mark}`, user: { login: 'eve' }, author_association: 'MEMBER' };
    const [quoted] = await bed.github.as('ada').comments(number);
    const body = [row, quoted];
    bed.github.faults.plan({ method: 'GET', path: /comments$/ }, { kind: 'answer', answer: { status: 200, body } }, 2);
    expect(await bed.open({ labels: ['x'] }).comment(keyOf(number), commented)).toEqual({ id: expect.any(String) });
  });

  test('that comment at the same moment do not both work: the later one takes its comment back', async () => {
    const number = await bed.github.as('ada').openIssue('One', '');
    const second = bed.open({ labels: ['x'] }, 'ghp_bob');
    const rival = () => bed.github.as('mill-bot').comment(number, 'At work.\n\n<!-- tidemill:first:active -->');
    // The other comment comes between reading and writing.
    bed.github.faults.plan({ method: 'POST', path: /comments$/ }, { kind: 'first', act: rival });
    expect(await second.comment(keyOf(number), commented)).toEqual({ takenBy: 'first (mill-bot)' });
    expect(await bed.github.as('ada').comments(number)).toHaveLength(1);
  });
});
