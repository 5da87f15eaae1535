import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GithubConfig } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { EmulatedGithub } from '../../../../../../test/support/github/emulated-github.ts';
import { TROUBLES, type Trouble } from '../../../../../../test/support/github/exchange.ts';
import { systemClock } from '../../../clock.ts';
import { GithubClient } from './client.ts';
import { GithubError } from './github-error.ts';
import { placeOf, repositoryIn } from './place.ts';

const Issue = z.object({ id: z.number(), number: z.number(), title: z.string() });
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

let folder: string;
let github: EmulatedGithub;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-client-'));
  github = await EmulatedGithub.start({ folder, app: { id: 7, installation: 70, key: privateKey } });
  for (let number = 1; number <= 5; number += 1) await github.as('ada').openIssue(`Issue ${number}`, '');
});
afterAll(async () => {
  await github.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  github.log.length = 0;
  github.faults.clear();
});

function client(more: object = {}, env: NodeJS.ProcessEnv = { GITHUB_TOKEN: 'ghp_mill' }, now?: () => number) {
  const config = GithubConfig.parse({ repository: 'ada/mill', api: github.url, ...more });
  const clock = now ? { ...systemClock, now } : systemClock;
  return new GithubClient({ config, root: folder, env, clock, remote: async () => null });
}

const failureOf = (work: Promise<unknown>): Promise<GithubError> =>
  work.then(
    () => {
      throw new Error('it succeeded');
    },
    (error: unknown) => error as GithubError,
  );

describe('a request to GitHub', () => {
  test('that gets an unchanged answer costs nothing; a changed answer is seen', async () => {
    const asked = client();
    const first = await asked.list('/issues', Issue, { state: 'open' });
    const again = await asked.list('/issues', Issue, { state: 'open' });
    expect([first.items.length, first.isUnchanged, again.isUnchanged]).toEqual([5, false, true]);
    expect(again.items).toEqual(first.items);
    expect(github.log.map(({ status }) => status)).toEqual([200, 304]);
    expect((await asked.allowance()).used).toBe(1);
    await github.as('ada').editIssue(1, { title: 'Renamed' });
    expect((await asked.list('/issues', Issue, { state: 'open' })).items.some(({ title }) => title === 'Renamed')).toBe(
      true,
    );
  });

  test('over pages that shift while they are read misses nothing and repeats nothing', async () => {
    const [, , , , newest] = await github.as('ada').ask<{ number: number }[]>('GET', '/issues?direction=asc');
    // After the first page, an issue of that page is closed: the third one moves onto the page already read.
    let page = 0;
    const shift = async () => {
      page += 1;
      if (page === 2) await github.as('ada').editIssue(1, { state: 'closed' });
    };
    github.faults.plan({ path: /issues$/ }, { kind: 'first', act: shift }, 2);
    const { items } = await client().list('/issues', Issue, { state: 'open', direction: 'asc', per_page: 2 });
    expect(items.map(({ number }) => number).sort()).toEqual([2, 3, 4, newest!.number]);
    await github.as('ada').editIssue(1, { state: 'open' });
  });

  test('of an App has the token of its installation', async () => {
    const asked = client({ auth: { app: { id: 7, installation: 70, key: '$KEY' } } }, { KEY: privateKey });
    expect(await asked.kind()).toBe('app');
    const body = { name: 'gates', head_sha: 'a'.repeat(40), status: 'completed', conclusion: 'success' };
    expect(await asked.send('POST', '/check-runs', body, z.object({ id: z.number() }))).toMatchObject({
      id: expect.any(Number),
    });
  });

  test('over GraphQL has its answer checked and its errors typed', async () => {
    github.addProject(1, 'Board', { Status: ['Todo'] });
    const query = '{ user(login: "ada") { projectV2(number: 1) { title } } }';
    const schema = z.object({ user: z.object({ projectV2: z.object({ title: z.string() }) }) });
    expect(await client().graphql(query, {}, schema)).toEqual({ user: { projectV2: { title: 'Board' } } });
    const missing = await failureOf(client().graphql(query.replace('1', '9'), {}, schema));
    expect(missing.kind).toBe('not_found');
    github.accounts.add('bob', 'ghp_narrow', ['repo']);
    const narrow = await failureOf(client({}, { GITHUB_TOKEN: 'ghp_narrow' }).graphql(query, {}, schema));
    expect([narrow.kind, narrow.hint]).toEqual(['missing_scope', 'Projects need the scope `project`.']);
  });
});

