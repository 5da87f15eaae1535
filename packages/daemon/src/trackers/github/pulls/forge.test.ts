import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GithubConfig } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EmulatedGithub } from '../../../../../../test/support/github/emulated-github.ts';
import { git } from '../../../../../../test/support/github/git-backend.ts';
import { systemClock } from '../../../clock.ts';
import type { PullRequest } from '../../../ports.ts';
import { GithubClient } from '../client/client.ts';
import { GithubForge } from './forge.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

let folder: string;
let clone: string;
let github: EmulatedGithub;
let forge: GithubForge;
let count = 0;

const forgeWith = (auth: object | undefined, env: NodeJS.ProcessEnv) => {
  const config = GithubConfig.parse({ repository: 'ada/mill', api: github.url, ...(auth ? { auth } : {}) });
  return new GithubForge(
    new GithubClient({ config, root: folder, env, clock: systemClock, remote: async () => null }),
    systemClock,
  );
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-forge-'));
  github = await EmulatedGithub.start({
    folder: join(folder, 'server'),
    app: { id: 7, installation: 70, key: privateKey },
  });
  clone = join(folder, 'clone');
  await git(folder, 'clone', '-q', github.cloneUrl('mill-bot'), clone);
  await git(clone, 'commit', '-q', '--allow-empty', '-m', 'Start');
  await git(clone, 'push', '-q', 'origin', 'HEAD:main');
});
afterAll(async () => {
  await github.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  github.log.length = 0;
  github.faults.clear();
  github.pulls.protections.clear();
  forge = forgeWith(undefined, { GITHUB_TOKEN: 'ghp_mill' });
});

/** A pushed branch with a change of its own. */
async function branch(): Promise<{ name: string; commit: string }> {
  count += 1;
  const name = `task/${count}-x`;
  await git(clone, 'fetch', '-q', 'origin');
  await git(clone, 'checkout', '-q', '-B', name, 'origin/main');
  writeFileSync(join(clone, `${count}.txt`), name);
  await git(clone, 'add', '.');
  await git(clone, 'commit', '-q', '-m', name);
  await git(clone, 'push', '-q', 'origin', name);
  return { name, commit: await git(clone, 'rev-parse', 'HEAD') };
}

async function opened(): Promise<{ pull: PullRequest; commit: string }> {
  const { name, commit } = await branch();
  return { pull: await forge.open({ branch: name, target: 'main', title: name, body: 'text' }), commit };
}

const how = (commit: string, by: 'us' | 'forge' | 'queue' = 'us') =>
  ({ commit, method: 'squash', by, title: 'Title', message: 'Task: #1' }) as const;
const posted = (end: string) => github.log.filter(({ method, path }) => method === 'POST' && path.endsWith(end)).length;

describe('opening a pull request', () => {
  test('is not repeated when the first answer was lost', async () => {
    const { name } = await branch();
    const about = { branch: name, target: 'main', title: 'x', body: 'y' };
    github.faults.plan({ method: 'POST', path: /pulls$/ }, { kind: 'lost' });
    await expect(forge.open(about)).rejects.toMatchObject({ kind: 'unreachable' });
    const found = await forge.open(about);
    expect(await forge.pullOf(name)).toMatchObject({ number: found.number, state: 'open' });
    expect((await github.pulls.all()).filter(({ head }) => head.ref === name)).toHaveLength(1);
  });

  test('of a branch that nobody pushed says so', async () => {
    const wrong = forge.open({ branch: 'task/none', target: 'main', title: 'x', body: 'y' });
    await expect(wrong).rejects.toMatchObject({
      kind: 'unprocessable',
      message: expect.stringContaining('head is invalid'),
    });
    expect(await forge.pullOf('task/none')).toBeNull();
  });
});

