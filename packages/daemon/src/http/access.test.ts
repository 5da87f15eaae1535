import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type AccessRole, mayAct, type RouteName, routes } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ask, ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { openOffline } from '../assembly/offline.ts';

let served: ServedDaemon;
const tokens = {} as Record<AccessRole, string>;
const ROLES: AccessRole[] = ['viewer', 'operator', 'admin', 'worker', 'agent'];

beforeAll(async () => {
  served = await ServedDaemon.start();
  for (const role of ROLES) tokens[role] = (await served.api.addToken({ name: `the-${role}`, role })).token;
});
afterAll(() => served.close());

const as = (token: string) => createClient({ url: served.url, token });
const otherProcess = () => openOffline({ TIDEMILL_HOME: served.home });

describe('named tokens', () => {
  test('are shown once, kept as a hash, in a folder for its owner only', async () => {
    const files = readdirSync(served.home).filter((name) => name.startsWith('store.db'));
    const kept = files.map((name) => readFileSync(join(served.home, name), 'latin1')).join('');
    expect(kept).toContain('token/the-viewer');
    for (const token of Object.values(tokens)) expect(kept).not.toContain(token);
    for (const name of files) expect(statSync(join(served.home, name)).mode & 0o777).toBe(0o600);
    expect(statSync(served.home).mode & 0o777).toBe(0o700);
    chmodSync(served.home, 0o755);
    await otherProcess().then((other) => other.close());
    expect(statSync(served.home).mode & 0o777).toBe(0o700);
    expect(JSON.stringify(await served.api.tokens({}))).not.toMatch(/hash|tidemill_/);
    expect((await served.api.tokens({})).map(({ name, role }) => `${name} ${role}`)).toContain('the-viewer viewer');
  });

  test('tell who they are; the last use is remembered, but not written each time', async () => {
    expect(await as(tokens.viewer).whoami({})).toMatchObject({ name: 'the-viewer', person: 'the-viewer' });
    expect(await served.api.whoami({})).toEqual({ name: null, role: 'admin', person: expect.stringMatching(/./) });
    const viewer = async () => (await served.api.tokens({})).find(({ name }) => name === 'the-viewer');
    await vi.waitFor(async () => expect((await viewer())?.lastUsedAt).toBeGreaterThan(0), { timeout: 30_000 });
    const before = await viewer();
    for (let again = 0; again < 3; again += 1) await as(tokens.viewer).whoami({});
    expect(await viewer()).toEqual(before);
  });

  test('each role may do what its routes say, and is told what it lacks', async () => {
    const refused: string[] = [];
    for (const role of ROLES) {
      for (const name of Object.keys(routes) as RouteName[]) {
        const { method, path, role: needed, decides } = routes[name];
        if (mayAct(role, needed)) continue;
        const answer = await served.ask(path.replace(/:\w+/g, 'x'), {
          method,
          headers: { authorization: `Bearer ${tokens[role]}` },
          ...(method === 'GET' ? {} : { body: '{}' }),
        });
        expect({ name, role, status: answer.status }).toEqual({ name, role, status: 403 });
        expect(JSON.parse(answer.text).error).toMatchObject({
          code: 'forbidden',
          message: expect.stringMatching(
            role === 'agent' && decides
              ? /an agent does not decide it$/
              : new RegExp(`needs the role ${needed}, .*has the role ${role}$`),
          ),
        });
        refused.push(`${role} ${name}`);
      }
    }
    expect(refused).toEqual(expect.arrayContaining(['viewer addTask', 'operator addToken', 'worker addTask']));
    expect(refused.some((each) => each.startsWith('admin'))).toBe(false);
    await expect(
      as(tokens.operator).addTask({ project: served.project, title: 'An operator may' }),
    ).resolves.toBeTruthy();
    await expect(as(tokens.worker).projects({})).resolves.toHaveLength(1);
    // Who may do least may still look at everything but the list of tokens.
    const looks = (Object.keys(routes) as RouteName[]).filter((name) => routes[name].method === 'GET');
    expect(looks.filter((name) => !mayAct('viewer', routes[name].role))).toEqual(['tokens']);
  });

  test('sign what is done with them, whatever the request says', async () => {
    const { number } = await served.api.addTask({ project: served.project, title: 'Who said it' });
    await as(tokens.operator).editTask({
      project: served.project,
      task: number,
      title: 'Who said that',
      by: 'mallory',
    });
    const names: string[] = [];
    for await (const { body } of served.api.events({ project: served.project, task: number }))
      if ('by' in body && body.by) names.push(`${body.by.kind} ${body.by.name}`);
    expect(names).toContain('token the-operator');
    expect(names.join()).not.toContain('mallory');
    // The daemon's own log tells the rest.
    const log = () => readFileSync(join(served.home, 'daemon.log'), 'utf8');
    await as(tokens.operator).addTask({ project: served.project, title: 'Whose idea' });
    expect(log()).toContain(`the-operator: POST /v1/projects/${served.project}/tasks`);
    await as(tokens.admin).limitBudget({ project: served.project, dailyUsd: 5 });
    const [limited] = await served.api.recentEvents({ project: served.project, types: ['budget.limited'] });
    expect(limited?.body).toMatchObject({ by: { kind: 'token', name: 'the-admin' } });
    for (const token of [served.token, ...Object.values(tokens)]) expect(log()).not.toContain(token);
  });

  test('open the page by a link of their own', async () => {
    const { status, headers } = await ask(served.url, `/?token=${tokens.viewer}&to=/board`);
    expect({ status, location: headers.location }).toEqual({ status: 303, location: '/board' });
    const [cookie] = headers['set-cookie']!;
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
    const who = await ask(served.url, '/v1/whoami', { headers: { cookie: cookie!.split(';')[0]! } });
    expect(JSON.parse(who.text)).toMatchObject({ name: 'the-viewer', role: 'viewer' });
  });

  test('are refused under a name that is taken, and when the name is none; of two at once one wins', async () => {
    const add = (name: string) => served.api.addToken({ name, role: 'viewer' });
    await expect(add('The-Viewer')).rejects.toMatchObject({ code: 'conflict' });
    for (const name of ['', '../x', 'a b', 'ä', '1st', 'x'.repeat(51)])
      await expect(add(name)).rejects.toMatchObject({ code: 'bad_input' });
    const both = await Promise.allSettled([add('twin'), add('twin')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('are worthless at once when revoked, also by another process', async () => {
    const { token } = await served.api.addToken({ name: 'guest', role: 'viewer' });
    await as(token).whoami({});
    expect(await served.api.revokeToken({ name: 'guest' })).toEqual({ revoked: 'guest' });
    await expect(as(token).whoami({})).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(served.api.revokeToken({ name: 'guest' })).rejects.toMatchObject({ code: 'not_found' });
    const other = await otherProcess();
    const { token: foreign } = await other.api.addToken({ name: 'foreigner', role: 'viewer' });
    await expect(as(foreign).whoami({})).resolves.toMatchObject({ name: 'foreigner' });
    await other.api.revokeToken({ name: 'foreigner' });
    await expect(as(foreign).whoami({})).rejects.toMatchObject({ code: 'unauthorized' });
    await other.close();
  });

  test('whose row is damaged open nothing, and doctor names them', async () => {
    const { token } = await served.api.addToken({ name: 'damaged', role: 'viewer' });
    await as(token).whoami({});
    const store = new DatabaseSync(join(served.home, 'store.db'));
    store.exec("UPDATE records SET doc = json_remove(doc, '$.role') WHERE id = 'token/damaged'");
    await expect(as(token).whoami({})).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await served.api.tokens({})).map(({ name }) => name)).not.toContain('damaged');
    const { findings } = await served.api.doctor({});
    expect(findings.map(({ text }) => text).join('\n')).toContain('record token/damaged cannot be read: role');
    await expect(as(tokens.viewer).whoami({})).resolves.toBeTruthy();
    store.exec(`UPDATE records SET doc = json_set(doc, '$.role', 'viewer') WHERE id = 'token/damaged'`);
    store.close();
    await expect(as(token).whoami({})).resolves.toMatchObject({ role: 'viewer' });
  });

  test('that are revoked no longer follow the log either', async () => {
    const { token } = await served.api.addToken({ name: 'follower', role: 'viewer' });
    const first = Promise.withResolvers<void>();
    const following = (async () => {
      for await (const _ of as(token).events({ follow: true })) first.resolve();
    })();
    await first.promise;
    await served.api.revokeToken({ name: 'follower' });
    await expect(following).rejects.toMatchObject({ code: 'daemon_unreachable' });
  });

  test('outlive the daemon, whose own token does not', async () => {
    const old = served.token;
    await served.restart();
    await expect(as(old).whoami({})).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(as(tokens.admin).whoami({})).resolves.toMatchObject({ name: 'the-admin' });
  });
});
