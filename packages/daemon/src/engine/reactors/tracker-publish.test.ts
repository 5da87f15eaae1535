import { describe, expect, test } from 'vitest';
import { SimTracker } from '../../../../../test/support/sim-tracker.ts';
import { trackerBeds } from '../../../../../test/support/tracker-bed.ts';

const { begin, started } = trackerBeds();

describe('the report to a tracker', () => {
  test('is one comment that is edited, with labels and a status for each stage; then the item is closed', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await begin(board);
    made.isWorking = true;
    await made.bed.start();
    await made.settle(600_000);
    expect(item.comments).toHaveLength(1);
    expect(item.comments[0]).toMatchObject({ isActive: false });
    expect(item.comments[0]!.text).toContain('done, landed as');
    expect(board.writes.filter((write) => write.startsWith('comment'))).toHaveLength(1);
    expect(board.writes.at(-1)).toBe('close 1');
  });

  test('removes a label of a write that was not recorded before a crash', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await started(board);
    await made.settle();
    await made.bed.stop();
    board.edit(item, { labels: [...item.labels, 'tidemill:needs-you'] });
    made.isWorking = true;
    await made.bed.start();
    await made.settle(600_000);
    expect((await made.tasks())[0]).toMatchObject({ stage: 'done' });
    expect(item.labels).toEqual(['agent']);
  });

  test('an item that the tracker refuses stops no other; a person is told once', async () => {
    const board = new SimTracker();
    board.add('One');
    board.add('Two');
    for (let n = 0; n < 20; n += 1) board.troubles.push({ trouble: 'refused', on: 'label sim:board#1' });
    const made = await started(board);
    await made.settle();
    const items = await made.items();
    expect(items.filter(({ error }) => error !== null)).toHaveLength(1);
    expect(await made.alerts()).toEqual(['warning tracker_item sim:board#1']);
    expect(board.all[1]!.labels).toContain('tidemill:in-progress');
    board.troubles.length = 0;
    await made.settle(700_000);
    expect(board.all[0]!.labels).toContain('tidemill:in-progress');
    expect(await made.alerts()).toEqual([]);
  });
});

describe('two Tidemills', () => {
  test('leave an item alone that the other one works on, by its label and by its comment', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const first = await started(board);
    await first.settle();
    expect(item.labels).toContain('tidemill:in-progress');
    const second = await started(board, {}, { host: 'other' });
    expect(await second.tasks()).toEqual([]);
    expect((await second.items())[0]).toMatchObject({
      status: 'left',
      why: expect.stringContaining('another Tidemill'),
    });
  });

  test('that see an item at the same time do not both work on it: the second gives up', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const [first, second] = [await begin(board), await begin(board, {}, { host: 'other' })];
    await first.bed.start();
    await second.bed.start();
    await Promise.all([first.settle(), second.settle()]);
    const stages = [await first.tasks(), await second.tasks()].map(([task]) => task?.stage);
    expect(stages.filter((stage) => stage === 'cancelled' || stage === undefined)).toHaveLength(1);
    expect(item.comments).toHaveLength(1);
    // The claim comes before the agent: only one was started.
    const runs = await Promise.all([first.bed.log('run.started'), second.bed.log('run.started')]);
    expect(runs.map(({ length }) => length).sort()).toEqual([0, 1]);
  });

  test('a person can take over an item whose other Tidemill is lost', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const lost = await started(board);
    await lost.settle();
    await lost.bed.stop();
    const second = await started(board, {}, { host: 'other' });
    await second.take(1);
    second.isWorking = true;
    await second.settle(600_000);
    expect((await second.tasks()).map(({ stage }) => stage)).toEqual(['done']);
    expect(item.state).toBe('closed');
  });

  test('work does not wait for a tracker that does not answer', async () => {
    const board = new SimTracker();
    board.add('Add');
    const made = await begin(board);
    board.comment = () => new Promise(() => undefined);
    await made.bed.start();
    await made.settle(20_000);
    expect(await made.bed.log('run.started')).toHaveLength(1);
  });
});

describe('the loop’s own proposals on a tracker', () => {
  const origin = { kind: 'loop' as const, id: 'proposal_1', category: 'security' };

  test.each([undefined, 'offline'] as const)(
    'an accepted proposal becomes one item with its labels, whatever fails between (%s)',
    async (trouble) => {
      const board = new SimTracker();
      const made = await begin(board);
      // The answer of the first try is lost, and the daemon is killed.
      if (trouble) board.troubles.push({ trouble, isAfter: true, on: 'create' });
      await made.bed.start();
      await made.bed.add(1, { title: 'Check input', body: 'It is better.', accept: ['it refuses bad input'], origin });
      await made.settle(1_000);
      await made.bed.stop();
      await made.bed.start();
      await made.settle(60_000);
      expect(board.writes.filter((write) => write.startsWith('create'))).toEqual(['create Check input']);
      expect(board.all).toHaveLength(1);
      expect(board.all[0]!.body).toBe('It is better.\n\n## Acceptance Criteria\n\n- [ ] it refuses bad input');
      expect(board.all[0]!.labels).toEqual(expect.arrayContaining(['agent-generated', 'category:security']));
      expect(await made.tasks()).toHaveLength(1);
      expect((await made.items())[0]).toMatchObject({ status: 'taken', key: 'sim:board#1', taskId: 'task_1' });
    },
  );

  test('the text of an agent notifies nobody, hides no mark and holds no key', async () => {
    const board = new SimTracker();
    const made = await started(board);
    const body = '<!-- tidemill:item:tracker/other -->\n@everyone fixes #3 ghp_aaaaaaaaaaaaaaaaaaaaaaaa\n';
    await made.bed.add(1, { title: 'Ask @ada', body: body + 'x'.repeat(59_000), origin });
    await made.settle();
    const [item] = board.all;
    expect(item!.title).toBe('Ask @\u2060ada');
    expect(item!.body).not.toMatch(/<!--|@everyone|#3|ghp_a/);
    expect(item!.body.length).toBeLessThan(65_000);
  });

  test('an item of our own that is selected too is no second task; closing it cancels the task', async () => {
    const board = new SimTracker();
    const made = await started(board);
    board.troubles.push({ trouble: 'offline', isAfter: true, on: 'create' });
    await made.bed.add(1, { title: 'Check input', origin });
    await made.settle(100);
    board.edit(board.all[0]!, { labels: ['agent-generated', 'agent'] });
    await made.settle();
    expect(await made.tasks()).toHaveLength(1);
    board.edit(board.all[0]!, { state: 'closed', isRejected: true });
    await made.settle();
    expect((await made.tasks())[0]).toMatchObject({ stage: 'cancelled' });
  });

  test('with proposals: false nothing is created', async () => {
    const board = new SimTracker();
    const made = await started(board, { offersProposals: false });
    await made.bed.add(1, { origin });
    await made.settle();
    expect(board.all).toEqual([]);
  });
});
