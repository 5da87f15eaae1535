import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import type { GithubBed } from '../support/github/github-bed.ts';
import { MergeQueueBed } from '../support/merge-queue-bed.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 90_000 };

describe('a pull request in a merge queue', TIMEOUT, () => {
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

  test('is taken out by a comment: the words go to the agent, and its new work goes in', async () => {
    const number = await bed.add('Write pears');
    const { pull, head } = await bed.pull(number);
    await mill.queued(pull, head);
    await bed.github.as('bob').comment(pull, 'Write it in capitals.');
    await until(() => bed.github.pulls.isWaiting(pull) === null);
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    await mill.judge(await mill.queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
    expect(await git(bed.github.repository, 'show', 'main:pears.txt')).toBe('PEARS');
  });

  test('is taken out when its check fails after all, so that nothing is merged while the agent works', async () => {
    const number = await bed.add('Write cherries');
    const { pull, head } = await bed.pull(number);
    await mill.queued(pull, head);
    const before = mill.sent('dequeuePullRequest');
    bed.github.checks.report(head, 'ci', 'failure', 'expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(mill.sent('dequeuePullRequest')).toBeGreaterThan(before);
    await mill.judge(await mill.queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('that a person takes out stays out until they say so', async () => {
    const number = await bed.add('Write figs');
    const { pull, head } = await bed.pull(number);
    await mill.queued(pull, head);
    await bed.github.pulls.dequeue(pull);
    const held = await bed.when(number, ({ openQuestions }) => openQuestions.length > 0);
    expect(held.openQuestions[0]!.text).toContain(`#${pull} was taken out of the merge queue (manual). Add it again?`);
    expect(bed.github.pulls.isWaiting(pull)).toBeNull();
    await bed.machine.ask(bed.root, (api, project) =>
      api.answerQuestion({ project, question: held.openQuestions[0]!.id, option: 1, by: 'ada' }),
    );
    await mill.judge(await mill.queued(pull, head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });
});

describe('a pull request with auto-merge', TIMEOUT, () => {
  let bed: GithubBed;
  let mill: MergeQueueBed;
  beforeAll(async () => {
    mill = await MergeQueueBed.withAutoMerge();
    bed = mill.bed;
  });
  afterAll(() => bed.close());

  test('is merged by GitHub when its check passes; a kill in between changes nothing', async () => {
    const number = await bed.add('Write apples');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    await bed.kill();
    bed.github.checks.report(head, 'ci', 'success');
    await bed.github.pulls.settle();
    await bed.up();
    const done = await bed.when(number, ({ stage }) => stage === 'done');
    expect(await mill.merged(pull)).toMatchObject({ merged: true, merge_commit_sha: done.landedCommit });
  });

  test('is taken out when its check fails, so that nothing is merged while the agent works', async () => {
    const number = await bed.add('Write plums');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    bed.github.checks.report(head, 'ci', 'failure', 'expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(mill.sent('disablePullRequestAutoMerge')).toBeGreaterThan(0);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    bed.github.checks.report(again.head, 'ci', 'success');
    await bed.github.pulls.settle();
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('of a cancelled task is taken out: GitHub does not merge it', async () => {
    const number = await bed.add('Write pears');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    const cancelled = await bed.machine.run(['task', 'cancel', String(number)], bed.root);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    await until(() => bed.github.pulls.isWaiting(pull) === null);
    bed.github.checks.report(head, 'ci', 'success');
    await bed.github.pulls.settle();
    expect(await mill.merged(pull)).toMatchObject({ merged: false, state: 'open' });
  });
});
