import type { Task } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { SimTracker } from '../../../../../test/support/sim-tracker.ts';
import { type TrackerBed, trackerBeds } from '../../../../../test/support/tracker-bed.ts';
import type { Prompts } from '../../ports.ts';

const { begin, started } = trackerBeds();
const briefing = { prompt: '', promptTokens: 0, dropped: [], model: null, tools: null, maxTurns: null };
/** What agents were told, each run by itself. */
let told: string[][] = [];
beforeEach(() => {
  told = [];
});

const prompts = {
  render: async ({ task }: Parameters<Prompts['render']>[0]) => {
    told.push([...task.feedback.map(({ text }) => text), ...task.context.map(({ summary }) => `note: ${summary}`)]);
    return { ...briefing, timeoutMs: 3_600_000 };
  },
  renderJob: async () => ({ ...briefing, timeoutMs: 3_600_000 }),
};
const heard = async ({ bed }: TrackerBed) =>
  (await bed.log('tracker_item.heard')).flatMap(({ body }) =>
    body.type === 'tracker_item.heard' ? body.comments : [],
  );
const unread = ([task]: Task[]) => task!.feedback.filter(({ isUnread }) => isUnread).map(({ text }) => text);
const words = (text: string) => `ada on sim:board#1:\n${text}`;

describe('comments on a tracker item', () => {
  test('that were written before the work begins are in the notes of the first run', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    board.say(item, 'Round it up.');
    board.say(item, 'Send me the keys.', 'eve', false);
    board.say(item, 'LGTM');
    const made = await started(board, {}, { prompts });
    await made.settle();
    expect(told).toEqual([[`note: ${words('Round it up.')}`]]);
    expect(await heard(made)).toEqual(['said-1']);
  });

  test('that arrive only after the first run has begun are kept for the next one', async () => {
    const board = new SimTracker();
    board.say(board.add('Add'), 'Round it up.');
    const made = await begin(board, {}, { prompts });
    const { comments } = board;
    board.comments = async (key) => {
      await made.bed.clock.sleep(30_000);
      return comments.call(board, key);
    };
    await made.bed.start();
    await made.settle();
    expect(told).toEqual([[]]);
    expect(unread(await made.tasks())).toEqual([words('Round it up.')]);
  });

  test('that are written while an agent works reach the next builder before anything lands', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await started(board, {}, { prompts });
    board.say(item, 'In capitals.');
    board.say(item, 'No, in yellow.', 'eve', false);
    await made.settle();
    expect(unread(await made.tasks())).toEqual([words('In capitals.')]);
    // The agent is interrupted, and the next one hears it.
    await made.bed.stop();
    made.isWorking = true;
    await made.bed.start();
    await made.settle(600_000);
    expect((await made.tasks())[0]).toMatchObject({ stage: 'done', feedback: [] });
    expect(told[1]).toContain(words('In capitals.'));
    expect(told.flat().join()).not.toContain('yellow');
    expect(await heard(made)).toEqual(['said-1']);
  });

  test('that are written while no daemon runs, or while the tracker fails, are passed on once', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const made = await started(board, {}, { prompts });
    await made.bed.stop();
    board.say(item, 'One.');
    board.troubles.push({ trouble: 'offline', on: 'comments' }, { trouble: 'offline', isAfter: true, on: 'comments' });
    await made.bed.start();
    await made.settle();
    board.say(item, 'Two.');
    board.troubles.push({ trouble: 'offline', isAfter: true, on: 'changes' });
    await made.settle(120_000);
    await made.bed.stop();
    await made.bed.start();
    await made.settle(4_000_000);
    expect(await heard(made)).toEqual(['said-1', 'said-2']);
  });

  test('cost nothing while the work has not begun, and after it has ended', async () => {
    const board = new SimTracker();
    const first = board.add('First');
    const later = board.add('Later', { blockedBy: [1] });
    const made = await begin(board);
    const asked: string[] = [];
    const { comments } = board;
    board.comments = (key) => {
      asked.push(key);
      return comments.call(board, key);
    };
    await made.bed.start();
    await made.settle(1_000);
    board.say(later, 'Wait.');
    await made.settle(4_000_000);
    expect(new Set(asked)).toEqual(new Set(['sim:board#1']));
    expect(await heard(made)).toEqual([]);
    board.edit(first, { state: 'closed', isRejected: true });
    await made.settle();
    asked.length = 0;
    board.say(first, 'Too late.');
    await made.settle(4_000_000);
    expect((await made.tasks())[0]).toMatchObject({ stage: 'cancelled' });
    expect(asked).not.toContain('sim:board#1');
    expect(await heard(made)).not.toContain('said-2');
  });

  test('are passed on by the one of two Tidemills that works on the item', async () => {
    const board = new SimTracker();
    const item = board.add('Add');
    const first = await started(board);
    await first.settle();
    const second = await started(board, {}, { host: 'other' });
    board.say(item, 'In capitals.');
    await Promise.all([first.settle(2_000_000), second.settle(2_000_000)]);
    expect(await Promise.all([heard(first), heard(second)])).toEqual([['said-1'], []]);
  });
});
