import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import type { GithubBed } from '../support/github/github-bed.ts';
import { MergeQueueBed } from '../support/merge-queue-bed.ts';

describe('a pull request in a merge queue', { timeout: 90_000 }, () => {
  let bed: GithubBed;
  let mill: MergeQueueBed;
  beforeAll(async () => {
    mill = await MergeQueueBed.withQueue();
    bed = mill.bed;
  });
  afterAll(() => bed.close());

  test('is queued once though the daemon is killed, GitHub merges it, and the task is done with its commit', async () => {
    const number = await bed.add('Write apples');
    const { pull, head } = await bed.pull(number);
    const group = await mill.queued(pull, head);
    await bed.kill();
    await bed.up();
    await bed.when(number, ({ waiting }) => waiting?.includes('is in the merge queue') ?? false);
    expect(mill.sent('enqueuePullRequest')).toBe(1);
    await mill.judge(group, 'success');
    const done = await bed.when(number, ({ stage }) => stage === 'done');
    expect(done.landedCommit).toBe(group);
    expect(await mill.merged(pull)).toMatchObject({ merged: true, merge_commit_sha: group });
  });

  test('that a failing check of its merge group throws out goes to the agent with the output, and in again', async () => {
    const number = await bed.add('Write plums');
    const { pull, head } = await bed.pull(number);
    await mill.judge(await mill.queued(pull, head), 'failure', 'plums.txt: expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(again.pull).toBe(pull);
    const given = JSON.stringify(await bed.machine.events(bed.root, ['task.feedback_given']));
    expect(given).toContain(`merge queue took pull request #${pull} out (failed checks)`);
    expect(given).toContain('expected \\"repaired\\"');
    await mill.judge(await mill.queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
    expect(await git(bed.github.repository, 'show', 'main:plums.txt')).toBe('plums repaired');
  });
});
