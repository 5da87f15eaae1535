import type { EndedRun, Worker } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import { type Facts, figuresOf } from './figures.ts';

const HOUR = 3_600_000;
const now = 1000 * HOUR;
const worker = (name: string, more: Partial<Worker> = {}) =>
  ({ id: `p/${name}`, projectId: 'p', name, role: 'builder', resetAt: 0, ...more }) as Worker;
let serial = 0;
const run = (workerName: string, taskId: string, agoHours: number, more: Partial<EndedRun> = {}): EndedRun => {
  serial += 1;
  const endedAt = now - agoHours * HOUR;
  return {
    id: `run_${serial}`,
    subjectId: taskId,
    workerId: `p/${workerName}`,
    mode: 'implement',
    agent: 'a',
    attempt: 1,
    outcome: 'pr_ready',
    failure: null,
    costUsd: 1,
    startedAt: endedAt - HOUR,
    endedAt,
    ...more,
  };
};
const review = (taskId: string, agoHours: number, approves: boolean, attempt = 1) =>
  run('review-agent', taskId, agoHours, {
    mode: 'review',
    attempt,
    outcome: approves ? 'approved' : 'changes_requested',
  });
const broken = { outcome: 'failed', failure: 'crash' } as const;

const facts: Facts = {
  runs: [
    run('agent-1', 'a', 10),
    review('a', 9, true),
    run('agent-1', 'b', 8, broken),
    run('agent-2', 'b', 6, { costUsd: 3 }),
    review('b', 5, false),
    run('agent-2', 'b', 4, { mode: 'request_changes' }),
    review('b', 3, true, 2),
    run('agent-2', 'old', 100),
    review('old', 99, true),
  ],
  done: [
    { id: 'a', claimedAt: now - 11 * HOUR, doneAt: now - 9 * HOUR },
    { id: 'b', claimedAt: now - 9 * HOUR, doneAt: now - 3 * HOUR },
    { id: 'old', claimedAt: now - 101 * HOUR, doneAt: now - 99 * HOUR },
  ],
  workers: [worker('agent-1'), worker('agent-2'), worker('review-agent', { role: 'reviewer' })],
  busySince: new Map(),
  createdAt: 0,
};
const of = async (name: string, period: '24h' | '7d' | '30d', from = facts) =>
  (await figuresOf(from, period, now)).workers.find((each) => each.name === name)!;

describe('the figures of a worker', () => {
  it('count its work within the period', async () => {
    expect(await of('agent-1', '24h')).toMatchObject({
      completed: 1,
      cycleTimeMs: 2 * HOUR,
      firstReviewPassRate: 0.5,
      errors: 1,
      errorRate: 0.5,
      costUsd: 2,
      costPerTaskUsd: 1,
      uptime: 2 / 24,
    });
    expect(await of('agent-2', '24h')).toMatchObject({
      completed: 1,
      cycleTimeMs: 6 * HOUR,
      firstReviewPassRate: 0,
      errors: 0,
      errorRate: 0,
      costUsd: 4,
      costPerTaskUsd: 4,
      uptime: 2 / 24,
    });
    expect(await of('agent-2', '7d')).toMatchObject({ completed: 2, firstReviewPassRate: 0.5, cycleTimeMs: 4 * HOUR });
    expect(await of('review-agent', '24h')).toMatchObject({ completed: 2, firstReviewPassRate: 0.5 });
  });

  it('restart with a reset', async () => {
    const reset = { ...facts, workers: [worker('agent-1', { resetAt: now - HOUR })] };
    expect(await of('agent-1', '24h', reset)).toMatchObject({ completed: 0, errors: 0, errorRate: null, uptime: 0 });
  });

  it('include the current run', async () => {
    const busy = { ...facts, busySince: new Map([['p/agent-1', now - 6 * HOUR]]) };
    expect((await of('agent-1', '24h', busy)).uptime).toBe(8 / 24);
  });

  it('add up over all workers, each task once', async () => {
    expect((await figuresOf(facts, '24h', now)).total).toMatchObject({
      completed: 2,
      cycleTimeMs: 4 * HOUR,
      firstReviewPassRate: 0.5,
      errors: 1,
      errorRate: 0.5,
      costUsd: 9,
      costPerTaskUsd: 4.5,
      uptime: 7 / 72,
    });
    expect((await figuresOf(facts, '30d', now)).total.completed).toBe(3);
  });

  it('are empty without any work', async () => {
    const none = { ...facts, runs: [], done: [], createdAt: now };
    expect((await figuresOf(none, '24h', now)).total).toEqual({
      completed: 0,
      cycleTimeMs: null,
      firstReviewPassRate: null,
      errors: 0,
      errorRate: null,
      costUsd: 0,
      costPerTaskUsd: null,
      uptime: 0,
    });
  });
});
