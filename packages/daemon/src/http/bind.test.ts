import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask, ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { Daemon } from '../assembly/daemon.ts';

let folder: string;
let certificates = true;
let served: ServedDaemon | undefined;
const file = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-tls-'));
  try {
    for (const name of ['one', 'two']) {
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
      const out = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
      const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
      execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...out], { stdio: 'pipe' });
    }
  } catch {
    certificates = false;
  }
});
afterEach(async () => {
  await served?.close();
  served = undefined;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A daemon that has given out a token, serving others as well. */
async function serve(bind: NonNullable<Parameters<typeof Daemon.start>[0]['bind']>) {
  served = await ServedDaemon.start();
  const { token } = await served.api.addToken({ name: 'ada', role: 'operator' });
  await served.restart({ bind });
  return { served, token, publicUrl: served.daemon.info.publicUrl! };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const address = () =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe('serving other machines', () => {
  const refused: [name: string, bind: () => object, message: RegExp][] = [
    ['neither TLS nor --insecure-http', () => ({ host: '0.0.0.0' }), /without encryption/],
    ['no access token', () => ({ host: '0.0.0.0', insecureHttp: true }), /no access token yet/],
    ['a certificate without a key', () => ({ tlsCert: file('one.pem') }), /must be used together/],
    ['a certificate that is not there', () => ({ tlsCert: file('no.pem'), tlsKey: file('no.key') }), /cannot be read/],
    ['a certificate that is none', () => ({ tlsCert: file('bad.pem'), tlsKey: file('bad.pem') }), /cannot be used/],
    ['both at once', () => ({ tlsCert: 'a', tlsKey: 'b', insecureHttp: true }), /cannot be combined/],
    ['a name that is none', () => ({ allowHost: ['http://x/'] }), /not a host name/],
  ];
  test.each(refused)('is refused with %s, and nothing is started', async (_, bind, message) => {
    writeFileSync(file('bad.pem'), 'not a certificate');
    const home = mkdtempSync(join(tmpdir(), 'tidemill-bind-'));
    const starting = Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0, bind: bind() });
    await expect(starting).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/./),
    });
    expect(existsSync(join(home, 'daemon.json'))).toBe(false);
    rmSync(home, { recursive: true });
  });

  test('is refused with the key of another certificate', async (context) => {
    context.skip(!certificates, 'openssl cannot make certificates here');
    const home = mkdtempSync(join(tmpdir(), 'tidemill-bind-'));
    const bind = { tlsCert: file('one.pem'), tlsKey: file('two.key') };
    await expect(Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0, bind })).rejects.toThrow(/does not match/);
    rmSync(home, { recursive: true });
  });

  test('is refused at an address that is not of this machine, and the folder is free again', async () => {
    served = await ServedDaemon.start();
    await served.api.addToken({ name: 'ada', role: 'viewer' });
    const bind = { host: '192.0.2.1', insecureHttp: true };
    await expect(served.restart({ bind })).rejects.toMatchObject({ code: 'bad_input' });
    await served.restart();
  });

  test('over TLS checks names and origins and sets a secure cookie; loopback stays as it was', async (context) => {
    context.skip(!certificates, 'openssl cannot make certificates here');
    const tls = { tlsCert: file('one.pem'), tlsKey: file('one.key') };
    const { token, publicUrl, served: daemon } = await serve({ host: '0.0.0.0', ...tls, allowHost: ['Mill.example'] });
    const { port } = new URL(publicUrl);
    expect(publicUrl).toBe(`https://mill.example:${port}`);
    const near = `https://127.0.0.1:${port}`;
    const hello = (headers: Record<string, string>) =>
      ask(near, '/v1/whoami', { headers: { ...bearer(token), ...headers } });
    expect((await hello({})).status).toBe(200);
    expect((await hello({ host: `mill.example:${port}` })).status).toBe(200);
    expect((await hello({ host: `evil.example:${port}` })).status).toBe(403);
    expect((await hello({ host: 'mill.example' })).status).toBe(403);
    const own = `mill.example:${port}`;
    expect((await hello({ host: own, origin: `https://${own}` })).status).toBe(200);
    expect((await hello({ host: own, origin: `http://${own}` })).status).toBe(403);
    const link = await ask(near, `/?token=${token}&to=/fleet`, { headers: { host: own } });
    expect(link.headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
    expect((await daemon.ask('/v1/whoami')).headers).not.toHaveProperty('strict-transport-security');
    expect(link.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/; Secure$/);
    const cookie = link.headers['set-cookie']![0]!.split(';')[0]!;
    const change = (origin: string) =>
      ask(near, '/v1/projects/x/tasks', {
        method: 'POST',
        headers: { host: own, cookie, origin, 'content-type': 'application/json' },
        body: '{"title":"x"}',
      });
    expect((await change(`https://${own}`)).status).toBe(404);
    expect((await change(`http://${own}`)).status).toBe(403);
    // The command line goes on by loopback, without a certificate to believe in.
    expect(daemon.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(await daemon.api.whoami({})).toMatchObject({ role: 'admin' });
  });

  test("the daemon's own token is for this machine only", async (context) => {
    const outer = address();
    context.skip(outer === undefined, 'this machine has no address but loopback');
    const { token, publicUrl, served: daemon } = await serve({ host: '0.0.0.0', insecureHttp: true });
    expect(publicUrl).toBe(`http://${outer}:${new URL(publicUrl).port}`);
    const near = `http://127.0.0.1:${new URL(publicUrl).port}`;
    const status = async (url: string, given: string) =>
      (await ask(url, '/v1/whoami', { headers: bearer(given) })).status;
    expect(await status(near, daemon.token)).toBe(200);
    expect(await status(publicUrl, daemon.token)).toBe(401);
    expect((await ask(publicUrl, `/?token=${daemon.token}`)).status).toBe(401);
    expect(await status(publicUrl, token)).toBe(200);
    expect(await status(publicUrl, 'wrong')).toBe(401);
  });
});

test('a host name may be allowed on loopback as well', async () => {
  served = await ServedDaemon.start({ bind: { allowHost: ['mill.test', 'tunnel.test:8080'] } });
  const { port } = new URL(served.url);
  const ours = async (host: string) => (await served!.ask('/v1/health', { headers: { host } })).status;
  expect(await ours(`mill.test:${port}`)).toBe(200);
  expect(await ours('tunnel.test:8080')).toBe(200);
  expect(await ours(`tunnel.test:${port}`)).toBe(403);
  expect(await ours(`other.test:${port}`)).toBe(403);
  expect(served.daemon.info.publicUrl).toBeNull();
});
