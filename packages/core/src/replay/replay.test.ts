import { type Job, personActor, type Replay, type ReplayResult, type ReplayRun, replayRunId } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import type { NewReplay } from './commands.ts';

const projectId = 'project_1';
const replayId = 'replay_1';
const by = personActor('ada');
const recorded = (number: number) => ({
  taskId: `task_${number}`,
  number,
  title: `Task ${number}`,
  base: 'b',
  commit: 'c',
  files: ['a.ts'],
  landedAt: 1,
});
const order: NewReplay = {
  purpose: { kind: 'bench', id: null },
  variants: [{ name: 'as configured', agent: null, prompt: null, lessons: [] }],
  tasks: [recorded(1), recorded(2)],
  repeats: 1,
  withLandedTests: false,
  limitUsd: 5,
};
const result: ReplayResult = {
  verdict: 'passed',
  tries: 1,
  isFirstTry: true,
  gates: [],
  why: '',
  runId: 'run_1',
  costUsd: 0.1,
  tokens: 10,
  durationMs: 100,
};

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
});
const start = (replay: Partial<NewReplay> = {}, id = replayId) =>
  mill.execute({ type: 'replay.start', projectId, replayId: id, replay: { ...order, ...replay }, by });
const trial = { type: 'replay.try', projectId, replayId, taskId: 'task_1', variant: 0, repeat: 0 } as const;
const runId = replayRunId(replayId, 'task_1', 0, 0);
const replay = () => mill.records.get(replayId) as Replay;
const run = () => mill.records.get(runId) as ReplayRun;
const job = () => mill.records.get(run().jobId) as Job;
const claim = () => mill.must({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd', isBackground: true });
const fence = () => ({ projectId, subjectId: runId, jobId: job().id, token: job().lease!.token });

describe('a replay', () => {
  test('gets the next number, and is refused when it cannot be run', () => {
    expect(start().ok).toBe(true);
    expect(start({}, 'replay_2').ok).toBe(true);
    expect(mill.records.get('replay_2')).toMatchObject({ number: 2, status: 'running' });
    expect(start()).toMatchObject({ refusal: { code: 'conflict' } });
    expect(start({ tasks: [] }, 'replay_3')).toMatchObject({
      refusal: { message: expect.stringContaining('no recorded task') },
    });
    expect(start({ tasks: [recorded(1), recorded(1)] }, 'replay_3')).toMatchObject({ refusal: { code: 'bad_input' } });
    expect(start({ repeats: 10_000 }, 'replay_3')).toMatchObject({
      refusal: { message: 'that would be 20000 runs, and a replay has at most 600' },
    });
  });

  test('is refused while five others are running', () => {
    for (let number = 1; number <= 5; number += 1) expect(start({}, `replay_${number}`).ok).toBe(true);
    expect(start({}, 'replay_6')).toMatchObject({ refusal: { code: 'conflict', message: '5 replays are running' } });
  });

  test('asks for a run once, and only for a planned one', () => {
    start();
    mill.must(trial);
    const before = job().id;
    expect(mill.must(trial)).toEqual([]);
    expect(job()).toMatchObject({ id: before, mode: 'replay', subjectId: runId, status: 'open' });
    expect(mill.refusal({ ...trial, variant: 1 })).toBe('bad_input');
    expect(mill.refusal({ ...trial, taskId: 'task_9' })).toBe('bad_input');
    expect(mill.refusal({ ...trial, replayId: 'replay_9' })).toBe('not_found');
  });

  test('has one to four variants', () => {
    const [variant] = order.variants;
    const replayOf = (count: number) => ({ ...order, variants: Array(count).fill(variant) });
    const begin = (count: number) =>
      ({ type: 'replay.start', projectId, replayId, replay: replayOf(count), by }) as const;
    expect(mill.refusal(begin(0))).toBe('bad_input');
    expect(mill.refusal(begin(5))).toBe('bad_input');
    mill.must(begin(4));
  });

  test('waits until a worker has nothing else to do', () => {
    start();
    mill.must(trial);
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('nothing_ready');
    claim();
    expect(job().lease).not.toBeNull();
  });

  test('keeps the first measurement of the worker that holds the lease', () => {
    start();
    mill.must(trial);
    claim();
    const measure = { type: 'replay.measure', ...fence(), replayRunId: runId, result } as const;
    expect(mill.refusal({ ...measure, token: 99 })).toBe('stale_lease');
    mill.must(measure);
    expect(mill.must({ ...measure, result: { ...result, verdict: 'failed' } })).toEqual([]);
    expect(run().result).toEqual(result);
  });

  test('does not count a run whose job ended without a measurement', () => {
    start();
    mill.must(trial);
    mill.must({ type: 'job.cancel', projectId, subjectId: runId, jobId: job().id, why: 'stopped' });
    expect(run().result).toMatchObject({ verdict: 'void', why: 'stopped' });
  });

  test('ends when no run is open, and keeps its figures', () => {
    start();
    mill.must(trial);
    const report = { variants: [], pairs: [] };
    const end = { type: 'replay.end' as const, projectId, replayId, report, spentUsd: 1 };
    expect(mill.refusal(end)).toBe('conflict');
    mill.must({ type: 'job.cancel', projectId, subjectId: runId, jobId: job().id, why: 'x' });
    mill.must(end);
    expect(replay()).toMatchObject({ status: 'done', spentUsd: 1, endedAt: expect.any(Number) });
    expect(mill.must(end)).toEqual([]);
    expect(mill.refusal(trial)).toBeNull();
    expect(mill.refusal({ ...trial, taskId: 'task_2' })).toBe('conflict');
  });

  test('is stopped once', () => {
    start();
    const stop = { type: 'replay.stop', projectId, replayId, why: 'enough', by } as const;
    mill.must(stop);
    expect(replay()).toMatchObject({ status: 'stopping', why: 'enough' });
    expect(mill.refusal(stop)).toBe('conflict');
    mill.must({ type: 'replay.end', projectId, replayId, report: { variants: [], pairs: [] }, spentUsd: 0 });
    expect(replay().status).toBe('stopped');
  });

  test('does not let its agent ask people', () => {
    start();
    mill.must(trial);
    claim();
    mill.must({ type: 'run.start', ...fence(), runId: 'run_1', mode: 'replay', agent: 'scripted' });
    const asked = {
      type: 'blocking',
      text: 'Which?',
      context: '',
      options: [],
      allowFreeText: true,
      tags: [],
    } as const;
    mill.must({
      type: 'run.finish',
      ...fence(),
      runId: 'run_1',
      outcome: 'needs_info',
      envelope: { outcome: 'needs_info', summary: '', open_questions: [{ ...asked, options: [], tags: [] }] },
      usage: { inputTokens: 1, outputTokens: 1, costUsd: 0.1, requests: 1 },
    });
    expect([...mill.records.values()].filter(({ noun }) => noun === 'question')).toEqual([]);
  });
});
