import { hash } from 'node:crypto';
import { type DesiredState, type LoggedEvent, personActor } from '@tidemill/contract';
import { type Command, LEASE_CAP_MS, workerHealth } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../../../../test/sim/random.ts';
import { SimRepository } from '../../../../../test/sim/repository.ts';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds } from '../../clock.ts';
import type { AgentEnd, AgentRequest, ControlledProcess, Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { Engine } from '../engine.ts';
import { ReactorHost } from '../reactors/host.ts';

const projectId = 'project_1';
const HOUR = 3_600_000;
/** More turns of the event loop than any chain of promises without timers needs. */
const TURNS = 40;
const NOTHING = { prompt: '', promptTokens: 0, dropped: [], model: null, tools: null, maxTurns: null, timeoutMs: null };

/** An agent that the test controls. It records what happens to it, and ignores it unless the test says otherwise. */
class Puppet implements ControlledProcess {
  readonly heard: string[] = [];
  readonly end = Promise.withResolvers<AgentEnd>();
  readonly runId: string;

  constructor({ runId, control }: AgentRequest) {
    this.runId = runId;
    control?.take(this);
  }
  freeze = () => void this.heard.push('freeze');
  thaw = () => void this.heard.push('thaw');
  kill = () => void this.heard.push('kill');
  usage = async () => ({ memoryMb: 40, cpuMs: 0 });
  stop = async () => void this.heard.push('stop');
  die = (message: string) => this.end.resolve({ kind: 'failed', failure: 'crash', message, exitCode: 3 });
}

let clock: VirtualClock;
let store: Store;
let engine: Engine;
let puppets: Puppet[];
let notes: string[];
let isOver: boolean;
/** Commands of the engine that fail because the store is unavailable. */
let isDown: (command: Command) => boolean;

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
};
const addTask = (number: number) =>
  must({
    type: 'task.create',
    projectId,
    taskId: `task_${number}`,
    title: `Task ${number}`,
    body: '',
    kind: 'feature',
    pipeline: 'quick',
    accept: ['it works'],
    files: [],
    dependsOn: [],
    priority: 2,
  });
const steer = (is: DesiredState, name = 'agent-1') =>
  must({ type: 'worker.steer', projectId, workerId: `${projectId}/${name}`, desired: is, by: personActor('ada') });
const agent1 = async () => (await store.workers(projectId)).find(({ name }) => name === 'agent-1')!;

/** Advances the clock, then runs everything that needs no more time. */
async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  do {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  } while (await clock.step(until));
  await new Promise((resolve) => setImmediate(resolve));
}

