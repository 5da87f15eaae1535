import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GithubConfig, GithubTrackerConfig } from '@tidemill/contract';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../clock.ts';
import { GithubClient } from '../client/client.ts';
import { GithubTracker } from './github-tracker.ts';

const row = (number: number, minute: number, more: object = {}) => ({
  ...{ id: number, number, title: `Number ${number}`, state: 'open', html_url: 'https://github.example/x' },
  ...{ updated_at: `2026-01-01T00:0${minute}:00Z`, user: { login: 'ada' }, ...more },
});

test('pull requests are no items, but what changed of them is not read again and again', async () => {
  const rows = [row(1, 1)];
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const { searchParams, pathname } = new URL(url, 'http://x');
    response.setHeader('content-type', 'application/json');
    if (pathname.endsWith('/comments')) return void response.end('[]');
    asked.push(searchParams.get('since') ?? '');
    const since = searchParams.get('since') ?? '';
    const isNewest = searchParams.get('direction') === 'desc';
    const found = rows.filter(({ updated_at: at }) => at >= since);
    response.end(JSON.stringify(isNewest ? found.slice(-1) : found));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = GithubConfig.parse({ repository: 'ada/mill', api });
  const env = { GITHUB_TOKEN: 'ghp_x' };
  const client = new GithubClient({ config, root: '/', env, clock: systemClock, remote: async () => null });
  const about = { client, clock: systemClock, repository: 'ada/mill', url: null };
  const tracker = new GithubTracker({ ...about, config: GithubTrackerConfig.parse({ type: 'github', labels: ['a'] }) });
  const { cursor } = await tracker.changes((await tracker.changes(null)).cursor);

  rows.push(row(2, 2, { pull_request: {} }), row(3, 3, { pull_request: {} }));
  const changed = await tracker.changes(cursor);
  expect(changed.items).toEqual([]);
  expect(await tracker.changes(changed.cursor)).toEqual({ ...changed, items: [] });
  expect(asked.at(-1)).toBe('2026-01-01T00:03:00Z');
});