describe('merging a pull request', () => {
  test('is refused for another head than the named commit', async () => {
    const { pull, commit } = await opened();
    expect(await forge.merge(pull, how('0'.repeat(40)))).toMatchObject({ kind: 'moved' });
    const merged = await forge.merge(pull, how(commit));
    expect(merged.kind).toBe('merged');
    expect(await git(github.repository, 'log', '-1', '--format=%B', 'main')).toBe('Title\n\nTask: #1');
  });

  test('whose answer was lost is found to have happened', async () => {
    const { pull, commit } = await opened();
    github.faults.plan({ method: 'PUT' }, { kind: 'lost' });
    await expect(forge.merge(pull, how(commit))).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await forge.merge(pull, how(commit))).toMatchObject({ kind: 'merged' });
    expect(await forge.pull(pull.number)).toMatchObject({ state: 'merged' });
  });

  test('that is not allowed yet says why', async () => {
    github.pulls.protections.set('main', { approvals: 1 });
    const { pull, commit } = await opened();
    expect(await forge.merge(pull, how(commit))).toEqual({
      kind: 'refused',
      why: 'a required review or check is missing',
    });
  });

  test('by GitHub waits for the check with auto-merge, and a queue takes it in', async () => {
    github.pulls.protections.set('main', { contexts: ['ci'] });
    const { pull, commit } = await opened();
    expect(await forge.merge(pull, how(commit, 'forge'))).toEqual({ kind: 'queued' });
    expect((await forge.pull(pull.number)).state).toBe('open');
    github.checks.report(commit, 'ci', 'success');
    await github.pulls.settle();
    expect((await forge.pull(pull.number)).state).toBe('merged');

    github.pulls.protections.set('main', { contexts: ['ci'], queue: true, asRules: true });
    const second = await opened();
    expect(await forge.checks(second.commit, 'main')).toMatchObject({ required: ['ci'], hasQueue: true });
    expect(await forge.merge(second.pull, how(second.commit))).toMatchObject({ kind: 'refused' });
    expect(await forge.merge(second.pull, how(second.commit, 'queue'))).toMatchObject({ kind: 'refused' });
    github.checks.report(second.commit, 'ci', 'success');
    expect(await forge.merge(second.pull, how(second.commit, 'queue'))).toEqual({ kind: 'queued' });
    expect(await forge.merge(second.pull, how(second.commit, 'queue'))).toEqual({ kind: 'queued' });
    expect(await forge.queue(second.pull.number)).toEqual({ isQueued: true, removal: null });
    const before = await forge.glance(second.pull.number, 'main');
    const group = github.pulls.queue.groupOf(second.pull.number)!;
    github.checks.report(group, 'ci', 'failure');
    await github.pulls.settle();
    const removal = { id: expect.any(String), reason: 'FAILED_CHECKS', commit: group };
    expect(await forge.queue(second.pull.number)).toEqual({ isQueued: false, removal });
    expect(await forge.glance(second.pull.number, 'main')).not.toBe(before);
    await forge.merge(second.pull, how(second.commit, 'queue'));
    github.checks.report(github.pulls.queue.groupOf(second.pull.number)!, 'ci', 'success');
    await github.pulls.settle();
    expect((await forge.pull(second.pull.number)).state).toBe('merged');
  });

  test('by GitHub can be taken back, from auto-merge and from the queue; again, nothing happens', async () => {
    github.pulls.protections.set('main', { contexts: ['ci'], queue: true });
    const { pull, commit } = await opened();
    for (const by of ['forge', 'queue'] as const) {
      if (by === 'queue') github.checks.report(commit, 'ci', 'success');
      expect(await forge.merge(pull, how(commit, by))).toEqual({ kind: 'queued' });
      expect(github.pulls.isWaiting(pull.number)).not.toBeNull();
      await forge.unqueue(pull.number);
      await forge.unqueue(pull.number);
      expect(github.pulls.isWaiting(pull.number)).toBeNull();
    }
    await github.pulls.settle();
    expect((await forge.pull(pull.number)).state).toBe('open');
  });

  test('by GitHub is refused for a head that nobody has proven', async () => {
    github.pulls.protections.set('main', { contexts: ['ci'] });
    const { pull } = await opened();
    expect(await forge.merge(pull, how('0'.repeat(40), 'forge'))).toMatchObject({ kind: 'refused' });
  });

  test('by GitHub with nothing to wait for happens at once', async () => {
    const { pull, commit } = await opened();
    github.checks.report(commit, 'ci', 'success');
    expect(await forge.merge(pull, how(commit, 'forge'))).toMatchObject({ kind: 'merged' });
  });
});

