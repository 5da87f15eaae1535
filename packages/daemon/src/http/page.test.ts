import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Daemon } from '../assembly/daemon.ts';
import { pageDir } from '../assets.ts';

let home: string;
let daemon: Daemon;
let token: string;
let port: string;
let cookie: string;
let origin: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-page-'));
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).token;
  port = new URL(daemon.info.url).port;
  origin = daemon.info.url;
  cookie = `tidemill-${port}=${token}`;
});
afterAll(async () => {
  await daemon.stop({ now: true });
  rmSync(home, { recursive: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Below fetch, which would tidy the path and not let a test choose its own Host. */
function call(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

describe('the link to the page', () => {
  test('turns its token into a cookie for this daemon only, and leaves the address', async () => {
    const { pathname, search } = new URL(daemon.link);
    const { status, headers } = await call(pathname + search);
    expect({ status, location: headers.location }).toEqual({ status: 303, location: '/' });
    expect(headers['set-cookie']).toEqual([`tidemill-${port}=${token}; HttpOnly; SameSite=Strict; Path=/`]);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  test.each([
    ['a wrong token', '/?token=nope', /no longer valid/],
    ['an empty token', '/?token=', /no longer valid/],
    ['no token', '/', /from its link/],
    ['the cookie of another daemon', '/', /from its link/],
  ])('gives a notice on how to get one, and no cookie, in the case: %s', async (name, path, words) => {
    const { status, headers, text } = await call(
      path,
      name.includes('cookie') ? { cookie: `tidemill-1=${token}` } : {},
    );
    expect({ status, cookie: headers['set-cookie'] }).toEqual({ status: 401, cookie: undefined });
    expect(text).toMatch(words);
    expect(text).toContain('tidemill status');
    expect(text).not.toContain(token);
    expect(headers['content-security-policy']).toContain("style-src 'sha256-");
  });

  test.each([
    ['/board', '/board'],
    ['/tasks/12?tab=diff', '/tasks/12?tab=diff'],
    ['/conflicts/7', '/conflicts/7'],
    ['https://evil.example/', '/'],
    ['//evil.example/board', '/'],
    ['/\\evil.example', '/'],
    ['/v1/stop', '/'],
    ['/../board', '/board'],
    ['/tasks/../../etc/passwd', '/etc/passwd'],
    ['/docs', '/'],
    ['/index.html', '/'],
    ['javascript:alert(1)', '/'],
    ['/?token=x', '/'],
    ['/board\r\nset-cookie: a=b', '/'],
  ])('may lead to an address of the page, and nowhere else: %s', async (to, location) => {
    const { status, headers } = await call(`/?token=${token}&to=${encodeURIComponent(to)}`);
    expect({ status, location: headers.location }).toEqual({ status: 303, location });
  });

  test('is refused for a rebound name', async () => {
    expect((await call(`/?token=${token}`, { host: `evil.example:${port}` })).status).toBe(403);
  });
});

describe('the cookie of the page', () => {
  const json = { 'content-type': 'application/json' };

  test('allows reading, but not by another page of this machine to which browsers hand the cookie', async () => {
    expect((await call('/v1/health', { cookie: `theme=dark; ${cookie}` })).status).toBe(200);
    expect((await call('/v1/health', { cookie: `${cookie}x` })).status).toBe(401);
    expect((await call('/v1/health', { cookie, 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await call('/v1/health', { cookie, origin: 'http://127.0.0.1:1' })).status).toBe(403);
  });

  const changes: [name: string, headers: () => Record<string, string>, status: number][] = [
    ['without an origin', () => ({ cookie }), 403],
    ['from another origin', () => ({ cookie, origin: 'https://evil.example' }), 403],
    ['from our other name', () => ({ cookie, origin: origin.replace('127.0.0.1', 'localhost') }), 403],
    ['from our own page', () => ({ cookie, origin }), 400],
    ['by a program with the token', () => ({ authorization: `Bearer ${token}` }), 400],
    ['with the cookie and a wrong token', () => ({ cookie, origin, authorization: 'Bearer nope' }), 401],
  ];
  test.each(changes)('allows or refuses a change %s', async (_, headers, status) => {
    // An empty body is refused as such (400) once the caller is accepted.
    expect((await call('/v1/projects', { ...json, ...headers() }, 'POST', '{}')).status).toBe(status);
  });
});

describe('the server of the page', () => {
  const built = pageDir();

  test('serves the page and its assets with a strict policy', async (context) => {
    context.skip(built === null, 'the page is not built');
    const page = await call('/', { cookie });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const policy = page.headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${port};`);
    const [script] = readdirSync(join(built!, 'assets')).filter((name) => /^index-.*\.js$/.test(name));
    expect(page.text).toContain(`/assets/${script}`);
    const asset = await call(`/assets/${script}`, { cookie });
    expect(asset.headers).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8' });
    expect(asset.headers['cache-control']).toContain('immutable');
    expect((await call(`/assets/${script}`)).status).toBe(401);
  });

  const pages = ['/', '/board', '/board?stage=open', '/tasks/12', '/inbox', '/fleet', '/conflicts', '/conflicts/12'];
  test.each([...pages, '/costs', '/settings', '/tasks/12/x', '/a-page-of-tomorrow'])(
    'serves the page at %s; without the cookie a notice leads back to it',
    async (path) => {
      const page = await call(path, { cookie });
      expect(page.status).toBe(built === null ? 503 : 200);
      const message = await call(path);
      expect(message.status).toBe(401);
      expect(message.text).toContain(`<a href="${path}">`);
      expect((await call(path, {}, 'POST')).status).toBe(401);
    },
  );

  test('repeats nothing as markup in a notice', async () => {
    const { text } = await call('/board?x="><script>alert(1)</script>');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('?x=">');
  });

  test.each([
    '/favicon.ico',
    '/robots.txt',
    '/board/',
    '/board.html',
    '/tasks/a.b',
    '/assets/none',
    `/${'x'.repeat(101)}`,
  ])('does not serve the page at %s', async (path) => expect((await call(path, { cookie })).status).toBe(404));

  test.each([
    '/../package.json',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/assets/..\\..\\package.json',
    '/.built-from',
    '/assets',
    '/assets/',
    '//etc/passwd',
    '/src/main.tsx',
  ])('serves no other file at %s', async (path) => {
    const { status, text } = await call(path, { cookie });
    expect([400, 404]).toContain(status);
    expect(text).not.toContain('tidemill/');
  });

  test('refuses a malformed address as a bad request', async () => {
    expect((await call('http://', {})).status).toBe(400);
    const log = readFileSync(join(home, 'daemon.log'), 'utf8').trim().split('\n');
    const failures = log.filter((line) => JSON.parse(line).level >= 50);
    expect(log[0]).toContain('started');
    expect(failures).toEqual([]);
  });
});