async function log(after = 0): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for (let seq = after; ; seq = all.at(-1)!.seq) {
    const page = await store.events({ after: seq, limit: 1000 });
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

beforeEach(async () => {
  clock = new VirtualClock();
  const ids = createIds(clock);
  puppets = [];
  notes = [];
  isOver = false;
  isDown = () => false;
  store = await openStore({ url: 'memory:', clock, ids });
  await must({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules: defaultRules });
  engine = new Engine({
    project: (await store.project(projectId))!,
    store: {
      ...store,
      execute: (command) => (isDown(command) ? Promise.reject(new Error('no store')) : store.execute(command)),
      executeAll: (commands) =>
        commands.some(isDown) ? Promise.reject(new Error('no store')) : store.executeAll(commands),
    },
    // A repository that responds at once.
    workspace: new SimRepository({ now: () => clock.now(), sleep: async () => undefined }, new Random(1)),
    agentFor: () => ({
      label: 'puppet',
      start(request) {
        const puppet = new Puppet(request);
        puppets.push(puppet);
        if (isOver) puppet.die('the curtain has fallen');
        return { end: puppet.end.promise, stop: puppet.stop };
      },
    }),
    gates: { names: defaultRules.gates, checks: [], run: async () => [] },
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: { render: async () => NOTHING, renderJob: async () => NOTHING },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    reactors: new ReactorHost({ store, clock, onNote: (text) => void notes.push(text) }),
    clock,
    ids,
    host: '',
    owner: 'daemon-1',
    hash: (text) => hash('sha256', text),
    isOwnerDead: () => false,
    workers: 1,
    batch: 5,
    push: 'never',
    onNote: (text) => void notes.push(text),
  });
  await engine.start();
});
afterEach(async () => {
  isOver = true;
  isDown = () => false;
  const stopping = engine.stop({ graceMs: 0 });
  for (const puppet of puppets) puppet.die('the curtain falls');
  await pass(HOUR);
  await stopping;
  await store.close();
});

describe('heartbeats', () => {
  test('are recorded every 30 s, idle or not, with the resource use of the processes', async () => {
    await pass(1);
    await addTask(1);
    await pass(95_000);
    const { beats } = await agent1();
    expect(beats.map(({ at }, index) => at - beats[0]!.at - index * 30_000)).toEqual([0, 0, 0, 0]);
    expect(beats.map(({ memoryMb }) => memoryMb)).toEqual([0, 40, 40, 40]);
    const review = (await store.workers(projectId)).find(({ name }) => name === 'review-agent')!;
    expect(review.beats).toHaveLength(4);
  });

  test('24 idle hours start no agent and write nothing but heartbeats', async () => {
    await pass(1);
    const after = await store.lastSeq();
    await pass(24 * HOUR);
    const types = (await log(after)).map(({ body }) => body.type);
    expect(new Set(types)).toEqual(new Set(['worker.beat']));
    expect(types).toHaveLength(2 * 24 * 120);
    expect(puppets).toEqual([]);
  });

  test('a store that is unavailable for two minutes shows in the worker’s health and stops no worker', async () => {
    await addTask(1);
    await pass(1);
    isDown = ({ type }) => type === 'worker.beat';
    await pass(70_000);
    expect(workerHealth(await agent1(), clock.now())).toBe('degraded');
    await pass(60_000);
    expect(workerHealth(await agent1(), clock.now())).toBe('unresponsive');
    expect(notes).toContain(`a heartbeat of ${projectId}/agent-1 was not recorded`);
    expect(puppets.map(({ heard }) => heard)).toEqual([[]]);
    isDown = () => false;
    await pass(30_000);
    expect(workerHealth(await agent1(), clock.now())).toBe('healthy');
  });
});

describe('the desired state of a worker', () => {
  test('takes effect on current work, and a resumed worker is woken', async () => {
    await addTask(1);
    await pass(1);
    const [puppet] = puppets;
    await steer('frozen');
    await pass(1);
    await steer('paused');
    await pass(1);
    await steer('stopped');
    await pass(1);
    expect(puppet!.heard).toEqual(['freeze', 'thaw', 'stop']);
    puppet!.die('stopped');
    await pass(1);
    expect(await store.task('task_1')).toMatchObject({ lease: null, stage: 'implement', counters: { failures: {} } });
    expect((await agent1()).crash).toBeNull();
    await steer('running');
    await pass(1);
    expect(puppets).toHaveLength(2);
  });

  test('a frozen task keeps its lease while it is frozen, and does not count as stuck', async () => {
    await addTask(1);
    await pass(HOUR / 60);
    await steer('frozen');
    const before = (await store.task('task_1'))!.lease!;
    await pass(LEASE_CAP_MS + HOUR);
    const task = (await store.task('task_1'))!;
    expect(task.lease?.token).toBe(before.token);
    expect(task.stage).toBe('implement');
    expect(task.openQuestions).toEqual([]);
    await steer('running');
    await pass(HOUR / 60);
    expect((await store.task('task_1'))?.lease?.token).toBe(before.token);
    expect(puppets.map(({ heard }) => heard)).toEqual([['freeze', 'thaw']]);
  });

  test('an added worker works; a removed one releases its task, and its assigned tasks become free for all', async () => {
    const other = `${projectId}/agent-2`;
    await must({ type: 'worker.register', projectId, workerId: other, name: 'agent-2', role: 'builder' });
    await addTask(1);
    await addTask(2);
    await pass(1);
    expect(puppets).toHaveLength(2);
    const tasks = await store.leased(projectId);
    const its = tasks.find(({ lease }) => lease?.workerId === other)!;
    await must({ type: 'task.assign', projectId, taskId: its.id, workerId: other, by: personActor('ada') });
    await must({ type: 'worker.remove', projectId, workerId: other });
    await pass(1);
    const run = (await store.runs(its.id))[0]!;
    puppets.find(({ runId }) => runId === run.id)!.die('stopped');
    await pass(1);
    expect(await store.task(its.id)).toMatchObject({ lease: null, assignee: null });
  });
});

describe('an emergency stop', () => {
  test('kills first, takes the leases of hanging work, and stops all workers until they are resumed', async () => {
    await addTask(1);
    await addTask(2);
    await pass(1);
    const startedAt = clock.elapsed();
    const stopping = engine.fleet.emergencyStop({ by: personActor('ada'), reason: 'smoke' });
    // Before the store responded.
    expect(puppets[0]!.heard[0]).toBe('kill');
    await pass(10_000);
    expect(await stopping).toEqual({ workers: ['agent-1'], tasks: [1] });
    const [record] = (await log()).filter(({ body }) => body.type === 'emergency.executed');
    expect(record!.at - clock.now() + clock.elapsed() - startedAt).toBeLessThanOrEqual(5_000);
    expect(record!.body).toMatchObject({
      operation: 'emergency_stop',
      by: { name: 'ada' },
      reason: 'smoke',
      tasks: [1],
    });
    expect(await store.leased(projectId)).toEqual([]);
    expect((await store.workers(projectId)).map((worker) => worker.desired)).toEqual(Array(4).fill('stopped'));
    expect(puppets).toHaveLength(1);
    // The hanging work still holds its slot. The other workers continue.
    for (const { name } of await store.workers(projectId)) await steer('running', name);
    puppets[0]!.die('at last');
    await pass(1);
    expect(puppets).toHaveLength(2);
  });

  test('work that is just being claimed is killed too', async () => {
    await pass(1);
    let stopping: Promise<unknown> | null = null;
    // Called during the claim, before a slot holds the task.
    const stop = () => {
      stopping ??= engine.fleet
        .emergencyStop({ by: personActor('ada'), reason: 'smoke' })
        .catch((error: Error) => error.message);
    };
    isDown = (command) => {
      if (command.type === 'work.claim' && command.role === 'builder') queueMicrotask(stop);
      // The engine gets no worker events, so the stop must reach the agent in another way.
      return command.type === 'worker.steer';
    };
    await addTask(1);
    await pass(10_000);
    expect(await stopping).toBe('no store');
    expect(puppets.map(({ heard }) => heard[0] ?? 'nothing')).not.toContain('nothing');
    for (const puppet of puppets) puppet.die('killed');
    await pass(1);
    expect(await store.leased(projectId)).toEqual([]);
  });

  test('an unavailable store does not keep the agents alive, and no new work starts', async () => {
    await addTask(1);
    await addTask(2);
    await pass(1);
    isDown = ({ type }) => type === 'worker.steer';
    const stopping = engine.fleet.emergencyStop({ by: personActor('ada'), reason: 'smoke' });
    expect(puppets[0]!.heard[0]).toBe('kill');
    await expect(stopping).rejects.toThrow('no store');
    puppets[0]!.die('killed');
    await pass(5 * 60_000);
    expect(puppets).toHaveLength(1);
  });
});

test('a crashed agent shows on its worker', async () => {
  await addTask(1);
  await pass(1);
  puppets[0]!.die('exit 3');
  await pass(1);
  expect((await agent1()).crash).toMatchObject({ error: 'exit 3', status: 'crashed' });
  expect(await agent1()).toMatchObject({ errors: 1, lastError: 'crash: exit 3' });
});