describe('failures have a kind, a message and a hint, and never a secret', () => {
  const cases: [name: string, trouble: Trouble, kind: GithubError['kind'], message: RegExp][] = [
    ['an expired token', TROUBLES.expired, 'unauthorized', /expired or was revoked/],
    ['403 without a limit', TROUBLES.forbidden, 'missing_scope', /Resource not accessible/],
    ['403 at the hourly limit', TROUBLES.rateLimited(60), 'rate_limited', /limit is reached/],
    ['429 with Retry-After', TROUBLES.secondary(7), 'rate_limited', /limit is reached/],
    ['429 without Retry-After', TROUBLES.secondary(), 'rate_limited', /limit is reached/],
    ['404', TROUBLES.missing, 'not_found', /answered 404/],
    ['422', TROUBLES.unprocessable, 'unprocessable', /Validation Failed/],
    ['500', { kind: 'answer', answer: { status: 500, body: { message: 'Oops' } } }, 'bad_answer', /answered 500/],
    ['502 with a page', TROUBLES.broken, 'bad_answer', /answered 502/],
    ['half an answer', { kind: 'half' }, 'bad_answer', /incomplete/],
    ['a connection that ends', { kind: 'cut' }, 'unreachable', /does not answer/],
    [
      'a token repeated by the server',
      { kind: 'answer', answer: { status: 422, body: { message: 'bad ghp_mill' } } },
      'unprocessable',
      /\*\*\*/,
    ],
  ];
  test.each(cases)('in the case: %s', async (_name, trouble, kind, message) => {
    github.faults.plan({}, trouble);
    const error = await failureOf(client().get('/issues/1', Issue));
    expect(error).toBeInstanceOf(GithubError);
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(message);
    expect(JSON.stringify([error.message, error.hint, String(error.stack)])).not.toContain('ghp_mill');
  });

  test('no request is sent until the time that GitHub named', async () => {
    let at = Date.now();
    const asked = client({}, { GITHUB_TOKEN: 'ghp_mill' }, () => at);
    github.faults.plan({}, TROUBLES.secondary(7));
    const { retryAt } = await failureOf(asked.get('/issues/1', Issue));
    expect(retryAt).toBe(at + 7000);
    const sent = github.log.length;
    expect((await failureOf(asked.get('/issues/1', Issue))).kind).toBe('rate_limited');
    expect(github.log.length).toBe(sent);
    at += 7001;
    expect(await asked.get('/issues/1', Issue)).toMatchObject({ number: 1 });
  });

  test('a clock that is hours behind does not make it wait longer than the hour of the limit', async () => {
    let at = Date.now() - 5 * 3_600_000;
    const asked = client({}, { GITHUB_TOKEN: 'ghp_mill' }, () => at);
    github.faults.plan({}, TROUBLES.rateLimited(60));
    const { retryAt } = await failureOf(asked.get('/issues/1', Issue));
    expect(retryAt! - at).toBe(3_600_000);
    at = retryAt! + 1;
    expect(await asked.get('/issues/1', Issue)).toMatchObject({ number: 1 });
  });

  test('without a named time each refusal doubles the pause', async () => {
    let at = Date.now();
    const asked = client({}, { GITHUB_TOKEN: 'ghp_mill' }, () => at);
    const pauses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      github.faults.plan({}, TROUBLES.secondary());
      const { retryAt } = await failureOf(asked.get('/issues/1', Issue));
      pauses.push(retryAt! - at);
      at = retryAt! + 1;
    }
    expect(pauses).toEqual([60_000, 120_000, 240_000]);
  });

  test('our own limit per hour stops reading before writing', async () => {
    const asked = client({ requestsPerHour: 10 });
    for (let number = 0; number < 9; number += 1)
      await asked.get(`/issues/${(number % 5) + 1}`, Issue, { round: number });
    expect((await failureOf(asked.get('/issues/1', Issue, { round: 9 }))).message).toContain('requestsPerHour');
    await asked.send('POST', '/issues/1/comments', { body: 'still possible' }, z.unknown());
    expect((await failureOf(asked.send('POST', '/issues/1/comments', { body: 'no' }, z.unknown()))).kind).toBe(
      'rate_limited',
    );
  });

  test('also for a token that is revoked in between, and for a missing variable', async () => {
    github.accounts.add('bob', 'ghp_short');
    const asked = client({ auth: { token: '$MINE' } }, { MINE: 'ghp_short' });
    await asked.get('/issues/1', Issue);
    github.accounts.revoke('ghp_short');
    expect((await failureOf(asked.get('/issues/2', Issue))).kind).toBe('unauthorized');
    const unset = await failureOf(client({ auth: { token: '$MINE' } }, {}).get('/issues/1', Issue));
    expect([unset.kind, unset.message]).toEqual(['no_credentials', 'the environment variable MINE is not set']);
    const nothing = await failureOf(client({}, { PATH: '/nonexistent' }).get('/issues/1', Issue));
    expect(nothing.message).toContain('the program gh is not installed');
  });

  test('also for an answer that is not what GitHub documents', async () => {
    github.faults.plan({}, { kind: 'answer', answer: { status: 200, body: { id: 'x' } } });
    expect((await failureOf(client().get('/issues/1', Issue))).message).toContain('is not what it documents: id');
  });

  test('a next page at another host is refused', async () => {
    const link = '<http://evil.example/next>; rel="next"';
    github.faults.plan({}, { kind: 'answer', answer: { status: 200, body: [], headers: { link } } });
    expect((await failureOf(client().list('/issues', Issue))).message).toContain('at another address');
  });
});

