import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, routes } from '@tidemill/contract';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';
import { findDaemon } from './find-daemon.ts';
import { Follower } from './follower.ts';
import { harmlessStatus } from './harmless.ts';
import type { Seen, SeenPart } from './seen.ts';
import { whileTrusted } from './trust.ts';

const ALL: SeenPart[] = ['tasks', 'inbox', 'conflicts', 'activity', 'metrics'];

let served: ServedDaemon;
const open: Follower[] = [];

beforeAll(async () => {
  served = await ServedDaemon.start();
  await served.daemon.attach(served.repository.root);
});
afterEach(() => {
  for (const follower of open.splice(0)) follower.close();
});
afterAll(() => served.close());

/** A follower that tells when something is seen. */
function follow({ root = served.repository.root, dataFolder = served.home, wanted = ALL } = {}) {
  const waiting = new Set<() => void>();
  const states: string[] = [];
  const problems: string[] = [];
  const parts = new Set(wanted);
  const trust = { isGiven: true };
  const follower = new Follower({
    dataFolder,
    root,
    wanted: () => parts,
    isTrusted: () => trust.isGiven,
    onChange: (part) => {
      if (part === 'state') states.push(`${follower.seen.state}${follower.seen.isLive ? ' live' : ''}`);
      for (const look of waiting) look();
    },
    onProblem: (text) => problems.push(text),
  });
  open.push(follower);
  follower.start();
  const until = (isSo: (seen: Seen) => boolean) =>
    new Promise<Seen>((resolve) => {
      const look = () => {
        if (!isSo(follower.seen)) return;
        waiting.delete(look);
        resolve(follower.seen);
      };
      waiting.add(look);
      look();
    });
  return { follower, until, states, problems, parts, trust };
}

test('the follower finds the daemon and shows agents, tasks, figures and the last events', async () => {
  const { number } = await served.api.addTask({ project: served.project, title: 'Sort the list' });
  const { until, problems } = follow();
  const seen = await until(
    ({ status, tasks, activity, metrics }) =>
      status !== null && tasks.length > 0 && activity.length > 0 && metrics !== null,
  );
  expect(seen).toMatchObject({ state: 'ready', isLive: true });
  expect(seen.status?.workers.some(({ role }) => role === 'builder')).toBe(true);
  expect(seen.tasks.find((task) => task.number === number)?.title).toBe('Sort the list');
  expect(seen.activity.find(({ task }) => task?.number === number)).toBeDefined();
  expect(problems).toEqual([]);
});

test('a change of a worker is pushed', async () => {
  const { until } = follow();
  await until(({ status, isLive }) => status !== null && isLive);
  await served.api.steerWorkers({ project: served.project, worker: 'agent-1', operation: 'pause', by: 'ada' });
  const worker = (seen: Seen) => seen.status?.workers.find(({ name }) => name === 'agent-1');
  await until((seen) => worker(seen)?.desired === 'paused');
  await served.api.steerWorkers({ project: served.project, worker: 'agent-1', operation: 'resume', by: 'ada' });
  await until((seen) => worker(seen)?.desired === 'running');
});

test('parts that nobody wants are not read until somebody does', async () => {
  const { follower, until, parts } = follow({ wanted: [] });
  await until(({ state, status }) => state === 'ready' && status !== null);
  expect(follower.seen).toMatchObject({ metrics: null, inbox: [] });
  parts.add('metrics');
  follower.refresh(['metrics']);
  expect((await until(({ metrics }) => metrics !== null)).metrics?.period).toBe('24h');
});

test('of more than 50 events the oldest are dropped', async () => {
  const { project } = served;
  const { until } = follow();
  await until(({ activity }) => activity.length > 0);
  await served.api.steerWorkers({ project, worker: 'all', operation: 'stop', by: 'ada' });
  for (let at = 0; at < 60; at += 1) await served.api.addTask({ project, title: `Task ${at}` });
  const { activity } = await until((seen) => seen.activity.some(({ task }) => task?.title === 'Task 59'));
  expect(activity).toHaveLength(50);
  expect(activity.map(({ seq }) => seq)).toEqual(activity.map(({ seq }) => seq).toSorted((a, b) => b - a));
});

test('a daemon that stops and starts again on another port is found again', async () => {
  const { until, states, follower } = follow();
  await until(({ state }) => state === 'ready');
  const before = follower.daemon?.url;
  await served.restart();
  await until(({ state, status }) => state === 'ready' && status !== null && follower.daemon?.url !== before);
  expect(states.at(0)).toMatch(/^ready/);
});

