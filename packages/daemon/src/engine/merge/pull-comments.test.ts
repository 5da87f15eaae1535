import type { Task } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { defaultRules, Mill } from '../../../../../test/support/mill.ts';
import type { Forge, PullComment, PullRequest } from '../../ports.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { passOn } from './pull-comments.ts';

const mill = new Mill();
const waiting = mill.bring(mill.add(), 'merge');
const NONE = { comment: 0, line: 0, review: 0 };
const PULL = { number: 7, url: 'https://x/7' } as PullRequest;
const comment = (id: number, fields: Partial<PullComment> = {}): PullComment => ({
  ...{ id, kind: 'comment', author: 'ada', isTrusted: true, isApproval: false, text: `Please mend ${id}`, place: null },
  ...fields,
});

/** What reaches the agent, the store and the forge. */
async function heard(
  comments: PullComment[],
  fields: Partial<Task> = {},
  merge: 'auto' | 'never' = 'never',
): Promise<{ isBack: boolean; done: Record<string, unknown>[]; unqueued: number[] }> {
  const done: Record<string, unknown>[] = [];
  const unqueued: number[] = [];
  const leased = {
    task: { ...waiting, ...fields },
    must: async (command: Record<string, unknown>) => void done.push(command),
  };
  const forge = { comments: async () => comments, unqueue: async (number: number) => void unqueued.push(number) };
  const around = { forge: forge as unknown as Forge, settings: { merge } as never, rules: defaultRules };
  return { isBack: await passOn(leased as unknown as LeasedTask, PULL, around), done, unqueued };
}
const passed = async (...given: Parameters<typeof heard>) =>
  (await heard(...given)).done.find(({ type }) => type === 'merge.record_comments');

describe('comments on a pull request', () => {
  test('send the task back with what each says, where it is about and who wrote it', async () => {
    const { isBack, done, unqueued } = await heard([
      comment(2, { kind: 'line', place: 'src/a.ts:12', text: 'Why?' }),
      comment(1),
      comment(3, { author: 'bob' }),
    ]);
    expect([isBack, unqueued]).toEqual([true, []]);
    expect(done).toMatchObject([
      { type: 'merge.note_pull', number: 7, url: 'https://x/7' },
      {
        type: 'merge.record_comments',
        seen: { comment: 3, line: 2, review: 0 },
        authors: ['ada', 'bob'],
        feedback: [
          { kind: 'person', text: 'ada on pull request #7:\nPlease mend 1', files: [] },
          { kind: 'person', text: 'ada on pull request #7, src/a.ts:12:\nWhy?', files: ['src/a.ts'] },
          { text: 'bob on pull request #7:\nPlease mend 3' },
        ],
      },
    ]);
  });

  test.each<[string, Partial<PullComment>]>([
    ['of somebody who may not push', { isTrusted: false }],
    ['that is an approval', { isApproval: true }],
    ['that only praises', { text: 'LGTM' }],
    ['without words', { text: ' ' }],
  ])('one %s starts no work', async (_what, fields) => {
    expect(await heard([comment(1, fields)])).toEqual({ isBack: false, done: [], unqueued: [] });
  });

  test('are passed on once, counted for each kind; those of another pull request say nothing about this one', async () => {
    const pull = { number: 7, url: '', seen: { comment: 5, line: 1, review: 0 } } as never;
    const all = [comment(5), comment(6), comment(2, { kind: 'line' }), comment(1, { kind: 'line' })];
    expect(await passed(all, { pull })).toMatchObject({
      seen: { comment: 6, line: 2, review: 0 },
      feedback: [{ text: expect.stringContaining('mend 2') }, { text: expect.stringContaining('mend 6') }],
    });
    const other = { number: 6, url: '', seen: { comment: 99, line: 99, review: 99 } } as never;
    expect((await passed(all, { pull: other }))?.feedback).toHaveLength(4);
  });

  test('above fifty have their turn next time', async () => {
    const all = Array.from({ length: 60 }, (_, index) => comment(60 - index));
    expect(await passed(all)).toMatchObject({ seen: { ...NONE, comment: 50 } });
    const pull = { number: 7, url: '', seen: { ...NONE, comment: 50 } } as never;
    expect((await passed(all, { pull }))?.feedback).toHaveLength(10);
  });

  test('that start no work count as seen with those that do', async () => {
    expect(await passed([comment(1), comment(9, { isTrusted: false })])).toMatchObject({
      seen: { ...NONE, comment: 9 },
    });
  });

  test.each([
    ['GitHub merges by itself', {}, 'auto', [7]],
    ['the task waits in the queue', { offered: { queuedAfter: 1 } }, 'never', [7]],
    ['nobody merges by itself', { offered: {} }, 'never', []],
  ] as const)(
    'are passed on after GitHub has stopped to merge it, where %s',
    async (_where, fields, merge, numbers) => {
      expect((await heard([comment(1)], fields as never, merge)).unqueued).toEqual(numbers);
    },
  );

  test('on the issue of the task send it back, too', async () => {
    const feedback = [{ kind: 'person', text: 'other words', files: [], isUnread: true }] as Task['feedback'];
    expect(await heard([], { feedback }, 'auto')).toEqual({
      isBack: true,
      done: [{ type: 'stage.return_to_builder' }],
      unqueued: [7],
    });
    expect((await heard([comment(1)], { feedback })).done.map(({ type }) => type)).toEqual([
      'merge.note_pull',
      'merge.record_comments',
    ]);
  });
});
