import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmulatedGithub } from '../support/github/emulated-github.ts';
import { TROUBLES } from '../support/github/exchange.ts';
import { git } from '../support/github/git-backend.ts';

let folder: string;
let clone: string;
let github: EmulatedGithub;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-github-'));
  github = await EmulatedGithub.start({ folder: join(folder, 'server') });
  clone = join(folder, 'clone');
  await git(folder, 'clone', '-q', github.cloneUrl('mill-bot'), clone);
  await commit('base.txt', 'one\n');
  await git(clone, 'push', '-q', 'origin', 'HEAD:main');
});
afterAll(async () => {
  await github.close();
  rmSync(folder, { recursive: true, force: true });
});

async function commit(file: string, text: string): Promise<string> {
  writeFileSync(join(clone, file), text);
  await git(clone, 'add', '.');
  await git(clone, 'commit', '-q', '-m', `Write ${file}`);
  return git(clone, 'rev-parse', 'HEAD');
}

async function branch(name: string, file: string, text: string): Promise<string> {
  await git(clone, 'fetch', '-q', 'origin');
  await git(clone, 'checkout', '-q', '-B', name, 'origin/main');
  const sha = await commit(file, text);
  await git(clone, 'push', '-q', 'origin', name);
  return sha;
}

const request = (path: string, init: RequestInit & { login?: string } = {}) =>
  fetch(`${github.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${github.accounts.tokenOf(init.login ?? 'mill-bot')}`, ...init.headers },
  });

describe('the emulated GitHub', () => {
  test('merges for real, waits for required checks, and closes the issue that the text names', async () => {
    const issue = await github.as('ada').openIssue('Say hello', 'text', { labels: ['tidemill'] });
    const head = await branch('task/1-hello', 'hello.txt', 'hello\n');
    github.pulls.protections.set('main', { contexts: ['ci'] });
    const pull = await github.as('mill-bot').ask('POST', '/pulls', {
      title: 'Say hello',
      head: 'task/1-hello',
      base: 'main',
      body: `Closes #${issue}`,
    });
    expect(pull).toMatchObject({ head: { sha: head }, mergeable: true, mergeable_state: 'blocked' });
    await expect(github.as('mill-bot').ask('PUT', `/pulls/${pull.number}/merge`, {})).rejects.toThrow(/405/);
    github.checks.report(head, 'ci', 'success');
    const { sha } = await github
      .as('mill-bot')
      .ask<{ sha: string }>('PUT', `/pulls/${pull.number}/merge`, { merge_method: 'squash' });
    expect(await git(github.repository, 'show', `${sha}:hello.txt`)).toBe('hello');
    expect(await github.as('ada').ask('GET', `/issues/${issue}`)).toMatchObject({ state: 'closed' });
    expect(await github.as('ada').ask('GET', `/pulls/${pull.number}`)).toMatchObject({
      merged: true,
      merge_commit_sha: sha,
    });
    github.pulls.protections.clear();
  });

  test('sees conflicts, refuses a second pull request of a branch and pushes by strangers', async () => {
    await branch('task/2-a', 'base.txt', 'two\n');
    await branch('task/3-b', 'base.txt', 'three\n');
    const bot = github.as('mill-bot');
    const first = await bot.ask('POST', '/pulls', { title: 'a', head: 'task/2-a', base: 'main' });
    const second = await bot.ask('POST', '/pulls', { title: 'b', head: 'task/3-b', base: 'main' });
    await expect(bot.ask('POST', '/pulls', { title: 'b', head: 'task/3-b', base: 'main' })).rejects.toThrow(
      /already exists/,
    );
    await github.pulls.mergeByHand(first.number, 'merge', 'bob');
    expect(await bot.ask('GET', `/pulls/${second.number}`)).toMatchObject({
      mergeable: false,
      mergeable_state: 'dirty',
    });
    await expect(git(clone, 'push', '-q', github.cloneUrl('eve'), 'HEAD:refs/heads/eve')).rejects.toThrow();
  });

  test('an unchanged answer is 304 and costs nothing; faults are answered as planned', async () => {
    const path = `/repos/ada/mill/issues?state=all`;
    const first = await request(path);
    const again = await request(path, { headers: { 'if-none-match': first.headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect(again.headers.get('x-ratelimit-remaining')).toBe(first.headers.get('x-ratelimit-remaining'));
    github.faults.plan({ path: /issues$/ }, TROUBLES.secondary(7));
    const limited = await request(path);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    github.faults.plan({ path: /issues$/ }, { kind: 'half' });
    await expect(request(path).then((response) => response.json())).rejects.toThrow();
    github.accounts.revoke('ghp_bob');
    expect((await request(path, { login: 'bob' })).status).toBe(401);
    github.accounts.restore('ghp_bob');
  });

  test('keeps dependencies, permissions and boards', async () => {
    const ada = github.as('ada');
    const [one, two] = [await ada.openIssue('One', ''), await ada.openIssue('Two', '')];
    const { id } = await ada.ask('GET', `/issues/${one}`);
    await ada.ask('POST', `/issues/${two}/dependencies/blocked_by`, { issue_id: id });
    expect(await ada.ask('GET', `/issues/${two}/dependencies/blocked_by`)).toMatchObject([{ number: one }]);
    expect(await ada.ask('GET', '/collaborators/bob/permission')).toMatchObject({ permission: 'write' });
    expect(await ada.ask('GET', '/collaborators/eve/permission')).toMatchObject({ permission: 'read' });
    const strange = await github.as('eve').openIssue('Mine', 'text', { labels: ['tidemill'] });
    expect(await ada.ask('GET', `/issues/${strange}`)).toMatchObject({ labels: [] });

    const board = github.addProject(1, 'Mill', { Status: ['Todo', 'In progress', 'Done'] });
    board.move(one, 'Status', 'Todo');
    const ask = async (query: string, variables: object) =>
      (await request('/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) })).json() as Promise<{
        data?: { user: { projectV2: { items: { nodes: object[] } } } };
        errors?: object[];
      }>;
    const read = await ask(
      `query($owner: String!) { user(login: $owner) { projectV2(number: 1) { id items(first: 10) {
        nodes { id content { ... on Issue { number } } fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } } } } } } }`,
      { owner: 'ada' },
    );
    expect(read.data?.user.projectV2.items.nodes).toMatchObject([
      { content: { number: one }, fieldValueByName: { name: 'Todo' } },
    ]);
    const changed = await ask(
      `mutation($input: UpdateProjectV2ItemFieldValueInput!) { updateProjectV2ItemFieldValue(input: $input) { projectV2Item { id } } }`,
      {
        input: {
          projectId: board.id,
          itemId: board.items[0]!.id,
          fieldId: board.fields[0]!.id,
          value: { singleSelectOptionId: board.fields[0]!.options[2]!.id },
        },
      },
    );
    expect(changed.errors).toBeUndefined();
    expect(board.value(one, 'Status')).toBe('Done');
    expect(await ask('{ repository(owner: "ada", name: "mill") { nonsense } }', {})).toMatchObject({
      errors: [{ message: expect.stringContaining('nonsense') }],
    });
  });
});
