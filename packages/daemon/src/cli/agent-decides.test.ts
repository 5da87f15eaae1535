import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mayAct, type RouteName, routes } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { QUIET_CONFIG } from '../../../../test/e2e/cli-repository.ts';
import { runCommand } from '../../../../test/support/command-line.ts';
import { DaemonBed } from '../../../../test/support/daemon-bed.ts';
import { OfflineBed } from '../../../../test/support/offline-bed.ts';
import { childEnvironment } from '../process/environment.ts';
import { leakScanObstacle } from '../process/leaks.ts';
import { connect } from './connect.ts';

const names = Object.keys(routes) as RouteName[];

test('every route that decides is closed to agents, and agents may read, add and propose', () => {
  const open = names.filter((name) => mayAct('agent', routes[name].role));
  expect(open.filter((name) => routes[name].decides)).toEqual([]);
  expect(open.filter((name) => routes[name].method !== 'GET').toSorted()).toEqual([
    ...['addLesson', 'addTask', 'checkConfig', 'createIdea', 'forkIdea', 'giveFeedback', 'importSpec', 'importTasks'],
    ...['newSpec', 'noteTask', 'proposeGuard', 'proposePrompt', 'sayToIdea', 'storeTrace'],
  ]);
});

// A project with a review and with autonomy that an agent could lower.
const CONFIG = `${QUIET_CONFIG.replace('pipeline: quick', 'pipeline: feature')}hilConfig: major_only\n`;

const RUN = { TIDEMILL_RUN: 'run_1' };

describe('in a run of an agent, without a daemon, the command line', () => {
  let bed: OfflineBed;
  beforeAll(async () => {
    bed = await OfflineBed.open(CONFIG);
    await bed.api.addTask({ project: bed.project, title: 'One' });
  });
  afterAll(() => bed.close());
  const tidemill = (...args: string[]) => runCommand(args, { ...bed.env, ...RUN }, bed.repository.root);

  test.each([
    ['token', 'add', 'me', '--role', 'admin'],
    ['answer', 'Q1.1', 'Approve'],
    ['task', 'move', '1', 'done'],
    ['task', 'approve', '1'],
    ['memory', 'promote', 'L1'],
    ['loop', 'approve', '1'],
    ['loop', 'on'],
    ['spec', 'approve', 'S1'],
    ['deliver', 'production'],
    ['conflicts', 'settle', '1'],
    ['guards', 'approve', 'push'],
    ['guards', 'bypass', 'push', '--why', 'I want to'],
    ['budget', '--total-daily', '9000'],
    ['inbox', 'ack', '--all'],
    ['stop', '--now'],
    ['release', 'notes'],
    ['hooks', 'uninstall'],
    ['init'],
    ['agents', 'test', 'default'],
    ['doctor', '--repair'],
    ['task', 'add', 'Two', '--autonomy', 'full'],
    ['task', 'add', 'Two', '--pipeline', 'quick'],
  ])('refuses %s %s', async (...args) => {
    const before = (await bed.api.status({ project: bed.project })).lastSeq;
    const { code, stderr } = await tidemill(...args);
    expect(stderr).toMatch(/is for a person: an agent does not decide it/);
    expect(code).not.toBe(0);
    expect((await bed.api.status({ project: bed.project })).lastSeq).toBe(before);
  });

  test('reads and adds', async () => {
    expect((await tidemill('status')).code).toBe(0);
    expect(await tidemill('task', 'add', 'Two')).toMatchObject({ code: 0, stderr: '' });
    const stricter = ['--autonomy', 'confirm_all', '--kind', 'bug'];
    expect(await tidemill('task', 'add', 'Three', ...stricter)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('with a daemon, an agent', () => {
  let bed: DaemonBed;
  beforeAll(async () => {
    bed = await DaemonBed.open();
  });
  afterAll(() => bed.close());

  test('adds as an agent, and the daemon itself refuses what it decides', async () => {
    const { project } = bed;
    const { number } = await bed.api.addTask({ project, title: 'Noted' });
    const { api } = await connect({ TIDEMILL_HOME: bed.home, ...RUN });
    await api.noteTask({ project, task: number, by: 'ada', text: 'I looked' });
    const { task } = await bed.api.task({ project, task: number });
    expect(task.context.at(-1)?.by).toMatchObject({ kind: 'agent', name: 'agent of run_1' });
    // Past the check of the client, which an agent could leave out.
    const answer = await bed.ask('/v1/tokens', {
      method: 'POST',
      headers: { authorization: `Bearer ${bed.token}`, 'tidemill-agent': 'me' },
      body: JSON.stringify({ name: 'me', role: 'admin' }),
    });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('an agent does not decide it');
    expect(await bed.api.tokens({})).toEqual([]);
  });

  test('is known as one where it removed the variable', async (context) => {
    context.skip(leakScanObstacle !== null, leakScanObstacle ?? '');
    const marker = { homeId: readFileSync(join(bed.home, 'home.id'), 'utf8').trim(), runId: 'run_1' };
    const env = childEnvironment(process.env, { TIDEMILL_HOME: bed.home }, marker);
    const script = 'env -u TIDEMILL_RUN -u TIDEMILL_HOME_ID "$@"; exit $?';
    const command = [process.execPath, inject('launcher'), 'token', 'add', 'me', '--role', 'admin'];
    const child = spawn('sh', ['-c', script, 'sh', ...command], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    expect(await text(child.stderr)).toContain('an agent does not decide it');
    expect(await bed.api.tokens({})).toEqual([]);
  });

  test.each([RUN, { CLAUDECODE: '1' }])('is not shown the link with the token: %o', async (mark) => {
    const { root } = (await bed.api.projects({}))[0]!;
    const env = { TIDEMILL_HOME: bed.home };
    expect((await runCommand(['status'], env, root)).stdout).toContain(bed.token);
    const shown = await runCommand(['status'], { ...env, ...mark }, root);
    expect(shown.stdout).toContain('an agent does not see it');
    const data = await runCommand(['status', '--json'], { ...env, ...mark }, root);
    expect(JSON.parse(data.stdout)).toMatchObject({ link: null });
    expect(shown.stdout + data.stdout).not.toContain(bed.token);
  });
});
