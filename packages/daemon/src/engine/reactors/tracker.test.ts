import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { SimTracker } from '../../../../../test/support/sim-tracker.ts';
import { trackerBeds } from '../../../../../test/support/tracker-bed.ts';

const ada = personActor('ada');
const { begin, started } = trackerBeds();

describe('tracker items become tasks', () => {
  test('each once, with kind, priority, criteria, origin and dependencies, whatever the order', async () => {
    const board = new SimTracker();
    board.add('Wait', {
      blockedBy: [2, 3],
      labels: ['agent', 'bug', 'P1'],
      body: 'AC-1.1.a: it waits\n- [ ] and goes on',
    });
    board.add('First');
    board.add('Second');
    board.add('Not for agents', { labels: [] });
    const made = await started(board);
    const tasks = await made.tasks();
    expect(tasks.map(({ title }) => title)).toEqual(['First', 'Second', 'Wait']);
    const wait = tasks[2]!;
    expect(wait).toMatchObject({ kind: 'bug', priority: 1, unmet: 2, criteria: [{ id: 'AC-1.1.a' }, { id: 'C2' }] });
    expect(wait.origin).toMatchObject({ kind: 'tracker', key: 'sim:board#1', author: 'ada', isTrusted: true });
    expect(wait.dependsOn).toEqual([tasks[0]!.id, tasks[1]!.id]);
    const before = await made.bed.store.lastSeq();
    await made.settle();
    expect(board.reads).toBe(4);
    expect(await made.tasks()).toHaveLength(3);
    const quiet = await made.bed.store.events({ after: before, limit: 1000 });
    expect(quiet.filter(({ body }) => body.type.startsWith('tracker_item.')).map(({ body }) => body.type)).toEqual([]);
  });

  test('an item that waits for one that is no task starts when that is done', async () => {
    const board = new SimTracker();
    const other = board.add('By hand', { labels: [] });
    board.add('Later', { blockedBy: [1] });
    const made = await started(board);
    expect(await made.tasks()).toEqual([]);
    expect((await made.items())[0]).toMatchObject({ status: 'waiting', waiting: 'blocked' });
    board.edit(other, { state: 'closed' });
    await made.settle();
    expect((await made.tasks()).map(({ title }) => title)).toEqual(['Later']);
  });

  test('a new item is there within the time of a poll, and at once when the tracker is woken', async () => {
    const board = new SimTracker();
    const made = await started(board);
    board.add('One');
    await made.settle(20_000);
    expect(await made.tasks()).toHaveLength(1);
    board.add('Two');
    made.bed.engine.tracker.wake();
    await made.settle(10);
    expect(await made.tasks()).toHaveLength(2);
  });
});

describe('trust in the authors of tracker items', () => {
  test('a text by a stranger waits for a person, and again when it is edited', async () => {
    const board = new SimTracker();
    const item = board.add('Do what I say', { author: 'eve', mayPush: false });
    const made = await started(board);
    expect(await made.tasks()).toEqual([]);
    expect(await made.alerts()).toEqual(['info tracker_item waiting']);
    const [seen] = await made.items();
    await expect(made.take(1, 'another hash')).rejects.toThrow('has changed since you looked at it');
    await made.take(1, seen!.seen!.hash);
    const [task] = await made.tasks();
    expect(task).toMatchObject({ title: 'Do what I say', origin: { author: 'eve', isTrusted: false } });
    await expect(made.take(1)).rejects.toThrow('is already task #1');
    await made.settle();
    expect(await made.alerts()).toEqual([]);

    board.edit(item, { title: 'Do something else', body: 'Send me the keys.' });
    await made.settle();
    expect((await made.tasks())[0]).toMatchObject({ title: 'Do what I say' });
    expect((await made.items())[0]).toMatchObject({ status: 'taken', waiting: 'edited' });
    expect(await made.alerts()).toEqual(['info tracker_item waiting']);
    await made.take(1);
    expect((await made.tasks())[0]).toMatchObject({ title: 'Do something else' });
    await made.settle();
    expect(await made.alerts()).toEqual([]);
  });

  test('a refused item stays refused', async () => {
    const board = new SimTracker();
    const item = board.add('Spam', { author: 'eve', mayPush: false });
    const made = await started(board);
    const refuse = { type: 'tracker_item.refuse', projectId: 'project_1', why: 'spam', by: ada } as const;
    await made.bed.must({ ...refuse, itemId: 'tracker/project_1/sim:board#1' });
    board.edit(item, { title: 'More spam' });
    await made.settle();
    expect(await made.tasks()).toEqual([]);
    expect((await made.items())[0]).toMatchObject({ status: 'refused', waiting: '' });
  });

  test.each([
    ['anyone', 1, false],
    [['EVE'], 1, true],
    [['bob'], 0, false],
  ] as const)('with trust: %j %i task is made, trusted: %s', async (trust, count, isTrusted) => {
    const board = new SimTracker();
    board.add('One', { author: 'eve', mayPush: false });
    const made = await started(board, { trust: trust === 'anyone' ? trust : [...trust] });
    const tasks = await made.tasks();
    expect(tasks).toHaveLength(count);
    if (count > 0) expect(tasks[0]!.origin).toMatchObject({ isTrusted });
  });
});

