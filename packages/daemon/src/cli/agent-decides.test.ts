import { mayAct, type RouteName, routes } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../../test/support/command-line.ts';
import { DaemonBed } from '../../../../test/support/daemon-bed.ts';
import { OfflineBed } from '../../../../test/support/offline-bed.ts';
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

const RUN = { TIDEMILL_RUN: 'run_1' };

describe('in a run of an agent, without a daemon, the command line', () => {
  let bed: OfflineBed;
  beforeAll(async () => {
    bed = await OfflineBed.open();
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
});
