import { describe, expect, test } from 'vitest';
import type { CheckResult, Forge, PullRequest, QueuePlace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { enterForgeQueue } from './forge-queue.ts';

const PULL = { number: 7, url: 'https://x/7' } as PullRequest;
const deps = { project: { rules: { target: 'main' } } } as unknown as EngineDeps;
const removed = (reason: string, id = 'r1', commit: string | null = 'c1') => ({ id, reason, commit });
const check = (name: string, state: CheckResult['state']) => ({ name, state, summary: `${name} said`, url: null });

/** `queuedAfter`: the newest removal when the task went into the queue, if it did. */
async function entered(
  place: Partial<QueuePlace>,
  queuedAfter?: string,
  forge: { state?: string; results?: CheckResult[] } = {},
): Promise<{ is: string; done: Record<string, unknown>[] }> {
  const done: Record<string, unknown>[] = [];
  const offered = queuedAfter === undefined ? {} : { queuedAfter };
  const leased = { task: { offered }, must: async (command: Record<string, unknown>) => void done.push(command) };
  const asked = {
    queue: async () => ({ isQueued: false, removal: null, ...place }),
    pull: async () => ({ state: forge.state ?? 'open' }),
    checks: async () => ({ results: forge.results ?? [] }),
  };
  const is = await enterForgeQueue(deps, leased as unknown as LeasedTask, PULL, asked as unknown as Forge);
  return { is, done };
}

describe('a pull request goes into the merge queue', () => {
  test.each([
    ['for the first time', null, undefined, ''],
    ['for the first time after somebody took it out by hand', removed('manual', 'r0'), undefined, 'r0'],
    ['again, as nobody took it out since', removed('manual', 'r0'), 'r0', 'r0'],
    ['again, as it never went in', null, '', ''],
  ])('%s', async (_when, removal, queuedAfter, after) => {
    expect(await entered({ removal }, queuedAfter)).toEqual({ is: 'queue', done: [{ type: 'merge.queue', after }] });
  });
});

describe('a pull request stays in the merge queue', () => {
  test('where it is in it already', async () => {
    expect(await entered({ isQueued: true, removal: removed('failed') }, '')).toEqual({ is: 'queued', done: [] });
  });

  test('as far as the task knows, where a merge took it out', async () => {
    expect(await entered({ removal: removed('merge') }, '', { state: 'merged' })).toEqual({ is: 'queued', done: [] });
  });
});

describe('a pull request that was taken out of the merge queue', () => {
  test.each(['FAILED_CHECKS', 'MERGE_CONFLICT', 'INVALID_MERGE_COMMIT'])(
    'for %s goes back to its agent',
    async (reason) => {
      const results = [check('ci', 'failed'), check('lint', 'passed'), check('slow', 'pending')];
      const { is, done } = await entered({ removal: removed(reason) }, 'r0', { results });
      const why = reason.toLowerCase().replaceAll('_', ' ');
      expect(is).toBe('over');
      expect(done).toMatchObject([
        {
          type: 'stage.finish',
          outcome: 'failed',
          failure: 'validation',
          message: `The merge queue took pull request #7 out. (${why})`,
          feedback: [
            { kind: 'gate', needsTarget: true, text: expect.stringContaining(`took pull request #7 out (${why})`) },
            { kind: 'gate', text: 'The check ci on GitHub failed.\nIts output:\nci said' },
          ],
        },
      ]);
    },
  );

  test('without a commit that was checked goes back without results', async () => {
    const results = [check('ci', 'failed')];
    const { done } = await entered({ removal: removed('FAILED_CHECKS', 'r1', null) }, 'r0', { results });
    expect(done[0]?.feedback).toHaveLength(1);
  });

  test.each([
    ['DEQUEUED', 'dequeued'],
    ['CI_TIMEOUT', 'ci timeout'],
    ['', 'no reason given'],
  ])('for %j, which no change of the work removes, is a question to a person', async (reason, why) => {
    expect(await entered({ removal: removed(reason) }, 'r0')).toMatchObject({
      is: 'over',
      done: [
        {
          ...{ type: 'merge.ask', about: 'queue:r1', context: 'https://x/7' },
          text: `its pull request #7 was taken out of the merge queue (${why}). Add it again?`,
        },
      ],
    });
  });
});
