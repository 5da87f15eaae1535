import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 90_000 };
let bed: GithubBed;
afterEach(() => bed.close());

/** What a workflow reports for each commit that is pushed for it. */
async function runWorkflow(conclusion: (text: string) => string | null, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const refs = await git(bed.github.repository, 'for-each-ref', '--format=%(objectname)', 'refs/heads/tidemill/ci/');
    for (const commit of refs.split('\n').filter(Boolean)) {
      const text = await git(bed.github.repository, 'show', `${commit}:apples.txt`);
      bed.github.checks.report(commit, 'build', conclusion(text), `expected it in capitals, got ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a gate of kind ci', TIMEOUT, () => {
  const open = async (timeout: string) => {
    bed = await GithubBed.open({
      config: `  - { name: build, kind: ci, timeout: ${timeout} }\npullRequest: { poll: 300ms, noChecks: continue, noChecksAfter: 100ms }\n`,
    });
    await bed.up();
  };

  test('passes with what CI reports for the pushed commit, and its branch is removed', async () => {
    await open('20s');
    let isOver = false;
    const workflow = runWorkflow(
      () => 'success',
      () => isOver,
    );
    const number = await bed.add('Write apples');
    await bed.when(number, ({ stage }) => stage === 'done');
    isOver = true;
    await workflow;
    const receipts = await bed.machine.events(bed.root, ['evidence.recorded']);
    expect(JSON.stringify(receipts)).toContain('"gate":"build"');
    expect(await git(bed.github.repository, 'for-each-ref', 'refs/heads/tidemill')).toBe('');
  });

  test('that fails goes back to the agent with its summary', async () => {
    await open('20s');
    let isOver = false;
    const workflow = runWorkflow(
      (text) => (text === 'APPLES' ? 'success' : 'failure'),
      () => isOver,
    );
    const number = await bed.add('Write apples');
    await bed.when(number, ({ stage }) => stage === 'done');
    isOver = true;
    await workflow;
    const back = await bed.machine.events(bed.root, ['run.sent_back']);
    expect(back.map(({ body }) => body)).toMatchObject([{ gates: ['build'] }]);
    expect(await git(bed.github.repository, 'show', 'main:apples.txt')).toBe('APPLES');
  });

  test('has its branch removed after a kill while CI is asked; a branch of others stays', async () => {
    await open('60s');
    const { repository } = bed.github;
    const ours = () => git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/tidemill/ci');
    await bed.add('Write apples');
    await until(async () => (await ours()) !== '');
    await bed.kill();
    const theirs = 'refs/heads/tidemill/ci/0123456789abcdef';
    await git(repository, 'update-ref', theirs, 'main');
    // Nothing asks CI any more, so nothing but the start removes it.
    const config = join(bed.root, '.tidemill/config.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace(/.*kind: ci.*\n/, ''));
    await bed.up();
    await until(async () => (await ours()) === theirs);
  });

  test('without any report is unverified, never a pass', async () => {
    await open('2s');
    const number = await bed.add('Write apples');
    const waits = await bed.when(number, ({ waiting }) => waiting !== null);
    expect(waits.waiting).toContain('CI is not verified: no check was reported within 2 s');
    const receipts = JSON.stringify(await bed.machine.events(bed.root, ['evidence.recorded']));
    expect(receipts).toContain('"gate":"build","command":"","tree"');
    expect(receipts).not.toMatch(/"gate":"build"[^}]*"status":"pass"/);
    expect(await bed.github.pulls.all()).toEqual([]);
  });
});

describe('a pull request without any check', TIMEOUT, () => {
  test('is not taken as passed: a person is asked, and the pull request says so', async () => {
    bed = await GithubBed.open({ config: 'pullRequest: { poll: 300ms, noChecksAfter: 200ms }\n' });
    await bed.up();
    const number = await bed.add('Write apples');
    const held = await bed.when(number, ({ openQuestions }) => openQuestions.length > 0);
    const [question] = held.openQuestions;
    expect(question!.text).toContain('no check was reported for its pull request #1. Merge it without?');
    await bed.machine.ask(bed.root, (api, project) =>
      api.answerQuestion({ project, question: question!.id, option: 1, by: 'ada' }),
    );
    await bed.when(number, ({ stage }) => stage === 'done');
    const [pull] = await bed.github.pulls.all();
    expect(pull).toMatchObject({ merged: true, body: expect.stringContaining('> No check was reported for ') });
  });

  test('of somebody else with the same branch is left alone', async () => {
    bed = await GithubBed.open({ config: 'pullRequest: { poll: 300ms }\n' });
    const { repository } = bed.github;
    const theirs = await git(repository, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Theirs');
    await git(repository, 'update-ref', 'refs/heads/task/1-write-apples', theirs);
    await bed.github
      .as('bob')
      .ask('POST', '/pulls', { title: 'Mine', head: 'task/1-write-apples', base: 'main', body: 'by hand' });
    await bed.up();
    const number = await bed.add('Write apples');
    const waits = await bed.when(number, ({ waiting }) => waiting !== null);
    expect(waits.waiting).toContain("The pull request #1 of the branch task/1-write-apples is not Tidemill's");
    expect(await git(repository, 'rev-parse', 'task/1-write-apples')).toBe(theirs);
    expect(bed.github.writes('mill-bot')).toEqual([]);
  });
});
