import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEnvelope, Api, EventBody, LoggedEvent, OutsideClaim } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningDaemon, TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const READY = { outcome: 'pr_ready', summary: 'it is there' } as const satisfies Partial<AgentEnvelope>;

let machine: TidemillHome;
let repository: TemporaryRepository;
let daemon: RunningDaemon;
let api: Api;
let project: string;

beforeEach(async () => {
  machine = new TidemillHome({ USER: 'ada' });
  repository = new TemporaryRepository({
    '.tidemill/config.yaml': QUIET_CONFIG.replace('["true"]', '["sleep", "600"]'),
  });
  await start();
  // The daemon's own builder would take every task first.
  await api.steerWorkers({ project, worker: 'agent-1', operation: 'pause' });
}, MINUTE);
afterEach(async () => {
  await machine.close();
  repository.remove();
});

async function start(): Promise<void> {
  daemon = await machine.up(repository.root);
  api = machine.api();
  project = (await api.projects({ root: repository.root }))[0]!.id;
}

const claim = (worker = 'alpha') => api.claimWork({ project, worker });
const claimed = async (worker = 'alpha') => (await claim(worker))!;
const finish = (at: OutsideClaim, result: Partial<AgentEnvelope> & Pick<AgentEnvelope, 'outcome'>) =>
  api.finishClaim({ project, task: at.number, fence: at.fence, result: { summary: '', ...result } });
const write = (at: OutsideClaim, name: string, text = `${name}\n`) => writeFileSync(join(at.worktree, name), text);
const viewOf = async (name: string) => (await api.workers({ project })).find((each) => each.name === name);
const taskOf = (number: number) => api.task({ project, task: number });

async function events(...types: EventBody['type'][]): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const event of api.events({ project, types })) found.push(event);
  return found;
}

