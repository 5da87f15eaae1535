import { hash } from 'node:crypto';
import { personActor } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimGates } from '../../../../../test/sim/actors.ts';
import { Random } from '../../../../../test/sim/random.ts';
import { SimRepository } from '../../../../../test/sim/repository.ts';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds } from '../../clock.ts';
import type { AgentEnd, AgentRequest, Clock, Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { Engine } from '../engine.ts';
import { ReactorHost } from './host.ts';

const projectId = 'project_1';
const by = personActor('ada');
const TURNS = 60;
const BRIEFING = {
  prompt: '',
  promptTokens: 0,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: null,
};

/** An agent that works when the test says so. */
interface Working {
  number: number;
  request: AgentRequest;
  end: PromiseWithResolvers<AgentEnd>;
}

let clock: VirtualClock;
let store: Store;
let engine: Engine;
let repository: SimRepository;
let agents: Working[];
/** What the prompt of each run said about coming conflicts. */
let prompted: { number: number; coming: (number | null)[] }[];
let asked: number;
let notes: string[];

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
};
const add = (number: number) =>
  must({
    ...{ type: 'task.create', projectId, taskId: `task_${number}`, title: `Task ${number}`, body: '', kind: 'feature' },
    ...{ pipeline: 'quick', accept: ['it works'], files: [], dependsOn: [], priority: 2 },
  });
const task = async (number: number) => (await store.taskByNumber(projectId, number))!;
const foreseen = async (number: number) =>
  (await task(number)).forecast.map((entry) => [entry.number, entry.files] as const);
const retry = (number: number) =>
  must({ type: 'task.retry', projectId, taskId: `task_${number}`, by, note: 'again', stage: 'implement' });
const steer = (name: string, desired: 'running' | 'paused') =>
  must({ type: 'worker.steer', projectId, workerId: `${projectId}/${name}`, desired, by });
const forecastsSince = async (after: number) =>
  (await store.events({ after, limit: 1000 }))
    .map(({ body }) => body.type)
    .filter((type) => type.startsWith('forecast.'));

async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  do {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  } while (await clock.step(until));
  await new Promise((resolve) => setImmediate(resolve));
}

const working = () => agents.map(({ number }) => number);
const agentOf = (number: number) => agents.find((agent) => agent.number === number)!;
function write(number: number, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) repository.work(agentOf(number).request.cwd)!.set(path, text);
}
async function finish(number: number, files: Record<string, string> = {}): Promise<void> {
  write(number, files);
  agentOf(number).end.resolve({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'built it' } });
  agents = agents.filter((agent) => agent.number !== number);
  await pass(1_000);
}

beforeEach(async () => {
  clock = new VirtualClock();
  const ids = createIds(clock);
  agents = [];
  prompted = [];
  asked = 0;
  notes = [];
  store = await openStore({ url: 'memory:', clock, ids });
  await must({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules: defaultRules });
  const atOnce: Clock = { now: () => clock.now(), sleep: async () => undefined };
  repository = new SimRepository(atOnce, new Random(1));
  const forecast = repository.forecast.bind(repository);
  repository.forecast = (commit, others) => {
    asked += 1;
    return forecast(commit, others);
  };
  engine = new Engine({
    project: (await store.project(projectId))!,
    store,
    workspace: repository,
    agentFor: () => ({
      label: 'puppet',
      start(request) {
        const end = Promise.withResolvers<AgentEnd>();
        agents.push({ number: request.brief.task!.number, request, end });
        return {
          end: end.promise,
          stop: async () => end.resolve({ kind: 'failed', failure: 'crash', message: '', exitCode: 1 }),
        };
      },
    }),
    gates: new SimGates(repository, atOnce, new Random(1), new Set()),
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: {
      render: async ({ task: { number }, coming }) => {
        prompted.push({ number, coming: coming.map((each) => each.number) });
        return BRIEFING;
      },
      renderJob: async () => BRIEFING,
    },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    reactors: new ReactorHost({ store, clock, onNote: () => undefined }),
    ...{ clock, ids, host: '', owner: 'daemon-1', batch: 5, push: 'never', workers: 2 },
    hash: (text) => hash('sha256', text),
    isOwnerDead: () => false,
    onNote: (text) => void notes.push(text),
  });
  await engine.start();
  await pass(1);
});
afterEach(async () => {
  const stopping = engine.stop({ graceMs: 0 });
  await pass(60_000);
  await stopping;
  await store.close();
});

/** Two tasks that were built side by side and changed the same file. Neither has landed. */
async function collide(): Promise<void> {
  await steer('merger', 'paused');
  await add(1);
  await add(2);
  await pass(1_000);
  await finish(1, { common: 'one' });
  await finish(2, { common: 'two', more: 'two', 'even more': 'two' });
}

