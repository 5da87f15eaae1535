import { createHash } from 'node:crypto';
import { type EventType, type LoggedEvent, personActor } from '@tidemill/contract';
import { type Command, decide, reduce } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimGates } from '../../../../../test/sim/actors.ts';
import { Random } from '../../../../../test/sim/random.ts';
import { SimRepository } from '../../../../../test/sim/repository.ts';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds } from '../../clock.ts';
import type { Agent, AgentEnd, Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { Engine } from '../engine.ts';
import { ReactorHost } from './host.ts';

const projectId = 'project_1';
const MINUTE = 60_000;
const briefing = {
  prompt: '',
  promptTokens: 0,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: 8 * 60 * MINUTE,
};

let clock: VirtualClock;
let store: Store;
let engine: Engine;
let notes: string[];
let isBroken: boolean;

/** Starts and stays silent until it is stopped. */
const silent: Agent = {
  label: 'silent',
  start() {
    const { promise, resolve } = Promise.withResolvers<AgentEnd>();
    const end: AgentEnd = { kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null };
    return { end: promise, stop: async () => resolve(end) };
  },
};

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
};

async function add(number: number, change: { files?: string[]; priority?: number } = {}): Promise<void> {
  const blank = { body: '', kind: 'feature' as const, accept: [], files: [], dependsOn: [], priority: 2, ...change };
  await must({ type: 'task.create', projectId, taskId: `task_${number}`, title: `Task ${number}`, ...blank });
}

beforeEach(async () => {
  clock = new VirtualClock();
  notes = [];
  isBroken = false;
  const ids = createIds(clock);
  store = await openStore({ url: 'memory:', clock, ids, rules: { decide, reduce } });
  const rules = { ...defaultRules, defaultPipeline: 'quick' };
  await must({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules });
  const random = new Random(1);
  const workspace = new SimRepository(clock, random);
  const runsEnded: Store['runsEnded'] = (query) =>
    isBroken ? Promise.reject(new Error('the database is away')) : store.runsEnded(query);
  engine = new Engine({
    workspace,
    clock,
    ids,
    owner: 'daemon-1',
    workers: 2,
    agentFor: () => silent,
    store: { ...store, runsEnded },
    project: (await store.project(projectId))!,
    gates: new SimGates(workspace, clock, random, new Set()),
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: { render: async () => briefing, renderJob: async () => briefing },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    host: '',
    isOwnerDead: () => false,
    reactors: new ReactorHost({ store, clock, onNote: (text) => void notes.push(text) }),
    onNote: (text) => void notes.push(text),
  });
});
afterEach(async () => {
  const stopped = engine.stop({ graceMs: 0 });
  await pass(MINUTE);
  await stopped;
  await store.close();
});

async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  void clock.sleep(ms);
  const settled = async () => {
    for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  do await settled();
  while (await clock.step(until));
  await settled();
}
const log = (...types: EventType[]): Promise<LoggedEvent[]> => store.events({ after: 0, limit: 100_000, types });
const decided = async () =>
  (await log('supervisor.decided')).flatMap(({ body }) =>
    body.type === 'supervisor.decided' ? [`${body.action} ${body.subject}`] : [],
  );

describe('the supervisor', { timeout: 60_000 }, () => {
  it('watches a silent task, asks about it, then interrupts it; the work continues', async () => {
    await add(1);
    await engine.start();
    await pass(12 * MINUTE);
    expect(await decided()).toEqual(['watch #1']);
    await pass(10 * MINUTE);
    const [question] = await store.records({ noun: 'question', projectId, isOpen: true });
    expect(question).toMatchObject({ taskId: 'task_1', agent: 'supervisor', effect: { kind: 'stuck' } });
    await pass(11 * MINUTE);
    expect(await decided()).toEqual(['watch #1', 'ask #1', 'interrupt #1']);
    const runs = await store.runs('task_1');
    expect(runs.map(({ status, outcome }) => outcome ?? status)).toEqual(['interrupted', 'running']);
  });

  it('acts on the answer about a stuck task', async () => {
    await add(1);
    await engine.start();
    await pass(22 * MINUTE);
    const [question] = await store.records({ noun: 'question', projectId, isOpen: true });
    const about = {
      projectId,
      taskId: 'task_1',
      questionId: question!.id,
      by: personActor('ada'),
      source: 'user' as const,
    };
    await must({ type: 'question.answer', ...about, text: 'Skip' });
    await pass(MINUTE);
    expect(await store.task('task_1')).toMatchObject({ stage: 'blocked', blocked: { reason: 'skipped' }, lease: null });
  });

  it('gives files to more urgent work and refuses the rest, each once and with its reason', async () => {
    await add(1, { files: ['src/**'], priority: 3 });
    await engine.start();
    await pass(2 * MINUTE);
    await add(2, { files: ['src/a.ts'], priority: 3 });
    await pass(5 * MINUTE);
    expect(await decided()).toEqual(['deny #2']);
    await add(3, { files: ['src/a.ts'], priority: 0 });
    await pass(2 * MINUTE);
    expect(await decided()).toContain('preempt #3');
    expect((await store.task('task_3'))?.lease).not.toBeNull();
    expect((await store.runs('task_1')).at(0)?.outcome).toBe('interrupted');
  });

  it('a failed check is noted and skipped; no worker stops for it', async () => {
    await add(1);
    isBroken = true;
    await engine.start();
    await pass(3 * MINUTE);
    expect(notes.filter((note) => note.startsWith('supervision: its tick failed')).length).toBeGreaterThanOrEqual(2);
    expect((await store.task('task_1'))?.lease).not.toBeNull();
    isBroken = false;
    await pass(12 * MINUTE);
    expect(await decided()).toEqual(['watch #1']);
  });

  it('writes nothing but heartbeats while there is nothing to do for a day', async () => {
    await engine.start();
    await pass(MINUTE);
    const before = await store.lastSeq();
    await pass(24 * 60 * MINUTE);
    const written = await store.events({ after: before, limit: 100_000 });
    expect(new Set(written.map(({ body }) => body.type))).toEqual(new Set(['worker.beat']));
  });
});
