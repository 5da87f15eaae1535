import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTONOMY_PRESETS, type EventBody, type HilConfig, type OutsideClaim, personActor } from '@tidemill/contract';
import { type Command, LEASE_CAP_MS } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../../test/e2e/cli-repository.ts';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { RunTokens } from '../../access/run-tokens.ts';
import { createProjectEngine, type ProjectEngine } from '../../assembly/project-engine.ts';
import { createIds } from '../../clock.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import { saveProject } from '../../handlers/project/project.ts';
import type { Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { ReactorHost } from '../reactors/host.ts';

const USAGE = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
const OWNER = { name: null, role: 'admin' } as const;
const by = ({ fence }: OutsideClaim) => ({ fence, caller: OWNER });
const READY = { outcome: 'pr_ready', summary: 'done' } as const;

let home: string;
let repository: TemporaryRepository;
let clock: VirtualClock;
let store: Store;
let made: ProjectEngine;
let projectId: string;

/** The next daemon on the same data folder. It considers all other owners dead. */
async function startEngine(owner: string): Promise<void> {
  const ids = createIds(clock);
  const { project, settings } = await saveProject({ store }, repository.root);
  projectId = project.id;
  made = await createProjectEngine(project, settings, 0, {
    ...{
      opened: { store, clock, ids, name: 'memory', isShared: false },
      folder: openDataFolder({ TIDEMILL_HOME: home }),
    },
    owner,
    isOwnerDead: (other) => other !== owner,
    takenOver: async () => null,
    env: {},
    onNote: () => undefined,
    runAccess: new RunTokens(() => ''),
    reactors: new ReactorHost({ store, clock, onNote: () => undefined }),
  });
  await made.engine.start();
}

async function stopEngine(): Promise<void> {
  const stopped = made.engine.stop({ graceMs: 0 });
  let isStopped = false;
  void stopped.finally(() => {
    isStopped = true;
  });
  while (!isStopped) await clock.step(clock.elapsed() + 1);
  await made.workspace.close();
}

/** Advances the clock until the log has such an event. Git does not run on this clock. */
async function passUntil(type: EventBody['type']): Promise<EventBody> {
  for (let after = 0; ; ) {
    const page = await store.events({ after, limit: 100 });
    const found = page.find(({ body }) => body.type === type);
    if (found) return found.body;
    after = page.at(-1)?.seq ?? after;
    if (page.length === 0) await clock.step(clock.elapsed() + 1_000);
  }
}

async function must(command: Command): Promise<void> {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(reply.refusal.message);
}
const addTask = (number: number, more: { hilConfig?: HilConfig } = {}) =>
  must({
    type: 'task.create',
    projectId,
    taskId: `task_${number}`,
    title: `Task ${number}`,
    body: '',
    kind: 'feature',
    pipeline: 'quick',
    accept: [],
    files: [],
    dependsOn: [],
    priority: 2,
    ...more,
  });
const claimed = async (name: string) => (await made.engine.outside.claim(name, OWNER))!;
const taskOf = async ({ number }: OutsideClaim) => (await store.taskByNumber(projectId, number))!;
const renew = ({ number, fence }: OutsideClaim) =>
  must({ type: 'lease.renew', projectId, subjectId: `task_${number}`, token: fence });

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-outside-'));
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  clock = new VirtualClock();
  store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  await startEngine('daemon-1');
});
afterEach(async () => {
  await stopEngine();
  await store.close();
  repository.remove();
  rmSync(home, { recursive: true });
});

test('a claim of an outside worker says as data what it may decide, by the rules of its task', async () => {
  await addTask(1, { hilConfig: AUTONOMY_PRESETS.confirm_all });
  expect((await claimed('alpha')).hilConfig).toEqual(AUTONOMY_PRESETS.confirm_all);
});

