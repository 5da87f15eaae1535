import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { git } from '../support/github/git-backend.ts';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const SIGNALS = mkdtempSync(join(tmpdir(), 'tidemill-signals-'));
const signal = (name: string) => join(SIGNALS, name);

/** Writes its file. Asked for capitals, it waits for a signal before it writes them; asked for more, it asks back. */
const AGENT = `#!/bin/sh
brief=$(cat)
name=$(printf '%s' "$brief" | sed -n 's/.*"title":"Write \\([a-z]*\\)[^"]*".*/\\1/p' | head -1)
if printf '%s' "$brief" | grep -q 'in capitals'; then
  touch "${SIGNALS}/begun"
  until [ -e "${SIGNALS}/go" ]; do sleep 0.05; done
  printf '%s\\n' "$name" | tr a-z A-Z > "$name.txt"
elif printf '%s' "$brief" | grep -q 'Write more'; then
  echo '{"tidemill":"result","outcome":"needs_info","summary":"unclear","questions":["How much more?"]}'
  exit 0
elif [ ! -f "$name.txt" ]; then
  echo "$name" > "$name.txt"
fi
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;

describe('a pull request that a person merges while an agent works on it again', { timeout: 60_000 }, () => {
  let bed: GithubBed;
  const ada = () => bed.github.as('ada');
  const pullsOf = async (name: string) => (await bed.github.pulls.all()).filter(({ head }) => head.ref.includes(name));

  beforeAll(async () => {
    bed = await GithubBed.open({
      files: { 'agent.sh': AGENT },
      config: 'sandbox: off\ntracker: { type: github, labels: [agent], poll: 1s }\npullRequest: { poll: 300ms }\n',
    });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
  });
  afterEach(() => {
    for (const name of ['begun', 'go']) rmSync(signal(name), { force: true });
  });
  afterAll(async () => {
    await bed.close();
    rmSync(SIGNALS, { recursive: true });
  });

  test.each([
    ['squash', 'apples'],
    ['merge', 'pears'],
  ] as const)(
    'by %s leaves what the agent did since to a pull request of its own, without a conflict',
    async (method, name) => {
      const number = await bed.add(`Write ${name}`);
      const { pull } = await bed.pull(number);
      await bed.github.as('bob').comment(pull, 'Write it in capitals.');
      await until(() => existsSync(signal('begun')));
      await bed.github.pulls.mergeByHand(pull, method, 'ada');
      writeFileSync(signal('go'), '');
      const again = await bed.pull(number, (task) => task.pull!.number !== pull);
      expect(await git(bed.github.repository, 'show', `main:${name}.txt`)).toBe(name);
      const changed = await git(bed.github.repository, 'diff', '--stat', `main...${again.head}`);
      expect(changed).toContain('1 file changed, 1 insertion(+), 1 deletion(-)');
      bed.github.checks.report(again.head, 'ci', 'success');
      await bed.when(number, ({ stage }) => stage === 'done');
      expect(await git(bed.github.repository, 'show', `main:${name}.txt`)).toBe(name.toUpperCase());
      expect(await pullsOf(name)).toHaveLength(2);
      const moves = JSON.stringify(await bed.machine.events(bed.root, ['task.moved', 'task.blocked']));
      expect(moves).not.toContain('conflict');
    },
  );

  test('and thereby closes its issue cancels nothing: the task is done with their commit', async () => {
    const issue = await ada().openIssue('Write plums', '- [ ] x', { labels: ['agent'] });
    let number = 0;
    await until(async () => {
      const items = await bed.machine.ask(bed.root, (api, project) => api.trackerItems({ project, limit: 10 }));
      number = items.find(({ name }) => name === `#${issue}`)?.taskNumber ?? 0;
      return number > 0;
    });
    const { pull } = await bed.pull(number);
    await bed.github.as('bob').comment(pull, 'Write more.');
    await bed.when(number, ({ stage }) => stage === 'needs_info');
    await bed.github.pulls.mergeByHand(pull, 'squash', 'ada');
    const done = await bed.when(number, ({ stage }) => stage === 'done' || stage === 'cancelled');
    expect(done).toMatchObject({ stage: 'done', openQuestions: [] });
    expect(await ada().ask('GET', `/pulls/${pull}`)).toMatchObject({ merge_commit_sha: done.landedCommit });
    expect(await ada().ask('GET', `/issues/${issue}`)).toMatchObject({ state: 'closed', state_reason: 'completed' });
    expect(await pullsOf('plums')).toHaveLength(1);
  });
});
