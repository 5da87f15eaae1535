import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api, LoggedEvent } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { Daemon } from '../assembly/daemon.ts';

let home: string;
let repository: TemporaryRepository;
let daemon: Daemon;
let token: string;
let api: Api;
let project: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-http-'));
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  token = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).token;
  api = createClient({ url: daemon.info.url, token });
  project = (await api.registerProject({ root: repository.root })).id;
});
afterAll(async () => {
  await daemon.stop({ now: true });
  repository.remove();
  rmSync(home, { recursive: true });
});

interface Answer {
  status: number;
  body: { error?: { code: string; message: string; hint: string } };
}

/** Below fetch, which would not let a test choose its own Host. */
function call(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  const given = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(new URL(path, daemon.info.url), { method, headers: given }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

describe('access to the server', () => {
  test('daemon.json is for its owner only', () => {
    expect(statSync(join(home, 'daemon.json')).mode & 0o777).toBe(0o600);
  });

  const refused: [name: string, headers: Record<string, string>, status: number, code: string][] = [
    ['no token', { authorization: '' }, 401, 'unauthorized'],
    ['a wrong token', { authorization: 'Bearer nope' }, 401, 'unauthorized'],
    ['a token of the same length', { authorization: `Bearer ${'x'.repeat(43)}` }, 401, 'unauthorized'],
    ['a rebound name', { host: 'evil.example' }, 403, 'forbidden'],
    ['another port', { host: '127.0.0.1:1' }, 403, 'forbidden'],
    ['a page of another origin', { origin: 'https://evil.example' }, 403, 'forbidden'],
    ['a page without an origin of its own', { origin: 'null' }, 403, 'forbidden'],
  ];
  test.each(refused)('%s is refused', async (_, headers, status, code) => {
    expect(await call('GET', '/v1/health', { headers })).toMatchObject({ status, body: { error: { code } } });
  });

  test('is granted to the right token, from localhost and from its own origin', async () => {
    const port = new URL(daemon.info.url).port;
    const own = { host: `localhost:${port}`, origin: `http://localhost:${port}` };
    // The word before it may be written in any case.
    const headers = { ...own, authorization: `bearer ${token}` };
    expect((await call('GET', '/v1/health', { headers })).status).toBe(200);
  });
});

describe('a request to the server', () => {
  const tasks = () => `/v1/projects/${project}/tasks`;
  const bad: [name: string, send: () => Promise<Answer>, status: number, code: string, message: RegExp][] = [
    ['not JSON', () => call('POST', tasks(), { body: '{"title":' }), 400, 'bad_input', /not JSON/],
    ['a list', () => call('POST', tasks(), { body: '[]' }), 400, 'bad_input', /JSON object/],
    [
      'a form',
      () => call('POST', tasks(), { headers: { 'content-type': 'text/plain' }, body: '{}' }),
      400,
      'bad_input',
      /must be JSON/,
    ],
    ['no title', () => call('POST', tasks(), { body: '{}' }), 400, 'bad_input', /title/],
    ['an unknown key', () => call('POST', tasks(), { body: '{"title":"a","titel":"b"}' }), 400, 'bad_input', /titel/],
    [
      'a priority out of range',
      () => call('POST', tasks(), { body: '{"title":"a","priority":9}' }),
      400,
      'bad_input',
      /priority/,
    ],
    [
      'more than 10 MB',
      () => call('POST', tasks(), { body: Buffer.alloc(10 * 1024 * 1024 + 1, 32) }),
      413,
      'too_large',
      /10 MB/,
    ],
    [
      'an unknown pipeline',
      () => call('POST', tasks(), { body: '{"title":"a","pipeline":"x"}' }),
      400,
      'unknown_pipeline',
      /"x"/,
    ],
    ['an unknown project', () => call('GET', '/v1/projects/nope/status'), 404, 'no_project', /nope/],
    ['an unknown task', () => call('GET', `${tasks()}/77`), 404, 'not_found', /#77/],
    ['an unknown run', () => call('GET', '/v1/runs/nope/log'), 404, 'not_found', /nope/],
    [
      'an unknown task to follow',
      () => call('GET', `/v1/events?project=${project}&task=77&follow=true`),
      404,
      'not_found',
      /#77/,
    ],
    ['an unknown path', () => call('GET', '/v2/nothing'), 404, 'not_found', /nothing/],
    ['a wrong method', () => call('PUT', '/v1/health', { body: '{}' }), 400, 'bad_input', /accepts GET/],
    ['a broken escape', () => call('GET', '/v1/projects/%E0%A4%A/status'), 400, 'bad_input', /not a valid/],
    ['a limit that is no number', () => call('GET', `${tasks()}?limit=many`), 400, 'bad_input', /limit/],
  ];
  test.each(bad)('%s is refused', async (_, send, status, code, message) => {
    const answer = await send();
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.stringMatching(message) } } });
  });

  test('with a large body is cut off too when it names no length', async () => {
    const sent = request(new URL(tasks(), daemon.info.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    // The server may hang up while we still write; its answer is what counts.
    sent.on('error', () => undefined);
    const answered = new Promise<number>((resolve) =>
      sent.on('response', (response) => resolve(response.statusCode ?? 0)),
    );
    for (let i = 0; i < 11; i += 1) sent.write(Buffer.alloc(1024 * 1024, 32));
    sent.end();
    expect(await answered).toBe(413);
  });
});

describe('the typed client', () => {
  test('adds, lists and shows tasks; throws refusals with their code', async () => {
    const first = await api.addTask({ project, title: 'One', accept: ['It works'] });
    const second = await api.addTask({ project, title: 'Zwei ünïcode', after: [first.number] });
    expect(second).toMatchObject({ after: [first.number], unmet: 1, stage: 'open' });
    expect((await api.tasks({ project, afterNumber: first.number })).map(({ title }) => title)).toEqual([
      'Zwei ünïcode',
    ]);
    expect((await api.tasks({ project, stages: ['done', 'blocked'] })).length).toBe(0);
    expect((await api.task({ project, task: second.id })).task.number).toBe(second.number);
    await expect(api.addTask({ project, title: 'x', after: [99] })).rejects.toMatchObject({ code: 'not_found' });
    await expect(api.setDependencies({ project, task: first.number, after: [second.number] })).rejects.toMatchObject({
      code: 'dependency_cycle',
    });
  });

  test('follows the log from a cursor, none skipped or repeated, as lines and as server-sent events', async () => {
    const { lastSeq } = await api.status({ project });
    const stop = new AbortController();
    const seen: LoggedEvent[] = [];
    const following = (async () => {
      for await (const event of api.events({ project, after: lastSeq, follow: true }, stop.signal)) {
        seen.push(event);
        if (seen.length === 20) return;
      }
    })();
    await Promise.all(Array.from({ length: 20 }, (_, index) => api.addTask({ project, title: `Task ${index}` })));
    await following;
    stop.abort();
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => lastSeq + index + 1));

    const beyond = api.events({ project, after: lastSeq + 1_000_000, follow: true, limit: 1 })[Symbol.asyncIterator]();
    const next = beyond.next();
    // Whichever of them comes after it has begun to follow.
    let isOver = false;
    void next.finally(() => (isOver = true));
    while (!isOver) await api.addTask({ project, title: 'Heard after all' });
    expect((await next).value).toMatchObject({ body: { title: 'Heard after all' } });

    const response = await fetch(`${daemon.info.url}/v1/events?after=${lastSeq}&limit=2`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    expect(await response.text()).toMatch(
      new RegExp(`^id: ${lastSeq + 1}\\ndata: \\{.*\\}\\n\\nid: ${lastSeq + 2}\\n`),
    );
    // What a browser's EventSource sends by itself when it comes back to the same address.
    const again = await fetch(`${daemon.info.url}/v1/events?after=${lastSeq}&limit=1`, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        'last-event-id': String(lastSeq + 2),
      },
    });
    expect(await again.text()).toMatch(new RegExp(`^id: ${lastSeq + 3}\\n`));
  });

  test('says that no daemon answers', async () => {
    const nobody = createClient({ url: 'http://127.0.0.1:9', token });
    await expect(nobody.health({})).rejects.toMatchObject({ code: 'daemon_unreachable' });
  });
});

describe('one daemon per data folder', () => {
  test('a second one is refused with pid and url', async () => {
    await expect(Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 })).rejects.toMatchObject({
      code: 'daemon_running',
      message: expect.stringContaining(`pid ${process.pid}, ${daemon.info.url}`),
    });
  });

  test('a port in use is told, and the folder is free again', async () => {
    const other = mkdtempSync(join(tmpdir(), 'tidemill-port-'));
    const port = Number(new URL(daemon.info.url).port);
    const env = { TIDEMILL_HOME: other };
    await expect(Daemon.start({ env, port })).rejects.toMatchObject({ code: 'port_in_use' });
    const again = await Daemon.start({ env, port: 0 });
    await again.stop({ now: true });
    rmSync(other, { recursive: true });
  });
});