describe('a worker outside the daemon', () => {
  test('claims, works in the worktree, sends heartbeats and hands in; its work is proven and lands', {
    timeout: 3 * MINUTE,
  }, async () => {
    await api.addTask({ project, title: 'A bell', body: 'It must ring.', accept: ['it rings'] });
    const work = await claimed();
    expect(work).toMatchObject({ number: 1, stage: 'implement', mode: 'implement', fence: 1 });
    expect(work.prompt).toContain('It must ring.');
    expect(await api.claims({ project })).toMatchObject([
      { number: 1, title: 'A bell', stage: 'implement', worker: 'alpha', isOutside: true, expiresAt: work.expiresAt },
    ]);
    expect(await claim()).toEqual({ ...work, expiresAt: expect.any(Number) });
    expect(await claim('beta')).toBeNull();

    write(work, 'bell.txt');
    const beat = await api.beatClaim({ project, task: 1, fence: work.fence, percent: 40, text: 'half cast' });
    expect(beat.expiresAt).toBeGreaterThanOrEqual(work.expiresAt);
    expect(await viewOf('alpha')).toMatchObject({
      role: 'builder',
      isOutside: true,
      status: 'working',
      health: 'healthy',
      task: { number: 1 },
      mode: 'implement',
      progress: { percent: 40, text: 'half cast' },
    });

    const before = await taskOf(1);
    await expect(finish(work, { outcome: 'plan_complete', plan: 'p' })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('pr_ready'),
    });
    await expect(finish(work, { outcome: 'needs_info' })).rejects.toMatchObject({ code: 'bad_input' });
    await expect(
      api.finishClaim({ project, task: 1, fence: 1, result: { outcome: 'done' } as never }),
    ).rejects.toMatchObject({ code: 'bad_input' });
    expect(await taskOf(1)).toEqual(before);
    await expect(finish({ ...work, fence: 9 }, READY)).rejects.toMatchObject({ code: 'stale_lease' });

    const usage = { inputTokens: 10, outputTokens: 5, requests: 1 };
    const after = await api.finishClaim({ project, task: 1, fence: work.fence, result: { ...READY }, usage });
    expect(after).toMatchObject({ number: 1, stage: 'verify', worker: null });
    await expect(finish(work, READY)).rejects.toMatchObject({
      code: 'stale_lease',
      hint: expect.stringContaining('kept'),
    });
    await expect(api.beatClaim({ project, task: 1, fence: work.fence })).rejects.toMatchObject({ code: 'stale_lease' });
    await machine.event('merge.landed');
    const { task, runs } = await taskOf(1);
    expect(task.stage).toBe('done');
    // A request without a reported price is not free.
    expect(runs).toMatchObject([
      { agent: 'outside alpha', outcome: 'pr_ready', reservedUsd: expect.any(Number), usage: { costUsd: 0.5 } },
    ]);
    expect(repository.git('show', 'main:bell.txt')).toBe('bell.txt');
    const receipts = await api.evidence({ project, task: 1 });
    expect(receipts.map(({ gate, status }) => [gate, status])).toContainEqual(['test', 'pass']);
    expect(await viewOf('alpha')).toMatchObject({ status: 'idle', task: null, tasksCompleted: 1 });
  });

  test('two at once get two tasks, one that claims five times at once gets one', { timeout: 2 * MINUTE }, async () => {
    for (const title of ['One', 'Two', 'Three']) await api.addTask({ project, title });
    const names = ['alpha', 'alpha', 'beta', 'alpha', 'beta', 'alpha', 'alpha'];
    const claims = await Promise.all(names.map(claimed));
    const of = (name: string) => new Set(claims.flatMap((each, i) => (names[i] === name ? [each.runId] : [])));
    expect([of('alpha').size, of('beta').size]).toEqual([1, 1]);
    expect(new Set(claims.map(({ number }) => number))).toEqual(new Set([1, 2]));
    expect(await events('run.started')).toHaveLength(2);
    // They do not count towards the daemon's own limits.
    for (let number = 2; number <= 10; number += 1) await api.addWorker({ project });
    await expect(api.addWorker({ project })).rejects.toMatchObject({ code: 'bad_input' });
    expect(await api.removeWorker({ project, worker: 'beta' })).toEqual({ removed: 'beta' });
    await machine.event('lease.released', (body) => body.workerId.endsWith('/beta'));
  });

  test('survives the end and the next start of the daemon', { timeout: 3 * MINUTE }, async () => {
    await api.addTask({ project, title: 'One' });
    const work = await claimed();
    write(work, 'one.txt');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    await start();
    expect(readFileSync(join(work.worktree, 'one.txt'), 'utf8')).toBe('one.txt\n');
    await api.beatClaim({ project, task: 1, fence: work.fence });
    await machine.run(['stop'], repository.root);
    await daemon.ended;
    await start();
    expect(await api.claims({ project })).toMatchObject([{ number: 1, worker: 'alpha', isOutside: true }]);
    expect(await claim()).toMatchObject({ fence: work.fence, runId: work.runId });
    await finish(work, READY);
    await machine.event('merge.landed');
    expect(repository.git('show', 'main:one.txt')).toBe('one.txt');
    expect((await taskOf(1)).runs).toHaveLength(1);
    expect((await events('lease.released')).map(({ body }) => 'why' in body && body.why)).not.toContain(
      'its daemon died',
    );
  });

  test('is steered like any other: paused it gets no more tasks, stopped it loses its task, its work is kept', {
    timeout: 3 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await api.addTask({ project, title });
    const work = await claimed();
    write(work, 'one.txt');
    await api.steerWorkers({ project, worker: 'alpha', operation: 'pause' });
    // It may finish its current task.
    expect(await claim()).toMatchObject({ number: 1, fence: work.fence });
    await api.releaseClaim({ project, task: 1, fence: work.fence, why: 'no time' });
    await expect(claim()).rejects.toMatchObject({ code: 'worker_paused' });
    expect((await taskOf(1)).runs).toMatchObject([{ outcome: 'interrupted', summary: 'no time' }]);
    expect(await api.snapshots({ project })).toHaveLength(1);
    await expect(api.releaseClaim({ project, task: 1, fence: work.fence })).rejects.toMatchObject({
      code: 'stale_lease',
    });

    await api.steerWorkers({ project, worker: 'alpha', operation: 'resume' });
    const again = await claimed();
    expect(again).toMatchObject({ number: 1, worktree: work.worktree, fence: work.fence + 1 });
    expect(existsSync(join(again.worktree, 'one.txt'))).toBe(true);
    await api.steerWorkers({ project, worker: 'alpha', operation: 'stop', by: 'ada' });
    await machine.event('lease.released', (body) => body.token === again.fence);
    const stale = { code: 'stale_lease', hint: expect.stringContaining('kept') };
    await expect(api.beatClaim({ project, task: 1, fence: again.fence })).rejects.toMatchObject(stale);
    await expect(finish(again, READY)).rejects.toMatchObject(stale);

    await api.steerWorkers({ project, worker: 'alpha', operation: 'start' });
    const third = await claimed();
    expect(await api.emergencyStop({ by: 'ada', reason: 'smoke' })).toEqual({
      workers: ['alpha'],
      tasks: [third.number],
      deliveries: [],
    });
    expect(await api.claims({ project })).toEqual([]);
    expect(await viewOf('alpha')).toMatchObject({ status: 'stopped', task: null });
    for (const name of ['alpha', 'newcomer'])
      await expect(claim(name)).rejects.toMatchObject({ code: 'worker_paused' });
    expect(await viewOf('newcomer')).toBeUndefined();
  });

  test('is checked: an empty change is no_changes, and an investigation changes nothing', {
    timeout: 3 * MINUTE,
  }, async () => {
    await api.addTask({ project, title: 'One' });
    const lazy = await claimed();
    await finish(lazy, READY);
    expect((await taskOf(1)).task).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_changes' } });

    await api.addTask({ project, title: 'Two', kind: 'bug', pipeline: 'bug', accept: ['it turns'] });
    const looking = await claimed();
    expect(looking).toMatchObject({ number: 2, stage: 'investigate', mode: 'investigate' });
    write(looking, 'stray.txt');
    await expect(finish(looking, READY)).rejects.toMatchObject({ code: 'bad_input' });
    const found = { outcome: 'investigation_complete', investigationSummary: 'a loose screw' } as const;
    expect(await finish(looking, found)).toMatchObject({ stage: 'implement' });
    expect(existsSync(join(looking.worktree, 'stray.txt'))).toBe(false);
    expect(await events('snapshot.taken')).toHaveLength(1);
    const building = await claimed();
    expect(building).toMatchObject({ number: 2, mode: 'implement' });
    expect(building.prompt).toContain('a loose screw');
    expect(await finish(building, { outcome: 'failed', summary: 'no screwdriver' })).toMatchObject({
      stage: 'implement',
    });
    expect((await taskOf(2)).runs.at(-1)).toMatchObject({ outcome: 'failed', failure: 'agent_reported' });
  });

  test('a worker’s token is valid only for its own claims, even with a known fence; an admin’s for all', {
    timeout: 2 * MINUTE,
  }, async () => {
    for (const title of ['One', 'Two']) await api.addTask({ project, title });
    const { url } = await api.health({});
    const tokenOf = async (name: string, role: 'worker' | 'admin') =>
      createClient({ url, token: (await api.addToken({ name, role })).token });
    const [mine, other, boss] = [
      await tokenOf('mine', 'worker'),
      await tokenOf('other', 'worker'),
      await tokenOf('boss', 'admin'),
    ];
    const work = (await mine.claimWork({ project, worker: 'alpha' }))!;
    const about = { project, task: work.number, fence: work.fence };
    const refused = { code: 'forbidden', message: expect.stringMatching(/another token|not claimed with the token/) };
    await expect(other.claimWork({ project, worker: 'alpha' })).rejects.toMatchObject(refused);
    await expect(other.beatClaim(about)).rejects.toMatchObject(refused);
    await expect(other.releaseClaim(about)).rejects.toMatchObject(refused);
    await expect(other.finishClaim({ ...about, result: { ...READY } })).rejects.toMatchObject(refused);
    // A claim under the daemon's own token also does not belong to everybody who knows its fence.
    const own = await claimed('beta');
    await expect(other.releaseClaim({ ...about, task: own.number, fence: own.fence })).rejects.toMatchObject(refused);
    expect(await mine.claimWork({ project, worker: 'alpha' })).toMatchObject({ runId: work.runId });
    await mine.beatClaim(about);
    expect(await boss.releaseClaim(about)).toMatchObject({ number: work.number, worker: null });
  });

  test('bad input is refused with a hint', { timeout: 2 * MINUTE }, async () => {
    const other = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    try {
      for (const worker of ['', 'agent-1', 'agent-77', 'all', 'merger', '../etc', 'Ada', 'x'.repeat(51), 'wörker'])
        await expect(api.claimWork({ project, worker })).rejects.toMatchObject({ code: 'bad_input' });
      await expect(api.claimWork({ project, worker: 7 as never })).rejects.toMatchObject({ code: 'bad_input' });
      await expect(api.claimWork({ project: 'nowhere', worker: 'alpha' })).rejects.toMatchObject({
        code: 'no_project',
      });
      const idle = (await api.registerProject({ root: other.root })).id;
      await expect(api.claimWork({ project: idle, worker: 'alpha' })).rejects.toMatchObject({
        code: 'daemon_unreachable',
        hint: expect.stringContaining('tidemill up'),
      });
      for (const task of ['99', '../../etc/passwd', 'task_nobody'])
        await expect(api.beatClaim({ project, task, fence: 1 })).rejects.toMatchObject({ code: 'not_found' });
      await api.addTask({ project, title: 'One' });
      await expect(api.beatClaim({ project, task: 1, fence: 0 })).rejects.toMatchObject({ code: 'stale_lease' });
      const work = await claimed();
      for (const more of [{ percent: 101 }, { text: 'x'.repeat(301) }, { fence: -1 }, { fence: 0.5 }])
        await expect(api.beatClaim({ project, task: 1, fence: work.fence, ...more })).rejects.toMatchObject({
          code: 'bad_input',
        });
    } finally {
      other.remove();
    }
  });

  test('a correctly guessed fence token cannot hand in work of the daemon’s own agents', {
    timeout: 2 * MINUTE,
  }, async () => {
    await api.steerWorkers({ project, worker: 'agent-1', operation: 'resume' });
    await api.addTask({ project, title: 'One' });
    await machine.event('run.started');
    const [leased] = await api.claims({ project });
    expect(leased).toMatchObject({ worker: 'agent-1', isOutside: false });
    for (const call of [api.beatClaim, api.releaseClaim])
      await expect(call({ project, task: 1, fence: 1 })).rejects.toMatchObject({ code: 'stale_lease' });
    const result = { ...READY };
    await expect(api.finishClaim({ project, task: 1, fence: 1, result })).rejects.toMatchObject({
      code: 'stale_lease',
    });
    expect(await api.claims({ project })).toMatchObject([{ worker: 'agent-1' }]);
  });
});