test('a daemon that starts again at the same address is noticed too', async () => {
  const { until } = follow();
  const { startedAt } = await until(({ state, isLive }) => state === 'ready' && isLive);
  await served.restart({ port: Number(new URL(served.url).port) });
  const seen = await until((now) => now.state === 'ready' && now.isLive && now.startedAt !== startedAt);
  expect(seen.startedAt).toBe(served.daemon.info.startedAt);
});

test('without a WebSocket the follower polls, and says so', async () => {
  const { WebSocket } = globalThis;
  Object.assign(globalThis, { WebSocket: undefined });
  try {
    const { until } = follow();
    expect(await until(({ state, status }) => state === 'ready' && status !== null)).toMatchObject({ isLive: false });
    const { number } = await served.api.addTask({ project: served.project, title: 'Seen by polling' });
    await until(({ tasks }) => tasks.some((task) => task.number === number));
  } finally {
    Object.assign(globalThis, { WebSocket });
  }
});

test('texts of agents cannot hide or reorder what is beside them', async () => {
  const status = await served.api.status({ project: served.project });
  const [worker] = status.workers;
  const bad = 'cl\u202eear\u001b[31m';
  const shown = harmlessStatus({ ...status, workers: [{ ...worker!, lastError: bad }], warnings: [bad] });
  expect(shown.workers[0]?.lastError).toBe('clear');
  expect(shown.warnings).toEqual(['clear']);
});

test('a repository that the daemon does not know is reported as such', async () => {
  const { until, follower } = follow({ root: tmpdir() });
  await until(({ state }) => state === 'no_project');
  expect(follower.api).not.toBeNull();
  // Also until it has looked again, which makes another client: "Start" must not start another daemon.
  const { api } = follower;
  const seen: unknown[] = [];
  await vi.waitFor(() => expect(seen[seen.push(follower.api) - 1]).not.toBe(api), { timeout: 10_000, interval: 50 });
  expect(seen).not.toContain(null);
});

test('a command that comes first waits until the daemon was looked for', async () => {
  const { follower } = follow();
  expect(follower.seen.state).toBe('looking');
  await follower.looked;
  expect(follower.seen.state).toBe('ready');
  const none = follow({ dataFolder: join(tmpdir(), 'tidemill-vscode-none') }).follower;
  await none.looked;
  expect(none.seen.state).toBe('no_daemon');
});

test('while the workspace is not trusted, everything can be read and nothing changed', async () => {
  const { follower, trust } = follow();
  await follower.looked;
  const api = follower.api!;
  const { project } = served;
  trust.isGiven = false;
  const tasks = await api.tasks({ project });
  await expect(api.addTask({ project, title: 'Sneak in' })).rejects.toThrow('You have not trusted this workspace');
  await expect(api.actOnAlert({ project, by: 'ada', ref: 'a1', action: 'restart' })).rejects.toThrow('not trusted');
  expect(await api.tasks({ project })).toEqual(tasks);
  trust.isGiven = true;
  expect(await api.addTask({ project, title: 'Walk in' })).toMatchObject({ number: expect.any(Number) });
  // Ending work is always possible. All others that change something are refused.
  trust.isGiven = false;
  const calls = whileTrusted(
    Object.fromEntries(Object.keys(routes).map((name) => [name, () => 'sent'])) as unknown as Api,
    () => false,
  ) as unknown as Record<string, () => unknown>;
  expect(calls.emergencyStop!()).toBe('sent');
  for (const [name, { method }] of Object.entries(routes))
    if (method !== 'GET' && name !== 'emergencyStop') await expect(calls[name]!()).rejects.toThrow('not trusted');
});

test('no daemon is found when nobody answers at the address, the file is broken, or there is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-vscode-'));
  try {
    expect(await findDaemon(folder)).toBeNull();
    writeFileSync(join(folder, 'daemon.json'), '{"pid":');
    expect(await findDaemon(folder)).toBeNull();
    const left = { pid: 1, url: 'http://127.0.0.1:9', startedAt: 1, token: 'x' };
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify(left));
    expect(await findDaemon(folder)).toBeNull();
    // Another daemon has the port by now.
    const { url, token } = JSON.parse(JSON.stringify({ url: served.url, token: served.token }));
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ ...left, url, token }));
    expect(await findDaemon(folder)).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
