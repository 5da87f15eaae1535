import { afterEach, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import { GithubBed } from '../support/github/github-bed.ts';

/** Adds a workflow, and changes or removes it when it is told to. */
const AGENT = `#!/bin/sh
brief=$(cat)
flow=.github/workflows/deploy.yml
mkdir -p .github/workflows
if printf '%s' "$brief" | grep -q 'Undo your changes to them'; then
  rm -f $flow
elif printf '%s' "$brief" | grep -q 'Deploy twice'; then
  echo 'on: [push, pull_request]' > $flow
else
  echo 'on: push' > $flow
fi
echo apples > apples.txt
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the files"}'
`;

const FLOW = '.github/workflows/deploy.yml';
let bed: GithubBed;
afterEach(() => bed.close());

const open = async (config: string, workflows = 'ask') => {
  bed = await GithubBed.open({ files: { 'agent.sh': AGENT, 'apples.txt': 'none\n' }, config, workflows });
  await bed.up();
};
const branches = () => git(bed.github.repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads');
const has = (commit: string) =>
  git(bed.github.repository, 'cat-file', '-e', commit).then(
    () => true,
    () => false,
  );
const show = (what: string) => git(bed.github.repository, 'show', what);
const question = async (number: number) =>
  (await bed.when(number, ({ stage, openQuestions }) => stage === 'needs_info' && openQuestions.length > 0))
    .openQuestions[0]!;
const answer = (id: string, about: { option: number } | { text: string }) =>
  bed.machine.ask(bed.root, (api, project) => api.answerQuestion({ project, question: id, by: 'ada', ...about }));

describe('a change of files that GitHub runs', { timeout: 60_000 }, () => {
  test('is pushed for a pull request only after a yes to exactly its content; a no goes to the agent', async () => {
    await open('pullRequest: { poll: 300ms }\n');
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    const number = await bed.add('Write apples');
    const asked = await question(number);
    expect(asked.text).toContain(`changes files that GitHub runs with the repository's secrets (${FLOW})`);
    expect(await branches()).toBe('main');
    expect(await has((await bed.task(number)).head!.commit)).toBe(false);
    await answer(asked.id, { option: 1 });
    const { pull, head } = await bed.pull(number);
    expect(await show(`${head}:${FLOW}`)).toBe('on: push');
    // Other content is another question, and the branch stays as it is until it is answered.
    await bed.github.as('bob').comment(pull, 'Deploy twice.');
    const again = await question(number);
    expect(again.id).not.toBe(asked.id);
    expect(await git(bed.github.repository, 'rev-parse', (await bed.task(number)).branch)).toBe(head);
    await answer(again.id, { text: 'No deployment at all, please.' });
    const last = await bed.pull(number, ({ offered }) => offered!.commit !== head);
    expect(await git(bed.github.repository, 'ls-tree', '-r', '--name-only', last.head)).not.toContain(FLOW);
  });

  test('is not pushed for CI either: the gate waits for the yes, and goes on after it', async () => {
    await open(
      '  - { name: build, kind: ci, timeout: 20s }\npullRequest: { poll: 300ms, noChecks: continue, noChecksAfter: 100ms }\n',
    );
    const number = await bed.add('Write apples');
    const asked = await question(number);
    expect(asked.text).toContain(FLOW);
    const { head } = await bed.task(number);
    expect(await has(head!.commit)).toBe(false);
    expect(await branches()).toBe('main');
    const receipts = await bed.machine.events(bed.root, ['evidence.recorded']);
    expect(JSON.stringify(receipts)).toContain('"status":"unverified"');
    const alerts = await bed.machine.events(bed.root, ['alert.raised']);
    expect(alerts.filter(({ body }) => body.type === 'alert.raised' && body.kind === 'environment')).toEqual([]);
    await answer(asked.id, { option: 1 });
    let isOver = false;
    const workflow = (async () => {
      while (!isOver) {
        const refs = await git(bed.github.repository, 'for-each-ref', '--format=%(objectname)', 'refs/heads/tidemill/');
        for (const commit of refs.split('\n').filter(Boolean)) bed.github.checks.report(commit, 'build', 'success');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    await bed.when(number, ({ stage }) => stage === 'done');
    isOver = true;
    await workflow;
    expect(await show(`main:${FLOW}`)).toBe('on: push');
  });

  test('with files that gates look at is asked about for these, too, when there is no reviewer', async () => {
    await open('  - { name: fruit, run: "sort apples.txt" }\npullRequest: { poll: 300ms }\n');
    const number = await bed.add('Write apples');
    const first = await question(number);
    await answer(first.id, { option: 1 });
    await bed.when(number, ({ openQuestions }) => openQuestions.some(({ id }) => id !== first.id));
    const second = await question(number);
    expect(second.text).toContain('apples.txt');
    expect(second.text).not.toContain(FLOW);
    expect(await branches()).toBe('main');
    await answer(second.id, { option: 1 });
    const { head } = await bed.pull(number);
    expect(await show(`${head}:${FLOW}`)).toBe('on: push');
  });

  test('with `workflows: refuse` nobody is asked: the agent must undo it', async () => {
    await open('pullRequest: { poll: 300ms }\n', 'refuse');
    const number = await bed.add('Write apples');
    const { head } = await bed.pull(number);
    expect(await git(bed.github.repository, 'ls-tree', '-r', '--name-only', head)).not.toContain(FLOW);
    const back = await bed.machine.events(bed.root, ['run.sent_back']);
    expect(back.map(({ body }) => body)).toMatchObject([{ gates: ['workflow files'] }]);
    expect(await bed.machine.events(bed.root, ['question.asked'])).toEqual([]);
  });
});