describe('a coming conflict', () => {
  test('is told to the later agent while it works, once, and is in both rows', async () => {
    await steer('merger', 'paused');
    await add(1);
    await add(2);
    await pass(1_000);
    expect(working()).toEqual([1, 2]);
    await finish(1, { common: 'one' });
    write(2, { common: 'two' });
    const said = agentOf(2).request.beforeStop();
    await pass(1_000);
    expect(await said).toMatch(/#1 "Task 1" changes the same lines: "common"[\s\S]*Do not merge, rebase or copy/);
    const again = agentOf(2).request.beforeStop();
    await pass(1_000);
    expect(await again).toBeNull();
    await finish(2);
    expect(await foreseen(1)).toEqual([[2, ['common']]]);
    expect(await foreseen(2)).toEqual([[1, ['common']]]);
  });

  test('is neither told nor recorded for work that merges', async () => {
    await steer('merger', 'paused');
    await add(1);
    await add(2);
    await pass(1_000);
    await finish(1, { a: '1' });
    write(2, { b: '2' });
    const said = agentOf(2).request.beforeStop();
    await pass(1_000);
    expect(await said).toBeNull();
    await finish(2);
    expect(await forecastsSince(0)).toEqual([]);
  });

  test('is in the next prompt of both tasks', async () => {
    await collide();
    await retry(1);
    await pass(1_000);
    await finish(1, { common: 'one again' });
    await retry(2);
    await pass(1_000);
    expect(prompted.slice(2)).toEqual([
      { number: 1, coming: [2] },
      { number: 2, coming: [1] },
    ]);
  });

  test('is computed once per capture, and an unchanged one writes nothing', async () => {
    await collide();
    const [seq, before] = [await store.lastSeq(), asked];
    await pass(300_000);
    expect(asked).toBe(before);
    expect(await forecastsSince(seq)).toEqual([]);
  });
});

describe('tasks that will conflict', () => {
  test('are not built again at the same time; another task is', async () => {
    await collide();
    await retry(1);
    await retry(2);
    await add(3);
    await pass(1_000);
    expect(working().toSorted()).toEqual([1, 3]);
    await pass(60_000);
    const decided = (await store.events({ types: ['supervisor.decided'], limit: 100 })).map(({ body }) => body);
    expect(decided).toContainEqual(
      expect.objectContaining({ subject: '#2', reason: '#1 is being built and will conflict with it in common' }),
    );
    await finish(1, { common: 'one again' });
    expect(working().toSorted()).toEqual([2, 3]);
  });

  test('run together once the conflict is gone', async () => {
    await collide();
    await retry(2);
    await pass(1_000);
    await finish(2, { common: 'one' });
    expect([await foreseen(1), await foreseen(2)]).toEqual([[], []]);
    await retry(1);
    await retry(2);
    await pass(1_000);
    expect(working().toSorted()).toEqual([1, 2]);
  });

  test('land with the larger first; the smaller is reworked, and the forecast is gone', async () => {
    await collide();
    await steer('merger', 'running');
    await pass(10_000);
    expect((await task(2)).stage).toBe('done');
    expect(working()).toEqual([1]);
    expect((await task(1)).feedback).toMatchObject([{ kind: 'conflict', files: ['common'] }]);
    // The change is on the target now.
    expect([await foreseen(1), await foreseen(2)]).toEqual([[[null, ['common']]], []]);
    await finish(1, { common: 'one\ntwo' });
    await pass(10_000);
    expect((await task(1)).stage).toBe('done');
    expect(await foreseen(1)).toEqual([]);
  });

  test('land with the larger first also after both waited for a person, in whatever order they are due', async () => {
    repository.isDirty = true;
    await add(1);
    await add(2);
    await pass(1_000);
    await finish(1, { common: 'one' });
    await pass(2_000);
    await finish(2, { common: 'two', more: 'two', 'even more': 'two' });
    await pass(9_000);
    expect([(await task(1)).waiting, (await task(2)).waiting]).toEqual([expect.any(String), expect.any(String)]);
    // The smaller one is due first.
    expect((await task(1)).notBefore).toBeLessThan((await task(2)).notBefore);
    repository.isDirty = false;
    await pass(15_000);
    expect((await task(2)).stage).toBe('done');
    expect(working()).toEqual([1]);
  });

  test('a batch leaves the smaller one out, and lands the others together', async () => {
    await collide();
    await add(3);
    await pass(1_000);
    await finish(3, { elsewhere: 'three' });
    await steer('merger', 'running');
    await pass(10_000);
    const landed = await store.events({ types: ['merge.landed'], limit: 10 });
    expect(landed.map(({ body }) => body)).toMatchObject([{ taskId: 'task_2' }, { taskId: 'task_3' }]);
    const released = await store.events({ types: ['lease.released'], limit: 100 });
    expect(JSON.stringify(released)).not.toContain('conflicts within the batch');
    expect(working()).toEqual([1]);
  });

  test('are forgotten when one is cancelled', async () => {
    await collide();
    await must({ type: 'task.cancel', projectId, taskId: 'task_2', by });
    await pass(1_000);
    expect([await foreseen(1), await foreseen(2)]).toEqual([[], []]);
  });

  test('may conflict with the target too, when a person changes it', async () => {
    await collide();
    repository.commitByPerson('common', 'by a person');
    await pass(61_000);
    expect(await foreseen(1)).toEqual([
      [2, ['common']],
      [null, ['common']],
    ]);
  });
});

describe('many live branches', () => {
  test('are compared with the newest fifty', async () => {
    await steer('merger', 'paused');
    for (let number = 1; number <= 53; number += 1) {
      await add(number);
      await pass(100);
      await finish(number, { common: `${number}` });
    }
    expect(await foreseen(53)).toHaveLength(50);
    expect((await foreseen(53)).at(-1)).toEqual([3, ['common']]);
    expect(notes.filter((note) => note.includes('branches are live'))).toHaveLength(1);
  });
});
