import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 90_000 };
const config = (merge: string) => `pullRequest: { poll: 300ms, merge: ${merge} }\n`;
let bed: GithubBed;

const sent = (mutation: string) => bed.github.writes('mill-bot').filter(({ body }) => body.includes(mutation)).length;
const merged = (number: number) => bed.github.as('ada').ask('GET', `/pulls/${number}`);

describe('a repository with a merge queue', TIMEOUT, () => {
  /** Its checks pass, and it is in the queue. Returns what the queue built of it. */
  const queued = async (pull: number, head: string): Promise<string> => {
    bed.github.checks.report(head, 'ci', 'success');
    await until(() => bed.github.pulls.queue.groupOf(pull) !== null);
    return bed.github.pulls.queue.groupOf(pull)!;
  };
  const judge = async (group: string, conclusion: string, summary = '') => {
    bed.github.checks.report(group, 'ci', conclusion, summary);
    await bed.github.pulls.settle();
  };

  beforeAll(async () => {
    bed = await GithubBed.open({ config: config('tidemill') });
    bed.github.pulls.protections.set('main', { contexts: ['ci'], queue: true, asRules: true });
    await bed.up();
  });
  afterAll(() => bed.close());

  test('killed while it is queued: it is queued once, GitHub merges it, the task is done with its commit', async () => {
    const number = await bed.add('Write apples');
    const { pull, head } = await bed.pull(number);
    const group = await queued(pull, head);
    await bed.kill();
    await bed.up();
    await bed.when(number, ({ waiting }) => waiting?.includes('is in the merge queue') ?? false);
    expect(sent('enqueuePullRequest')).toBe(1);
    await judge(group, 'success');
    const done = await bed.when(number, ({ stage }) => stage === 'done');
    expect(done.landedCommit).toBe(group);
    expect(await merged(pull)).toMatchObject({ merged: true, merge_commit_sha: group });
  });

  test('thrown out by a failing check of its merge group: back to the agent with the output, and in again', async () => {
    const number = await bed.add('Write plums');
    const { pull, head } = await bed.pull(number);
    await judge(await queued(pull, head), 'failure', 'plums.txt: expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(again.pull).toBe(pull);
    const given = JSON.stringify(await bed.machine.events(bed.root, ['task.feedback_given']));
    expect(given).toContain(`merge queue took pull request #${pull} out (failed checks)`);
    expect(given).toContain('expected \\"repaired\\"');
    await judge(await queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
    expect(await git(bed.github.repository, 'show', 'main:plums.txt')).toBe('plums repaired');
  });

  test('a comment takes it out: the words go to the agent, and its new work goes in', async () => {
    const number = await bed.add('Write pears');
    const { pull, head } = await bed.pull(number);
    await queued(pull, head);
    await bed.github.as('bob').comment(pull, 'Write it in capitals.');
    await until(() => bed.github.pulls.isWaiting(pull) === null);
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    await judge(await queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
    expect(await git(bed.github.repository, 'show', 'main:pears.txt')).toBe('PEARS');
  });

  test('its check fails after all: it is taken out, so that nothing is merged while the agent works', async () => {
    const number = await bed.add('Write cherries');
    const { pull, head } = await bed.pull(number);
    await queued(pull, head);
    const before = sent('dequeuePullRequest');
    bed.github.checks.report(head, 'ci', 'failure', 'expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(sent('dequeuePullRequest')).toBeGreaterThan(before);
    await judge(await queued(pull, again.head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('taken out by a person: it stays out until they say so', async () => {
    const number = await bed.add('Write figs');
    const { pull, head } = await bed.pull(number);
    await queued(pull, head);
    await bed.github.pulls.dequeue(pull);
    const held = await bed.when(number, ({ openQuestions }) => openQuestions.length > 0);
    expect(held.openQuestions[0]!.text).toContain(`#${pull} was taken out of the merge queue (manual). Add it again?`);
    expect(bed.github.pulls.isWaiting(pull)).toBeNull();
    await bed.machine.ask(bed.root, (api, project) =>
      api.answerQuestion({ project, question: held.openQuestions[0]!.id, option: 1, by: 'ada' }),
    );
    await judge(await queued(pull, head), 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });
});

describe('a repository with auto-merge', TIMEOUT, () => {
  beforeAll(async () => {
    bed = await GithubBed.open({ config: config('auto') });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
  });
  afterAll(() => bed.close());

  test('GitHub merges when its check passes; a kill in between changes nothing', async () => {
    const number = await bed.add('Write apples');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    await bed.kill();
    bed.github.checks.report(head, 'ci', 'success');
    await bed.github.pulls.settle();
    await bed.up();
    const done = await bed.when(number, ({ stage }) => stage === 'done');
    expect(await merged(pull)).toMatchObject({ merged: true, merge_commit_sha: done.landedCommit });
  });

  test('a check that fails takes it out, so that nothing is merged while the agent works', async () => {
    const number = await bed.add('Write plums');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    bed.github.checks.report(head, 'ci', 'failure', 'expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(sent('disablePullRequestAutoMerge')).toBeGreaterThan(0);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    bed.github.checks.report(again.head, 'ci', 'success');
    await bed.github.pulls.settle();
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('a cancelled task is taken out: GitHub does not merge it', async () => {
    const number = await bed.add('Write pears');
    const { pull, head } = await bed.pull(number);
    await until(() => bed.github.pulls.isWaiting(pull) === 'auto');
    const cancelled = await bed.machine.run(['task', 'cancel', String(number)], bed.root);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    await until(() => bed.github.pulls.isWaiting(pull) === null);
    bed.github.checks.report(head, 'ci', 'success');
    await bed.github.pulls.settle();
    expect(await merged(pull)).toMatchObject({ merged: false, state: 'open' });
  });
});
