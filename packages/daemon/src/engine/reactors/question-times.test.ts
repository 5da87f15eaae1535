import { createHash } from 'node:crypto';
import { AskedQuestion, type Mode, personActor, type Question, type Receipt } from '@tidemill/contract';
import { type Command, decide, reduce } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules, receipt } from '../../../../../test/support/mill.ts';
import { assetDir } from '../../assets.ts';
import { createIds } from '../../clock.ts';
import type { Store } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';
import { openStore } from '../../store/open.ts';
import type { EngineDeps } from '../deps.ts';
import { withQuestion } from '../stages/run-questions.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { CatalogueTriggers } from './catalogue-triggers.ts';
import { ReactorHost } from './host.ts';
import { QuestionTimes } from './question-times.ts';

const projectId = 'project_1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };

let clock: VirtualClock;
let store: Store;
let host: ReactorHost;
let notes: string[];
let deps: EngineDeps;

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
  return reply;
};

beforeEach(async () => {
  clock = new VirtualClock();
  notes = [];
  store = await openStore({ url: 'memory:', clock, ids: createIds(clock), rules: { decide, reduce } });
  await must({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules: defaultRules });
  await must({ type: 'worker.register', projectId, workerId: 'agent-1', name: 'agent-1', role: 'builder' });
  const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });
  const project = (await store.project(projectId))!;
  const onNote = (text: string) => void notes.push(text);
  // The two reactors follow the log and the clock. They need nothing else of the engine.
  host = new ReactorHost({ store, clock, onNote });
  deps = { store, clock, project, onNote, catalogue, hash, reactors: host } as unknown as EngineDeps;
  await start();
});
afterEach(async () => {
  await host.stop();
  await store.close();
  expect(notes).toEqual([]);
});

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

async function start(): Promise<void> {
  const after = await store.lastSeq();
  for (const reactor of [new QuestionTimes(deps), new CatalogueTriggers(deps)]) host.add(reactor, after);
  await settled();
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  void clock.sleep(ms);
  do await settled();
  while (await clock.step(until));
  await settled();
}

async function add(number: number, more: object = {}): Promise<string> {
  const blank = {
    title: `Task ${number}`,
    body: '',
    kind: 'feature',
    accept: [],
    files: [],
    dependsOn: [],
    priority: 2,
  };
  await must({
    type: 'task.create',
    projectId,
    taskId: `task_${number}`,
    pipeline: 'quick',
    ...blank,
    ...more,
  } as Command);
  return `task_${number}`;
}
const ask = (taskId: string | null, question: object) =>
  must({
    type: 'question.ask',
    projectId,
    taskId,
    stage: 'open',
    agent: 'engine',
    source: 'engine',
    sourceId: 'x',
    questions: [AskedQuestion.parse(question)],
  });
const questions = () => store.records({ noun: 'question', projectId });
const byTrigger = async (trigger: string) => (await questions()).filter(({ sourceId }) => sourceId === trigger);

/** A run of the task, starting with its claim. */
async function begin(taskId: string) {
  const claim = {
    type: 'work.claim',
    projectId,
    workerId: 'agent-1',
    role: 'builder',
    owner: 'd',
    window: 10,
  } as const;
  const task = (await must(claim)).task!;
  expect(task.id).toBe(taskId);
  const fence = { projectId, subjectId: taskId, token: task.fence };
  const runId = `run_${clock.now()}_${taskId}`;
  await must({ type: 'run.start', ...fence, runId, mode: 'implement', agent: 'a' });
  return { fence, runId, task };
}
async function run(taskId: string, minutes: number, end: object): Promise<void> {
  const { fence, runId } = await begin(taskId);
  await pass(minutes * MINUTE);
  await must({ type: 'run.finish', ...fence, runId, envelope: null, usage, ...end } as Command);
  await settled();
}
const CRASHED = { outcome: 'failed', failure: 'refused', message: 'it will not' };

