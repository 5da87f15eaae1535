import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { GithubConfig } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../clock.ts';
import { GithubClient } from '../client/client.ts';
import { createWorkflows } from './workflow-runs.ts';

interface Run {
  id: number;
  display_title: string;
  status: string;
  conclusion: string | null;
  html_url: string;
}

let server: Server;
let api: string;
let runs: Run[];
let requests: string[];
/** What a look at a run changes: it is called before each answer. */
let onLook: (run: Run) => void;
let startsRuns: boolean;
let onList: () => void;
/** How many lists are answered before a started run is in them. */
let unlisted: number;

/** The part of GitHub's API that workflows need. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const body = await text(request);
    requests.push(`${request.method} ${pathname.replace('/repos/mill/demo', '')}`);
    const reply = (status: number, data?: unknown) =>
      data === undefined
        ? response.writeHead(status).end()
        : response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(data));
    if (pathname.endsWith('/dispatches')) {
      const { inputs } = JSON.parse(body) as { inputs: { delivery: string; commit: string } };
      const id = runs.length + 1;
      const about = { id, display_title: `deploy ${inputs.delivery}`, html_url: `https://example.invalid/${id}` };
      if (startsRuns) runs.push({ ...about, status: 'queued', conclusion: null });
      return reply(204);
    }
    if (pathname.endsWith('/missing.yml/runs')) return reply(404, { message: 'Not Found' });
    if (pathname.endsWith('.yml/runs')) {
      if (unlisted > 0) onList();
      const listed = unlisted > 0 ? [] : runs;
      unlisted -= 1;
      return reply(200, { total_count: listed.length, workflow_runs: listed });
    }
    if (pathname.endsWith('/cancel')) {
      onLook = (run) => Object.assign(run, { status: 'completed', conclusion: 'cancelled' });
      return reply(202, {});
    }
    const run = runs.find(({ id }) => pathname.endsWith(`/runs/${id}`))!;
    onLook(run);
    return reply(200, run);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  runs = [];
  requests = [];
  startsRuns = true;
  unlisted = 0;
  onList = () => undefined;
  onLook = (run) => Object.assign(run, { status: 'completed', conclusion: 'success' });
});

const never = new AbortController().signal;

function run(marker: string, { signal = never, down = never, workflow = 'deploy.yml', isResumed = false } = {}) {
  const client = new GithubClient({
    config: GithubConfig.parse({ repository: 'mill/demo', api, auth: { token: '$GITHUB_TOKEN' } }),
    root: '/',
    env: { GITHUB_TOKEN: 'ghp_secret0000000000000000' },
    clock: systemClock,
    remote: async () => null,
  });
  const workflows = createWorkflows({ client, clock: systemClock, branch: 'main', lookMs: 10, foundWithinMs: 1500 });
  const about = { workflow, environment: 'staging', commit: 'c0ffee', marker, isResumed };
  return workflows.run(about, { signal, down }, () => undefined);
}
const starts = () => requests.filter((each) => each.endsWith('/dispatches'));

describe('a workflow', () => {
  test('is started, followed to its end, and judged by its conclusion', async () => {
    expect(await run('delivery_1')).toEqual({ result: 'passed', note: 'success: https://example.invalid/1' });
    onLook = (each) => Object.assign(each, { status: 'completed', conclusion: 'failure' });
    expect(await run('delivery_2')).toEqual({ result: 'failed', note: 'failure: https://example.invalid/2' });
    expect(starts()).toHaveLength(2);
  });

  test('that an earlier process has started is found by its marker and not started again', async () => {
    await run('delivery_1');
    requests = [];
    expect(await run('delivery_1')).toMatchObject({ result: 'passed' });
    expect(starts()).toEqual([]);
  });

  test('that an earlier process started a moment ago is not started again, though GitHub does not list it yet', async () => {
    await run('delivery_1');
    requests = [];
    unlisted = 3;
    expect(await run('delivery_1', { isResumed: true })).toMatchObject({ result: 'passed' });
    expect(starts()).toEqual([]);
  });

  test('that an earlier process did not come to start is started', async () => {
    expect(await run('delivery_1', { isResumed: true })).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
  });

  test('that is stopped is cancelled at GitHub, and has ended then', async () => {
    const stop = new AbortController();
    onLook = () => stop.abort();
    expect(await run('delivery_1', { signal: stop.signal })).toMatchObject({
      result: 'stopped',
      note: expect.stringContaining('was cancelled: cancelled'),
    });
    expect(requests.slice(-2)).toEqual(['POST /actions/runs/1/cancel', 'GET /actions/runs/1']);
  });

  test('that is stopped before GitHub lists it is cancelled, too', async () => {
    const stop = new AbortController();
    unlisted = 4;
    onList = () => starts().length > 0 && stop.abort();
    expect(await run('delivery_1', { signal: stop.signal })).toMatchObject({ result: 'stopped' });
    expect(requests).toContain('POST /actions/runs/1/cancel');
  });

  test('goes on at GitHub when the daemon ends', async () => {
    const down = new AbortController();
    onLook = () => down.abort();
    expect(await run('delivery_1', { signal: down.signal, down: down.signal })).toMatchObject({ result: 'stopped' });
    expect(requests.filter((each) => each.endsWith('/cancel'))).toEqual([]);
  });

  test('that does not exist is an error that says so, without the token', async () => {
    const failed = run('delivery_1', { workflow: 'missing.yml' });
    await expect(failed).rejects.toMatchObject({
      name: expect.any(String),
      message: expect.stringContaining('missing.yml'),
    });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('ghp_') });
  });
});
