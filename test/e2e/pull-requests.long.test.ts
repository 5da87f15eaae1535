import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 90_000 };

describe('work lands by pull requests', TIMEOUT, () => {
  let bed: GithubBed;

  beforeAll(async () => {
    bed = await GithubBed.open({ config: 'pullRequest: { poll: 300ms }\n' });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
  });
  afterAll(() => bed.close());

  test('comments of people with push access go back to the agent, and comments of others do not', async () => {
    const number = await bed.add('Write pears');
    const { pull, head } = await bed.pull(number);
    await bed.github.as('eve').comment(pull, 'Write it in capitals.');
    await bed.github.as('bob').comment(pull, 'LGTM!');
    await bed.github.as('bob').commentOnLine(pull, 'pears.txt', 1, 'Write it in capitals.', head);
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(again.pull).toBe(pull);
    expect(await git(bed.github.repository, 'show', `${again.head}:pears.txt`)).toBe('PEARS');
    // The branch only grew.
    await git(bed.github.repository, 'merge-base', '--is-ancestor', head, again.head);
    const feedback = await bed.machine.events(bed.root, ['merge.commented']);
    expect(feedback.map(({ body }) => body)).toMatchObject([{ number: pull, authors: ['bob'] }]);
    bed.github.checks.report(again.head, 'ci', 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
    expect((await bed.github.pulls.all()).filter((one) => one.head.ref.includes('pears')).length).toBe(1);
  });

  test('a failing required check goes back to the agent with its output', async () => {
    const number = await bed.add('Write plums');
    const { pull, head } = await bed.pull(number);
    bed.github.checks.report(head, 'ci', 'failure', 'plums.txt: expected "repaired"');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(again.pull).toBe(pull);
    expect(await git(bed.github.repository, 'show', `${again.head}:plums.txt`)).toBe('plums repaired');
    const given = await bed.machine.events(bed.root, ['task.feedback_given']);
    expect(JSON.stringify(given)).toContain('expected \\"repaired\\"');
    bed.github.checks.report(again.head, 'ci', 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('a task whose pull request a person merges first is done with their commit', async () => {
    const number = await bed.add('Write figs');
    const { pull } = await bed.pull(number);
    await bed.github.pulls.mergeByHand(pull, 'squash', 'ada');
    const done = await bed.when(number, ({ stage }) => stage === 'done');
    const merged = await bed.github.as('ada').ask('GET', `/pulls/${pull}`);
    expect(merged).toMatchObject({ merged_by: { login: 'ada' }, merge_commit_sha: done.landedCommit });
  });

  test('a pull request that is closed by hand is asked about, and approving opens it again', async () => {
    const number = await bed.add('Write limes');
    const { pull, head } = await bed.pull(number);
    await bed.github.as('bob').closePull(pull);
    const held = await bed.when(number, ({ openQuestions }) => openQuestions.length > 0);
    expect(held.openQuestions[0]!.text).toContain(`the pull request #${pull} was closed without being merged`);
    await bed.machine.ask(bed.root, (api, project) =>
      api.answerQuestion({ project, question: held.openQuestions[0]!.id, option: 1, by: 'ada' }),
    );
    await until(async () => (await bed.github.pulls.find(pull))?.state === 'open');
    await bed.pull(number);
    bed.github.checks.report(head, 'ci', 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('a pull request that somebody force-pushed is not overwritten or merged, and their merge counts', async () => {
    const number = await bed.add('Write dates');
    const { pull, head, task } = await bed.pull(number);
    const theirs = await git(bed.github.repository, 'commit-tree', `${head}^{tree}`, '-p', 'main', '-m', 'Theirs');
    await git(bed.github.repository, 'update-ref', `refs/heads/${task.branch}`, theirs);
    bed.github.checks.report(theirs, 'ci', 'success');
    const waits = await bed.when(number, ({ waiting }) => waiting?.includes('Somebody else pushed') ?? false);
    expect(waits.waiting).toContain(theirs.slice(0, 10));
    expect(await git(bed.github.repository, 'rev-parse', task.branch)).toBe(theirs);
    expect(bed.repository.git('rev-parse', task.branch)).toBe(head);
    await bed.github.pulls.mergeByHand(pull, 'merge', 'ada');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('in a conflict with the target the agent keeps both sides, and the same pull request goes on', async () => {
    const number = await bed.add('Write kiwis');
    const { pull, head } = await bed.pull(number);
    await bed.push('kiwis.txt', 'theirs\n');
    bed.github.checks.report(head, 'ci', 'success');
    const again = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(again.pull).toBe(pull);
    const text = await git(bed.github.repository, 'show', `${again.head}:kiwis.txt`);
    expect(text.split('\n').sort()).toEqual(['kiwis', 'theirs']);
    bed.github.checks.report(again.head, 'ci', 'success');
    await bed.when(number, ({ stage }) => stage === 'done');
  });

  test('nothing is forced, and nothing is done twice', async () => {
    const opened = bed.github
      .writes('mill-bot')
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls'));
    expect(opened.length).toBe(6);
    const merges = bed.github.log.filter(({ path, status }) => path.endsWith('/merge') && status === 200);
    expect(new Set(merges.map(({ path }) => path)).size).toBe(merges.length);
    for (const { number } of await bed.github.pulls.all()) {
      const comments = await bed.github.as('ada').comments(number);
      expect(comments.filter(({ user }) => user.login === 'mill-bot')).toEqual([]);
    }
  });
});
