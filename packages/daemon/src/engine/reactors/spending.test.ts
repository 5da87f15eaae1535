import { createHash } from 'node:crypto';
import { type Account, accountId, type EventType, type LoggedEvent } from '@tidemill/contract';
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
const HOUR = 60 * MINUTE;
const COST = 3;
const budget = { dailyUsd: 10, monthlyUsd: 1000, timeZone: 'Europe/Berlin' };
const briefing = {
  prompt: '',
  promptTokens: 0,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: null,
};

let clock: VirtualClock;
let store: Store;
let engine: Engine;
/** The agent's reports and the control calls to its processes, in order. */
let heard: string[];

/** Runs forever and costs three dollars every ten minutes. */
const spendthrift = (): Agent => ({
  label: 'spendthrift',
  start({ control }, sink) {
    const stop = new AbortController();
    control?.take({
      freeze: () => void heard.push('freeze'),
      thaw: () => void heard.push('thaw'),
      kill: () => void heard.push('kill'),
      usage: async () => ({ memoryMb: 0, cpuMs: 0 }),
    });
    const work = async (): Promise<AgentEnd> => {
      while (!stop.signal.aborted) {
        await clock.sleep(10 * MINUTE, stop.signal);
        if (stop.signal.aborted) break;
        sink.usage({ inputTokens: 1, outputTokens: 1, requests: 1, costUsd: COST });
        heard.push('told');
      }
      return { kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null };
    };
    return { end: work(), stop: async () => stop.abort() };
  },
});

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
};

beforeEach(async () => {
  heard = [];
  clock = new VirtualClock();
  const ids = createIds(clock);
  store = await openStore({ url: 'memory:', clock, ids, rules: { decide, reduce } });
  const rules = { ...defaultRules, defaultPipeline: 'quick', budget };
  await must({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules });
  const random = new Random(1);
  const workspace = new SimRepository(clock, random);
  const agent = spendthrift();
  const onNote = (text: string, error?: unknown) => {
    if (error !== undefined) throw new Error(text, { cause: error });
  };
  engine = new Engine({
    onNote,
    reactors: new ReactorHost({ store, clock, onNote }),
    store,
    workspace,
    clock,
    ids,
    owner: 'daemon-1',
    workers: 1,
    batch: 5,
    push: 'never',
    agentFor: () => agent,
    project: (await store.project(projectId))!,
    gates: new SimGates(workspace, clock, random, new Set()),
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: { render: async () => briefing, renderJob: async () => briefing },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    host: '',
    isOwnerDead: () => false,
  });
  const blank = { body: '', kind: 'feature' as const, accept: [], files: [], dependsOn: [], priority: 2 };
  await must({ type: 'task.create', projectId, taskId: 'task_1', title: 'Dear', ...blank });
  await engine.start();
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
const spent = async () => ((await store.record('account', accountId(projectId))) as Account).spentDayUsd;
const alerts = async () =>
  (await log('alert.raised')).flatMap(({ body }) =>
    body.type === 'alert.raised' && body.kind.startsWith('budget') ? [`${body.kind} ${body.severity}`] : [],
  );

describe('an engine on a budget', () => {
  it('raises alerts, stops at the limit within one request, and resumes at midnight', async () => {
    await pass(6 * HOUR);
    expect(await spent()).toBe(4 * COST);
    expect(await alerts()).toEqual(['budget_50 info', 'budget_90 error', 'budget_100 critical']);
    const task = (await store.task('task_1'))!;
    expect(task).toMatchObject({ stage: 'implement', lease: null, blocked: null });
    expect(task.waiting).toContain('budget');
    expect((await log('emergency.executed')).length).toBe(1);
    const account = (await store.record('account', accountId(projectId))) as Account;
    expect(account.reserved).toEqual({});

    // 06:00 to 22:55 UTC: there are no repeated attempts.
    const writes = await store.lastSeq();
    await pass(16 * HOUR + 55 * MINUTE);
    const since = await store.events({ after: writes, limit: 100_000 });
    expect([...new Set(since.map(({ body }) => body.type))]).toEqual(['worker.beat']);
    // Midnight in Berlin is 23:00.
    await pass(10 * MINUTE);
    expect((await log('run.started')).length).toBe(2);
    expect(await spent()).toBeLessThanOrEqual(COST);
  });

  it('suspends an agent as soon as it exceeds its reserved budget, until the spending is recorded', async () => {
    await pass(HOUR);
    const each = ['freeze', 'told', 'thaw'];
    expect(heard.slice(0, 12)).toEqual([...each, ...each, ...each, 'freeze', 'told', 'kill']);
  });

  it('resumes when the limit is raised, and stops when it is lowered', async () => {
    await pass(2 * HOUR);
    const rules = { ...defaultRules, defaultPipeline: 'quick' };
    const configure = (dailyUsd: number) =>
      must({ type: 'project.configure', projectId, rules: { ...rules, budget: { ...budget, dailyUsd } } });
    await configure(40);
    await pass(25 * MINUTE);
    expect((await log('run.started')).length).toBe(2);
    const before = await spent();
    expect(before).toBeGreaterThan(4 * COST);
    await configure(before);
    await pass(MINUTE);
    expect((await store.task('task_1'))?.lease).toBeNull();
    await pass(2 * HOUR);
    expect(await spent()).toBe(before);
  });

  it('a clock that jumps a day forward and back does not allow double spending', async () => {
    await pass(2 * HOUR);
    clock.jump(24 * HOUR);
    await pass(5 * HOUR);
    expect(await spent()).toBe(4 * COST);
    clock.jump(-24 * HOUR);
    await pass(5 * HOUR);
    expect(await spent()).toBe(4 * COST);
    expect((await log('run.started')).length).toBe(2);
  });
});