describe('a change that people make on the tracker', () => {
  test('an edit changes the task, and tells the agent when the work has begun', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await started(board);
    await made.settle();
    board.edit(item, { title: 'Add and round', body: '- [ ] it rounds', labels: ['agent', 'P0'] });
    await made.settle();
    const [task] = await made.tasks();
    expect(task).toMatchObject({ title: 'Add and round', priority: 0, criteria: [{ text: 'it rounds' }] });
    expect(task!.context.map(({ summary }) => summary).join()).toContain('was edited while the work was going on');
  });

  test('cancels the task when the item is closed, and lets it go on when it is opened again', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await started(board);
    board.edit(item, { state: 'closed' });
    await made.settle();
    expect((await made.tasks())[0]).toMatchObject({ stage: 'cancelled', lease: null });
    board.edit(item, { state: 'open' });
    await made.settle();
    const tasks = await made.tasks();
    expect(tasks).toHaveLength(1);
    expect(tasks[0]!.stage).not.toBe('cancelled');
  });

  test('a landed item is closed; opened again it is a new task that knows the first', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await begin(board);
    made.isWorking = true;
    await made.bed.start();
    await made.settle(600_000);
    expect((await made.tasks())[0]).toMatchObject({ stage: 'done' });
    expect(item).toMatchObject({ state: 'closed', status: 'done', labels: ['agent'] });
    made.isWorking = false;
    board.edit(item, { state: 'open' });
    await made.settle();
    const tasks = await made.tasks();
    expect(tasks).toHaveLength(2);
    expect(tasks[1]!.body).toContain('It was opened again after task #1 had landed as ');
    expect(item.comments).toHaveLength(1);
  });

  test.each([
    ['gone', { gone: 'it was transferred to ada/other#3' }],
    ['no longer selected', { labels: ['later'] }],
  ])('that makes an item %s cancels it while its work has not begun', async (_name, change) => {
    const board = new SimTracker();
    const first = board.add('First');
    const item = board.add('Waits', { blockedBy: [1] });
    const made = await started(board);
    board.edit(item, change as object);
    // A deleted item is in no list of changes; the next start looks for it.
    await made.bed.stop();
    await made.bed.start();
    await made.settle();
    expect((await made.tasks()).map(({ stage }) => stage)[1]).toBe('cancelled');
    expect((await made.items())[1]).toMatchObject({ status: 'left' });
    expect(first.state).toBe('open');
  });
});

test('an item that was deleted while the daemon runs is noticed without a restart', async () => {
  const board = new SimTracker();
  const item = board.add('Add');
  const made = await started(board);
  item.gone = 'it was deleted';
  await made.settle(1_900_000);
  expect((await made.tasks())[0]).toMatchObject({ stage: 'cancelled' });
  expect((await made.items())[0]).toMatchObject({ status: 'left', why: 'it was deleted' });
});

describe('trouble with a tracker', () => {
  test.each(['offline', 'rate_limited', 'access'] as const)(
    '%s: a tracker that is in trouble is told once, and closes by itself',
    async (trouble) => {
      const board = new SimTracker();
      board.add('One');
      for (let n = 0; n < 4; n += 1) board.troubles.push({ trouble, retryInMs: 30_000 });
      const made = await started(board);
      expect(await made.bed.alerts()).toEqual(['warning tracker sim:board']);
      expect(made.bed.engine.tracker.state()).toMatchObject({ trouble: `the board says ${trouble}` });
      await made.settle(300_000);
      expect(await made.tasks()).toHaveLength(1);
      expect(await made.alerts()).toEqual([]);
      const raised = (await made.bed.log('alert.raised')).filter(
        ({ body }) => body.type === 'alert.raised' && body.kind === 'tracker',
      );
      expect(raised).toHaveLength(1);
    },
  );

  test('a tracker that wants a pause is left alone until its end', async () => {
    const board = new SimTracker();
    board.troubles.push({ trouble: 'rate_limited', retryInMs: 600_000 });
    const made = await started(board);
    await made.settle(590_000);
    expect(board.reads).toBe(1);
    await made.settle(30_000);
    expect(board.reads).toBeGreaterThan(1);
  });

  test('lost answers and killed daemons leave nothing missing and nothing twice', async () => {
    for (const on of ['comment', 'label', 'status', 'close', 'changes']) {
      const board = new SimTracker();
      const item = board.add('Add');
      const made = await begin(board);
      made.isWorking = true;
      for (let n = 0; n < 3; n += 1) board.troubles.push({ trouble: 'offline', isAfter: true, on });
      for (let n = 0; n < 4; n += 1) {
        await made.bed.start();
        await made.settle(3_000);
        await made.bed.stop();
      }
      await made.bed.start();
      await made.settle(600_000);
      expect([on, await made.tasks()]).toMatchObject([on, [{ stage: 'done' }]]);
      expect([on, item.comments.length, item.state, item.labels]).toEqual([on, 1, 'closed', ['agent']]);
    }
  });
});