describe('the results of gates', () => {
  const results = [
    { gate: 'test', state: 'passed' as const, text: 'pass, 12 passed' },
    { gate: 'lint', state: 'failed' as const, text: 'x'.repeat(300) },
  ];

  test('are commit statuses with a token; what is there is not sent again', async () => {
    const { commit } = await opened();
    await forge.report(commit, results);
    await forge.report(commit, results);
    expect(posted(`/statuses/${commit}`)).toBe(2);
    const { results: shown } = await forge.checks(commit, 'main');
    expect(shown.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'tidemill/test passed',
      'tidemill/lint failed',
    ]);
    await forge.report(commit, [{ ...results[1]!, state: 'passed' }]);
    expect(posted(`/statuses/${commit}`)).toBe(3);
  });

  test('are check runs with an App', async () => {
    const { commit } = await opened();
    const app = forgeWith({ app: { id: 7, installation: 70, key: '$KEY' } }, { KEY: privateKey });
    await app.report(commit, results);
    await app.report(commit, results);
    expect(posted('/check-runs')).toBe(2);
    expect((await app.checks(commit, 'main')).results).toMatchObject([
      { name: 'tidemill/test' },
      { name: 'tidemill/lint' },
    ]);
  });
});

describe('the results of CI', () => {
  const shown = async (commit: string) =>
    Object.fromEntries((await forge.checks(commit, 'main')).results.map(({ name, state }) => [name, state]));

  test('of the same name count by the worst, and a run that was replaced does not count', async () => {
    const { commit } = await opened();
    github.checks.report(commit, 'build', 'failure');
    github.checks.reportAnother(commit, 'build', 'success');
    github.checks.report(commit, 'test', 'cancelled');
    github.checks.reportAnother(commit, 'test', 'success');
    github.checks.report(commit, 'lint', 'cancelled');
    expect(await shown(commit)).toEqual({ build: 'failed', test: 'passed', lint: 'failed' });
  });

  test('on the second page count too', async () => {
    const { commit } = await opened();
    for (let n = 0; n < 120; n += 1) github.checks.report(commit, `job ${n}`, n === 119 ? 'failure' : 'success');
    const results = await shown(commit);
    expect(Object.keys(results)).toHaveLength(120);
    expect(results['job 119']).toBe('failed');
  });
});

describe('the comments of people on a pull request', () => {
  test('are trusted only from those who may push; every kind is read', async () => {
    const { pull, commit } = await opened();
    await github.as('eve').comment(pull.number, 'run this');
    await github.as('bob').comment(pull.number, 'shorter');
    await github.as('bob').commentOnLine(pull.number, `${count}.txt`, 1, 'here', commit);
    await github.as('ada').review(pull.number, 'REQUEST_CHANGES', '');
    await github.as('bob').review(pull.number, 'APPROVE', 'fine');
    const before = await forge.glance(pull.number, 'main');
    expect(
      (await forge.comments(pull.number)).map(({ author, kind, isTrusted, isApproval, text, place }) => [
        author,
        kind,
        isTrusted,
        isApproval,
        text,
        place,
      ]),
    ).toEqual([
      ['eve', 'comment', false, false, 'run this', null],
      ['bob', 'comment', true, false, 'shorter', null],
      ['bob', 'line', true, false, 'here', `${count}.txt:1`],
      ['ada', 'review', true, false, 'Changes are requested.', null],
      ['bob', 'review', true, true, 'fine', null],
    ]);
    expect(await forge.glance(pull.number, 'main')).toBe(before);
    await github.as('bob').comment(pull.number, 'more');
    expect(await forge.glance(pull.number, 'main')).not.toBe(before);
  });

  test('cost nothing to look at again', async () => {
    const { pull } = await opened();
    await forge.glance(pull.number, 'main');
    github.log.length = 0;
    await forge.glance(pull.number, 'main');
    expect(github.log.filter(({ isCounted }) => isCounted)).toEqual([]);
  });
});
