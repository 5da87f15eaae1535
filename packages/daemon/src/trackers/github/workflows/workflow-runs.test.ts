import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GithubConfig } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EmulatedGithub } from '../../../../../../test/support/github/emulated-github.ts';
import { TROUBLES } from '../../../../../../test/support/github/exchange.ts';
import { git } from '../../../../../../test/support/github/git-backend.ts';
import { systemClock } from '../../../clock.ts';
import { GithubClient } from '../client/client.ts';
import { createWorkflows } from './workflow-runs.ts';

const INPUTS = '{ environment: { type: string }, commit: { type: string }, delivery: { type: string } }';
const workflow = (name: string, inputs = INPUTS) =>
  `run-name: ${name}\non:\n  workflow_dispatch:\n    inputs: ${inputs}\njobs: {}\n`;
const FILES = {
  'deploy.yml': workflow(`Deploy \${{ inputs.delivery }}`),
  'unnamed.yml': workflow('Deploy'),
  'narrow.yml': workflow('Deploy', '{ environment: { type: string } }'),
  'pushed.yml': 'on: { push: {} }\njobs: {}\n',
};

let folder: string;
let github: EmulatedGithub;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-workflows-'));
  github = await EmulatedGithub.start({ folder: join(folder, 'server') });
  const clone = join(folder, 'clone');
  await git(folder, 'clone', '-q', github.cloneUrl('ada'), clone);
  mkdirSync(join(clone, '.github/workflows'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(clone, '.github/workflows', name), text);
  await git(clone, 'add', '.');
  await git(clone, 'commit', '-q', '-m', 'Add the workflows');
  await git(clone, 'push', '-q', 'origin', 'HEAD:main');
});
afterAll(async () => {
  await github.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  github.actions.runs.length = 0;
  Object.assign(github.actions, { lateBy: 0, conclusion: 'success' });
  github.faults.clear();
  github.log.length = 0;
});

const never = new AbortController().signal;

interface More {
  signal?: AbortSignal;
  down?: AbortSignal;
  file?: string;
  isResumed?: boolean;
  token?: string;
}
function run(marker: string, more: More = {}) {
  const { signal = never, down = never, file = 'deploy.yml', isResumed = false, token = 'ghp_mill' } = more;
  const client = new GithubClient({
    config: GithubConfig.parse({ repository: 'ada/mill', api: github.url, auth: { token: '$GITHUB_TOKEN' } }),
    root: '/',
    env: { GITHUB_TOKEN: token },
    clock: systemClock,
    remote: async () => null,
  });
  const workflows = createWorkflows({ client, clock: systemClock, branch: 'main', lookMs: 10, foundWithinMs: 300 });
  const about = { workflow: file, environment: 'staging', commit: 'c0ffee', marker, isResumed };
  return workflows.run(about, { signal, down }, () => undefined);
}
const requests = () => github.log.map(({ method, path }) => `${method} ${path.replace('/repos/ada/mill/actions', '')}`);
const starts = () => requests().filter((each) => each.endsWith('/dispatches'));
const cancels = () => requests().filter((each) => each.endsWith('/cancel'));
const LIST = /\/deploy\.yml\/runs$/;
const DISPATCH = /\/dispatches$/;
const LOOK = /\/actions\/runs\/\d+$/;
const CANCEL = /\/cancel$/;
const url = (number: number) => `https://github.example/actions/runs/${1000 + number}`;

describe('a workflow', () => {
  test('is started with its inputs, followed to its end, and judged by its conclusion', async () => {
    expect(await run('delivery_1-0')).toEqual({ result: 'passed', note: `success: ${url(0)}` });
    github.actions.conclusion = 'failure';
    expect(await run('delivery_2-0')).toEqual({ result: 'failed', note: `failure: ${url(1)}` });
    expect(starts()).toHaveLength(2);
    expect(github.actions.runs[0]).toMatchObject({
      inputs: { environment: 'staging', commit: 'c0ffee', delivery: 'delivery_1-0' },
      head_branch: 'main',
    });
  });

  test('that GitHub lists late is waited for', async () => {
    github.actions.lateBy = 5;
    expect(await run('delivery_1-0')).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
  });

  test('that a person cancels on GitHub has failed', async () => {
    github.actions.conclusion = null;
    const act = async () => github.actions.end(1000, 'cancelled');
    github.faults.plan({ path: LOOK }, { kind: 'first', act });
    expect(await run('delivery_1-0')).toEqual({ result: 'failed', note: `cancelled: ${url(0)}` });
    expect(cancels()).toEqual([]);
  });

  test('that an earlier process has started is found by its marker and not started again', async () => {
    await run('delivery_1-1');
    expect(await run('delivery_1-1')).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
    // A marker that only begins like it is another one.
    await run('delivery_1-10');
    expect(await run('delivery_1-1')).toMatchObject({ note: `success: ${url(0)}` });
    expect(starts()).toHaveLength(2);
  });

  test('that an earlier process started a moment ago is not started again, though GitHub does not list it yet', async () => {
    await run('delivery_1-0');
    github.actions.runs[0]!.unlisted = 3;
    expect(await run('delivery_1-0', { isResumed: true })).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
  });

  test('that an earlier process did not come to start is started', async () => {
    expect(await run('delivery_1-0', { isResumed: true })).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
  });

  test('whose run does not name the delivery has failed, and says what to do', async () => {
    expect(await run('delivery_1-0', { file: 'unnamed.yml' })).toMatchObject({
      result: 'failed',
      note: expect.stringContaining('its run-name must repeat the input delivery'),
    });
  });
});

