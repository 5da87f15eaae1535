import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { overviewOf } from '../fleet/overview.ts';
import { statusTextOf } from '../status-text.ts';
import { Follower } from './follower.ts';
import type { Seen } from './seen.ts';

const OPTIONS = { maxWorkers: 2, isTrusted: true };
const WORDS = 'this extension has another version';

let served: ServedDaemon;
beforeAll(async () => {
  served = await ServedDaemon.start();
  await served.daemon.attach(served.repository.root);
});
afterAll(() => served.close());

async function seenIn(dataFolder: string, isSo: (seen: Seen) => boolean): Promise<Seen> {
  const follower = new Follower({
    dataFolder,
    root: served.repository.root,
    wanted: () => new Set(['inbox', 'metrics']),
    onChange: () => undefined,
    isTrusted: () => true,
    onProblem: () => undefined,
  });
  follower.start();
  try {
    await vi.waitUntil(() => isSo(follower.seen), { timeout: 20_000 });
    return follower.seen;
  } finally {
    follower.close();
  }
}

/** The daemon, but some of its answers have another form, as those of another version. */
async function changed(answers: Record<string, unknown>, run: (folder: string) => Promise<void>): Promise<void> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://x').pathname;
    const answer = Object.entries(answers).find(([end]) => path.endsWith(end));
    const { authorization = '' } = request.headers;
    const text = answer
      ? JSON.stringify(answer[1])
      : await (await fetch(new URL(request.url!, served.url), { headers: { authorization } })).text();
    response.setHeader('content-type', 'application/json').end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-vscode-'));
  try {
    const file = JSON.parse(readFileSync(join(served.home, 'daemon.json'), 'utf8'));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ ...file, url, version: '9.9.9' }));
    await run(folder);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

test.each(['/v1/health', '/v1/projects'])(
  'a daemon of another version is told, and not taken for none: %s',
  async (path) => {
    await changed({ [path]: { flow: 'new' } }, async (folder) => {
      const seen = await seenIn(folder, ({ state }) => state !== 'looking');
      expect(seen.state).toBe('other_version');
      expect(overviewOf(seen, OPTIONS).banners).toMatchObject([
        { severity: 'error', text: expect.stringContaining(WORDS) },
      ]);
      expect(statusTextOf(seen).tooltip).toContain(WORDS);
    });
  },
);

test('where only a part of what another version says cannot be read, the rest is shown, with a banner', async () => {
  await changed({ '/inbox': [{ flow: 'new' }] }, async (folder) => {
    const seen = await seenIn(folder, ({ isUnreadable, status, metrics }) => isUnreadable && !!status && !!metrics);
    const [first] = overviewOf(seen, OPTIONS).banners;
    expect(first?.text).toContain('with version 9.9.9');
    expect(overviewOf(seen, OPTIONS).cards).not.toEqual([]);
    expect(statusTextOf(seen).tooltip).toContain(WORDS);
  });
});

test('a status that cannot be read is not taken for a project without agents', async () => {
  await changed({ '/status': { flow: 'new' } }, async (folder) => {
    const seen = await seenIn(folder, ({ state, isUnreadable }) => state === 'ready' && isUnreadable);
    expect(statusTextOf(seen)).toMatchObject({ text: '$(warning) Tidemill', command: 'tidemill.fleet.focus' });
  });
});

test('a file that was left behind, and another program at its address, are no daemon', async () => {
  await changed({ '/v1/health': { flow: 'new' } }, async (folder) => {
    const file = join(folder, 'daemon.json');
    // No process has this number: it is above what Linux and macOS give.
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), pid: 2 ** 30 }));
    expect((await seenIn(folder, ({ state }) => state !== 'looking')).state).toBe('no_daemon');
  });
});