describe('the repository of a remote is recognized', () => {
  test.each([
    ['https://github.com/ada/mill.git', 'github.com ada/mill'],
    ['https://user:secret@github.com/ada/mill', 'github.com ada/mill'],
    ['git@github.com:ada/mill.git', 'github.com ada/mill'],
    ['ssh://git@ssh.github.com:443/ada/mill.git', 'ssh.github.com ada/mill'],
    ['/srv/git/mill.git', null],
    ['../mill', null],
  ])('in the case: %s', (remote, expected) => {
    const found = repositoryIn(remote);
    expect(found && `${found.host} ${found.owner}/${found.name}`).toBe(expected);
  });

  test('the token is sent to no host that only the remote names', () => {
    expect(() => placeOf({}, 'https://evil.example/ada/mill')).toThrow('is not github.com');
    expect(placeOf({ api: 'https://ghe.example/api/v3' }, 'https://ghe.example/ada/mill')).toMatchObject({
      api: 'https://ghe.example/api/v3',
    });
    expect(() => placeOf({}, null)).toThrow('has no remote');
  });

  test('the config refuses secrets and addresses in clear text', () => {
    const refused = (value: object) =>
      GithubConfig.safeParse(value)
        .error?.issues.map(({ message }) => message)
        .join();
    expect(refused({ auth: { token: 'ghp_real' } })).toBeDefined();
    expect(refused({ auth: { token: 'ghp_real' } })).not.toContain('ghp_real');
    expect(refused({ api: 'http://github.example.com' })).toContain('https://');
    expect(refused({ repository: 'mill' })).toContain('owner/name');
    expect(refused({ webhookSecret: 'hush' })).toContain('environment variable');
  });
});