describe('a workflow that is stopped', () => {
  test('is cancelled at GitHub, and has ended then', async () => {
    const stop = new AbortController();
    github.faults.plan({ path: LOOK }, { kind: 'first', act: async () => stop.abort() });
    expect(await run('delivery_1-0', { signal: stop.signal })).toEqual({
      result: 'stopped',
      note: `${url(0)} was stopped: cancelled`,
    });
    expect(cancels()).toHaveLength(1);
  });

  test('before GitHub lists it is cancelled, too', async () => {
    const stop = new AbortController();
    github.actions.lateBy = 4;
    github.faults.plan({ path: DISPATCH }, { kind: 'first', act: async () => stop.abort() });
    expect(await run('delivery_1-0', { signal: stop.signal })).toMatchObject({ result: 'stopped' });
    expect(cancels()).toHaveLength(1);
  });

  test.each<[string, () => void]>([
    ['it has ended meanwhile', () => github.actions.end(1000, 'success')],
    ['the token may not cancel it', () => github.faults.plan({ path: CANCEL }, TROUBLES.forbidden)],
    ['GitHub cannot be reached', () => github.faults.plan({ path: CANCEL }, { kind: 'cut' })],
  ])('is followed to its end, though %s', async (_name, trouble) => {
    const stop = new AbortController();
    const act = async () => {
      stop.abort();
      trouble();
    };
    github.faults.plan({ path: LOOK }, { kind: 'first', act });
    expect(await run('delivery_1-0', { signal: stop.signal })).toMatchObject({
      result: expect.stringMatching(/stopped|passed/),
      note: expect.stringContaining('success'),
    });
  });

  test('goes on at GitHub when the daemon ends', async () => {
    const down = new AbortController();
    github.faults.plan({ path: LOOK }, { kind: 'first', act: async () => down.abort() });
    expect(await run('delivery_1-0', { signal: down.signal, down: down.signal })).toMatchObject({ result: 'stopped' });
    expect(cancels()).toEqual([]);
  });
});

describe('a workflow that GitHub does not start', () => {
  test.each<[string, More, string]>([
    ['404: there is none', { file: 'missing.yml' }, 'missing.yml'],
    ['422: it cannot be started by a request', { file: 'pushed.yml' }, "does not have 'workflow_dispatch' trigger"],
    ['422: it lacks an input', { file: 'narrow.yml' }, 'Unexpected inputs provided: ["commit","delivery"]'],
    ['403: the token may not', { token: 'ghp_eve' }, 'Must have admin rights'],
  ])('ends as not started, with the reason: %s', async (_name, more, note) => {
    const end = await run('delivery_1-0', more);
    expect(end).toMatchObject({ result: 'not_started', note: expect.stringContaining(note) });
    expect(end.note).not.toContain('ghp_');
    expect(github.actions.runs).toEqual([]);
  });
});

describe('a workflow while GitHub is away', () => {
  test('is started when GitHub is back', async () => {
    github.faults.plan({ path: LIST }, { kind: 'cut' }, 3);
    expect(await run('delivery_1-0')).toMatchObject({ result: 'passed' });
    expect(starts()).toHaveLength(1);
  });

  test('is found and not started again when the answer to its start is lost', async () => {
    github.faults.plan({ path: DISPATCH }, { kind: 'lost' });
    expect(await run('delivery_1-0')).toMatchObject({ result: 'passed' });
    expect(github.actions.runs).toHaveLength(1);
  });

  test('has failed with the reason when its start was lost', async () => {
    github.faults.plan({ path: DISPATCH }, { kind: 'cut' }, 5);
    expect(await run('delivery_1-0')).toMatchObject({
      result: 'failed',
      note: expect.stringContaining('no run of deploy.yml names delivery_1-0: '),
    });
    expect(github.actions.runs).toEqual([]);
  });

  test('is looked at again when it already runs', async () => {
    github.faults.plan({ path: LOOK }, { kind: 'cut' }, 2);
    expect(await run('delivery_1-0')).toMatchObject({ result: 'passed' });
  });
});