describe('the times of questions', () => {
  test('each question is reminded and expired when it is due, and not earlier', async () => {
    await ask(null, { text: 'Which?' });
    await ask(null, { text: 'Tabs?', type: 'clarifying', default: 'No' });
    const look = async () => (await questions()).map(({ status, reminders }) => `${status} ${reminders}`);
    await pass(5 * MINUTE - 1);
    expect(await look()).toEqual(['open 0', 'open 0']);
    await pass(1);
    expect(await look()).toEqual(['open 1', 'open 0']);
    await pass(25 * MINUTE);
    expect(await look()).toEqual(['open 6', 'open 1']);
    await pass(3.5 * HOUR);
    expect(await look()).toEqual(['open 48', 'answered 1']);
  });

  test('a question that became due while no engine ran is settled at the start', async () => {
    await ask(null, { text: 'Tabs?', type: 'clarifying', default: 'No' });
    await host.stop();
    await pass(5 * HOUR);
    expect((await questions())[0]?.status).toBe('open');
    await start();
    expect((await questions())[0]).toMatchObject({ status: 'answered', answer: { source: 'default' } });
  });

  test('a clock that jumps a day forward is noticed within a minute; a jump back does no harm', async () => {
    await ask(null, { text: 'Go on?', type: 'confirming' });
    clock.jump(24 * HOUR);
    await pass(MINUTE);
    expect((await questions())[0]?.answer).toMatchObject({ text: 'yes', source: 'timeout' });
    clock.jump(-24 * HOUR);
    await ask(null, { text: 'Which?' });
    await pass(5 * MINUTE);
    expect((await questions()).at(-1)?.reminders).toBe(1);
  });

  test('without open questions nothing is written for a day', async () => {
    const before = await store.lastSeq();
    await pass(24 * HOUR);
    expect(await store.lastSeq()).toBe(before);
  });
});

