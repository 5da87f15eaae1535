import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { ResearchConfig } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSearch, readable } from './search.ts';

let root: string;
let server: Server;
let url: string;
const asked: { path: string; key: string | undefined }[] = [];

beforeAll(async () => {
  root = mkdtempSync(`${tmpdir()}/tidemill-search-`);
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push({ path, key: request.headers['x-key'] as string | undefined });
    if (path.includes('hang')) return;
    if (path.includes('away')) return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    if (path.includes('endless')) {
      const more = () => void response.write('tide '.repeat(10_000), more);
      return more();
    }
    response.end('<html><script>alert(1)</script><body onload="x()"><p>Tide &amp; time</p></body></html>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true });
});

const host = () => ({ root, dataDir: root, homeId: 'test', sandbox: 'off' as const });
const search = (config: object) =>
  createSearch({ config: ResearchConfig.parse(config), host: host(), env: { ...process.env, SEARCH_KEY: 'secret' } });

describe('a search provider', () => {
  test('is off when none is set', () => {
    expect(search({})).toBeUndefined();
    expect(ResearchConfig.safeParse({ command: ['x'], url: 'https://x.invalid' }).success).toBe(false);
    expect(ResearchConfig.safeParse({ url: 'file:///etc/passwd' }).success).toBe(false);
  });

  test('on a server gets the words encoded, and its scripts and tags are dropped', async () => {
    const found = search({ url: `${url}/find?q={query}`, headers: { 'x-key': '$SEARCH_KEY' } });
    expect(await found!('tide & time')).toBe('Tide &amp; time');
    expect(asked.at(-1)).toEqual({ path: '/find?q=tide%20%26%20time', key: 'secret' });
  });

  test('that hangs, leads elsewhere or never ends does no harm', async () => {
    await expect(search({ url: `${url}/hang`, timeout: '200ms' })!('x')).rejects.toThrow('no answer within');
    await expect(search({ url: `${url}/away` })!('x')).rejects.toThrow('answered 302');
    await expect(search({ url: 'http://127.0.0.1:1/' })!('x')).rejects.toThrow('the search provider failed');
    expect((await search({ url: `${url}/endless` })!('x')).length).toBeLessThan(9_000);
  });

  test('as a command gets the words as an argument and on its input, never as code', async () => {
    const words = '$(touch made) `id`; exit 3';
    const found = search({ command: ['sh', '-c', 'printf "%s|" "$1"; cat', 'search', '{query}'] });
    expect(await found!(words)).toBe(`${words}|${words}`);
    await expect(search({ command: ['sh', '-c', 'echo no key >&2; exit 3'] })!('x')).rejects.toThrow('3: no key');
    await expect(search({ command: ['sleep', '60'], timeout: '200ms' })!('x')).rejects.toThrow('no answer within');
    await expect(search({ command: ['no-such-program-here'] })!('x')).rejects.toThrow('the search provider failed');
    expect((await search({ command: ['yes'] })!('x')).length).toBeLessThan(9_000);
  });

  test.each([
    ['plain text', 'plain text'],
    ['a\u001b[31m red\u202e', 'a red'],
    ['<script>never closed', null],
    ['', null],
  ])('that returns %j gives the text %j', (raw, text) => {
    if (text === null) expect(() => readable(raw)).toThrow('returned no text');
    else expect(readable(raw)).toBe(text);
  });
});