describe('the silence of an outside worker', () => {
  test('of 120 s ends the claim: work is snapshotted and kept, a late result is refused, the next worker continues', async () => {
    await addTask(1);
    const late = await claimed('alpha');
    writeFileSync(join(late.worktree, 'half.txt'), 'half\n');
    const until = clock.elapsed() + 90_000;
    while (await clock.step(until));
    await renew(late);
    const renewedAt = clock.now();
    expect(await passUntil('lease.released')).toMatchObject({ why: 'no heartbeat for 120 s' });
    expect(clock.now() - renewedAt).toBeGreaterThanOrEqual(120_000);
    expect(await made.workspace.snapshots()).toMatchObject([{ number: 1, why: 'lease expired' }]);
    const task = await taskOf(late);
    expect(task).toMatchObject({ stage: 'implement', lease: null, head: null });
    const finishing = made.engine.outside.finish(task, by(late), READY, USAGE);
    await expect(finishing).rejects.toMatchObject({ code: 'stale_lease', hint: expect.stringContaining('kept') });
    const next = await claimed('beta');
    expect(next.fence).toBeGreaterThan(late.fence);
    expect(existsSync(join(next.worktree, 'half.txt'))).toBe(true);
    // Also while another worker holds it.
    const meanwhile = made.engine.outside.release(await taskOf(late), by(late), 'late');
    await expect(meanwhile).rejects.toMatchObject({ code: 'stale_lease' });
    expect((await taskOf(next)).lease?.token).toBe(next.fence);
  });

  test('is the only thing that ends its claim: the next daemon neither ends it nor gives a task out twice', async () => {
    await addTask(1);
    const before = await claimed('alpha');
    writeFileSync(join(before.worktree, 'half.txt'), 'half\n');
    await stopEngine();
    await startEngine('daemon-2');
    expect((await taskOf(before)).lease).toMatchObject({ token: before.fence, owner: 'outside/alpha' });
    expect(await made.workspace.snapshots()).toEqual([]);
    expect(await made.engine.outside.claim('beta', OWNER)).toBeNull();
    const after = await made.engine.outside.finish(await taskOf(before), by(before), READY, USAGE);
    expect(after).toMatchObject({ lease: null, builders: [`${projectId}/alpha`] });
  });
});

test('no worker holds a task for more than 8 hours, even with heartbeats', async () => {
  await addTask(1);
  const work = await claimed('alpha');
  clock.jump(LEASE_CAP_MS);
  const finishing = made.engine.outside.finish(await taskOf(work), by(work), READY, USAGE);
  await expect(finishing).rejects.toMatchObject({ code: 'stale_lease' });
  expect(await taskOf(work)).toMatchObject({ lease: null, blocked: null, counters: { failures: { time_limit: 1 } } });
});

test('an exhausted budget refuses the claim and leaves the task unchanged', async () => {
  await addTask(1);
  await must({
    type: 'budget.limit',
    projectId,
    accountId: 'account/all',
    by: personActor('ada'),
    ...{ limits: { dailyUsd: 0, monthlyUsd: 0 }, timeZone: 'UTC' },
  });
  await expect(made.engine.outside.claim('alpha', OWNER)).rejects.toMatchObject({ code: 'budget_exhausted' });
  expect((await store.task('task_1'))?.lease).toBeNull();
});

test('a worker without heartbeats is removed after a day, unless its desired state was changed', async () => {
  await addTask(1);
  const busy = await claimed('alpha');
  await made.engine.outside.claim('beta', OWNER);
  await made.engine.outside.claim('gamma', OWNER);
  await must({
    type: 'worker.steer',
    projectId,
    workerId: `${projectId}/gamma`,
    desired: 'paused',
    by: personActor('ada'),
  });
  await stopEngine();
  clock.jump(25 * 3_600_000);
  await startEngine('daemon-2');
  const outside = (await store.workers(projectId)).filter(({ isOutside }) => isOutside).map(({ name }) => name);
  expect(outside.sort()).toEqual(['alpha', 'gamma']);
  expect((await taskOf(busy)).lease).not.toBeNull();
});