describe('occasions of the catalogue', () => {
  test('task_failed_repeatedly is asked once, when its agent gives up', async () => {
    await run(await add(1), 1, CRASHED);
    expect(await byTrigger('task_failed_repeatedly')).toMatchObject([
      { ref: 'Q1.1', type: 'blocking', taskId: 'task_1', text: expect.stringContaining('it will not') },
    ]);
    await host.stop();
    await start();
    expect(await questions()).toHaveLength(1);
  });

  test('task_failed_repeatedly is asked at the start if an earlier daemon missed it', async () => {
    await host.stop();
    await run(await add(1), 1, CRASHED);
    expect(await questions()).toEqual([]);
    await start();
    expect(await byTrigger('task_failed_repeatedly')).toHaveLength(1);
  });

  test('task_complexity_exceeded is asked after a run that took more than three times the average', async () => {
    for (let number = 1; number <= 5; number += 1) await run(await add(number), 2, CRASHED);
    await run(await add(6), 6, CRASHED);
    expect(await byTrigger('task_complexity_exceeded')).toEqual([]);
    await run(await add(7), 15, CRASHED);
    const [question] = (await byTrigger('task_complexity_exceeded')) as [Question];
    expect(question).toMatchObject({ taskId: 'task_7', type: 'educational', holds: false });
    expect(question.text).toContain('15 min instead of 3 min as usual');
  });

  test('task_complexity_exceeded is asked once all runs of a task took more than three times its estimate', async () => {
    const task = await add(1, { estimateMinutes: 2 });
    await run(task, 5, CRASHED);
    expect(await byTrigger('task_complexity_exceeded')).toEqual([]);
    await must({ type: 'task.retry', projectId, taskId: task, by: personActor('ada') });
    await run(task, 4, CRASHED);
    const [question] = (await byTrigger('task_complexity_exceeded')) as [Question];
    expect(question.text).toContain('9 min instead of 2 min as its specification estimates');
  });

  test.each(['validation', 'no_progress'] as const)(
    'security_vulnerability is asked when a gate still finds one, after %s',
    async (failure) => {
      const { fence, runId } = await begin(await add(1));
      await must({ type: 'work.commit', ...fence, commit: 'c', tree: 'T', notes: [] });
      const found = { id: 'no-eval', severity: 'high', title: 'eval is dangerous', file: 'a.js', line: 3 } as const;
      const counts = { low: 0, moderate: 0, high: 1, critical: 0 };
      const scan = { kind: 'scan', summary: '1 high', counts, known: 0, percent: null, threshold: null, missing: [] };
      const failed = { ...receipt('security', 'T', 'fail'), scan: { ...scan, findings: [found] } } as Receipt;
      await must({ type: 'evidence.record', ...fence, receipts: [failed] });
      const end = { outcome: 'failed', failure, message: 'it repeats its code' } as const;
      await must({ type: 'run.finish', ...fence, runId, envelope: null, usage, ...end });
      await settled();
      expect(await questions()).toMatchObject([
        { sourceId: 'security_vulnerability', text: expect.stringContaining('found no-eval (high) in a.js:3') },
      ]);
    },
  );

  test('multiple_failures is asked when several gates fail after every retry, instead of the general question', async () => {
    const { fence, runId } = await begin(await add(1));
    await must({ type: 'work.commit', ...fence, commit: 'c', tree: 'T', notes: [] });
    await must({
      type: 'evidence.record',
      ...fence,
      receipts: [receipt('test', 'T', 'fail'), receipt('lint', 'T', 'fail')],
    });
    const end = { outcome: 'failed', failure: 'validation', message: 'Gates still fail' } as const;
    await must({ type: 'run.finish', ...fence, runId, envelope: null, usage, ...end });
    await settled();
    expect(await questions()).toMatchObject([
      { sourceId: 'multiple_failures', effect: { kind: 'unblock' }, text: expect.stringContaining('- test\n- lint') },
    ]);
  });

  test('validation_passed is raised for the first landing of a day, not for the second', async () => {
    await must({ type: 'worker.register', projectId, workerId: 'merger', name: 'merger', role: 'merger' });
    for (const number of [1, 2]) {
      const tree = `T${number}`;
      const receipts = ['integrity', 'test'].map((gate) => receipt(gate, tree, 'pass'));
      const { fence, runId } = await begin(await add(number));
      await must({ type: 'work.commit', ...fence, commit: 'c', tree, notes: [] });
      await must({ type: 'evidence.record', ...fence, receipts });
      await must({ type: 'run.finish', ...fence, runId, outcome: 'pr_ready', envelope: null, usage, tree });
      const claim = {
        type: 'work.claim',
        projectId,
        workerId: 'merger',
        role: 'merger',
        owner: 'd',
        window: 10,
      } as const;
      const merging = { ...fence, token: (await must(claim)).task!.fence };
      // It lands in a batch: the gates ran on the tree of the last commit.
      const batch = { commit: `top ${tree}`, tree };
      await must({
        ...{ type: 'merge.prepare', ...merging, commit: `landing ${tree}`, tree: `below ${tree}`, base: 'b', batch },
      });
      await must({ type: 'merge.land', ...merging, commit: `landing ${tree}` });
      await settled();
    }
    expect(await byTrigger('validation_passed')).toMatchObject([
      {
        type: 'celebratory',
        taskId: null,
        text: expect.stringMatching(/^#1 Task 1 has landed; 2 gates passed.*integrity, test/),
      },
    ]);
  });

  test('missing_context is asked when an agent needs information without asking', async () => {
    const { task } = await begin(await add(1));
    const leased = { task } as LeasedTask;
    const silent = { outcome: 'needs_info' as const, summary: 'I lack the schema' };
    const [question] = withQuestion(deps, leased, 'implement', silent)?.open_questions ?? [];
    expect(question).toMatchObject({ type: 'blocking', text: expect.stringContaining('I lack the schema') });
    const own = { ...silent, open_questions: [AskedQuestion.parse('Which?')] };
    expect(withQuestion(deps, leased, 'implement', own)).toEqual(own);
  });

  test('multiple_implementations is asked when a builder asks which of two ways to take', async () => {
    const { task } = await begin(await add(1));
    const options = [{ label: 'A list' }, { label: 'A tree', recommended: true, description: 'faster' }];
    const asked = AskedQuestion.parse({ id: 'way', type: 'clarifying', text: 'Which structure?', options });
    const envelope = { outcome: 'pr_ready' as const, summary: '', open_questions: [asked] };
    const inMode = (mode: Mode) => withQuestion(deps, { task } as LeasedTask, mode, envelope)?.open_questions?.[0];
    expect(inMode('implement')).toMatchObject({
      ...{ id: 'way', type: 'clarifying', text: 'Which structure?', default: 'A tree' },
      options: [{ label: 'A list' }, { label: 'A tree', description: 'faster' }],
      context: '#1 Task 1: the agent recommends A tree, and goes on with it if nobody answers.',
      tags: ['multiple_implementations'],
    });
    expect(inMode('review')).toEqual(asked);
  });

  test('milestone_reached is raised at half of the tasks, once a day', async () => {
    for (let number = 1; number <= 4; number += 1) await add(number);
    // A pipeline of human stages: the task is approved stage by stage.
    const finish = async (taskId: string) => {
      const rules = { ...defaultRules, pipelines: { quick: DONE_AT_ONCE } };
      await must({ type: 'project.configure', projectId, rules });
      await must({ type: 'task.retry', projectId, taskId, by: personActor('ada'), stage: 'look' });
      await must({ type: 'task.approve', projectId, taskId, by: personActor('ada') });
      await settled();
    };
    await finish('task_1');
    expect(await byTrigger('milestone_reached')).toEqual([]);
    await finish('task_2');
    expect(await byTrigger('milestone_reached')).toMatchObject([{ ref: 'Q1', text: '2 of 4 tasks are done (50 %).' }]);
    await finish('task_3');
    await finish('task_4');
    expect(await byTrigger('milestone_reached')).toHaveLength(1);
  });
});

const DONE_AT_ONCE = {
  name: 'quick',
  description: '',
  start: 'look',
  stages: {
    look: {
      actor: 'human' as const,
      onlyIfPlansAreReviewed: false,
      on: { approved: 'done', changes_requested: 'look' },
    },
  },
};
