import type { Worker } from '@tidemill/contract';
import { describe, expect, it, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { decideLock } from '../schedule/file-lock.ts';
import { examine, type Observation } from './examine.ts';
import { silenceLimitMs, stuckAction } from './stuck.ts';
import { cyclesIn } from './wait-graph.ts';

const MINUTE = 60_000;
const NOW = 10_000 * MINUTE;

function worker(name: string, silentMs: number | null): Worker {
  const mill = new Mill();
  const [any] = mill.workers.values();
  const beats = silentMs === null ? [] : [{ at: NOW - silentMs, memoryMb: 1, cpuPercent: 0 }];
  return { ...any!, id: `project_1/${name}`, name, beats };
}

const observation = (change: Partial<Observation>): Observation => ({
  now: NOW,
  workers: [],
  running: [],
  errors: new Map(),
  queueDepth: 5,
  waits: new Map(),
  ...change,
});
const kinds = (change: Partial<Observation>) =>
  examine(observation(change)).findings.map(({ kind, severity, subject }) => `${severity} ${kind} ${subject}`);

function running(files: string[] = [], priority = 2) {
  const mill = new Mill();
  const id = mill.add({ files, priority });
  mill.now = NOW;
  mill.startRun(id);
  return mill.task(id);
}

describe('the health of workers', () => {
  it('every worker is judged in one pass', () => {
    const workers = [worker('agent-1', 0), worker('agent-2', 61_000), worker('agent-3', 121_000), worker('new', null)];
    expect(kinds({ workers })).toEqual(['warning worker_degraded agent-2', 'error worker_unresponsive agent-3']);
  });

  it('one without a heartbeat for two minutes is an error that says what to do', () => {
    const { findings } = examine(observation({ workers: [worker('agent-1', 121_000)] }));
    expect(findings).toMatchObject([{ severity: 'error', text: expect.stringContaining('tidemill workers restart') }]);
  });

  it('ignores one that was stopped', () => {
    expect(kinds({ workers: [{ ...worker('agent-1', 999_000), desired: 'stopped' }] })).toEqual([]);
  });

  test.each([
    [2, []],
    [3, ['warning error_rate agent-1']],
    [10, ['warning error_rate agent-1']],
    [11, ['error error_rate agent-1']],
  ])('%i failed runs within the hour', (count, expected) => {
    const workers = [worker('agent-1', 0)];
    expect(kinds({ workers, errors: new Map([[workers[0]!.id, count]]) })).toEqual(expected);
  });

  test.each([
    [2, ['info queue_low queue']],
    [3, []],
    [10, []],
    [11, ['warning queue_high queue']],
  ])('%i tasks wait to start', (queueDepth, expected) => {
    expect(kinds({ queueDepth })).toEqual(expected);
  });
});

describe('a task without progress', () => {
  test.each([
    ['a migration', { files: ['db/migrations/001.sql'] }, false, 5],
    ['anything', { files: ['src/a.ts'] }, false, 10],
    ['tests', { files: [] }, true, 15],
  ])('%s has its own limit', (_name, task, isTesting, minutes) => {
    expect(silenceLimitMs(task, isTesting)).toBe(minutes * MINUTE);
  });

  test.each([
    [9, 'none'],
    [11, 'watch'],
    [21, 'ask'],
    [31, 'interrupt'],
  ])('after %i minutes: %s', (minutes, expected) => {
    expect(stuckAction(minutes * MINUTE, 10 * MINUTE)).toBe(expected);
  });

  it('after half an hour it is critical, and acted on', () => {
    const task = running();
    const seen = observation({ running: [{ task, lastSignAt: NOW - 31 * MINUTE, isTesting: false }] });
    expect(examine(seen)).toMatchObject({
      findings: [{ kind: 'stuck', severity: 'critical', taskId: task.id }],
      stuck: [{ action: 'interrupt', silentMs: 31 * MINUTE }],
    });
  });
});

describe('the wait graph', () => {
  it('finds every cycle once, wherever it is entered', () => {
    const graph = new Map([
      ['#1', ['#2']],
      ['#2', ['#3', '#4']],
      ['#3', ['#1']],
      ['#4', ['#5']],
      ['#6', ['#6', '#1']],
    ]);
    expect(cyclesIn(graph)).toEqual([['#1', '#2', '#3'], ['#6']]);
    expect(kinds({ waits: graph })).toEqual(['critical deadlock #1 #2 #3', 'critical deadlock #6']);
  });

  it('is quick and safe on a long chain', () => {
    const graph = new Map(Array.from({ length: 50_000 }, (_, at) => [`${at}`, [`${at + 1}`]]));
    expect(cyclesIn(graph)).toEqual([]);
  });
});

describe('who gets the files', () => {
  const wanted = (priority: number, files = ['src/**']) => {
    const mill = new Mill();
    return mill.task(mill.add({ files, priority }));
  };
  const other = (priority: number) => ({ ...running(['src/a.ts'], priority), id: 'task_other', number: 9 });

  it.each([
    ['nobody holds them', 2, [], 'grant'],
    ['others are held', 2, [{ ...other(2), files: ['docs/'] }], 'grant'],
    ['an equal holds them', 2, [other(2)], 'deny'],
    ['somebody more urgent holds them', 3, [other(1)], 'deny'],
    ['somebody less urgent holds them', 0, [other(3)], 'preempt'],
    ['they are landing', 0, [{ ...other(3), role: 'merger' as const }], 'deny'],
    [
      'they were held for half an hour',
      2,
      [{ ...other(2), lease: { ...other(2).lease!, claimedAt: NOW - 31 * MINUTE } }],
      'grant',
    ],
  ])('%s', (_name, priority, leased, action) => {
    expect(decideLock(wanted(priority), leased, NOW)).toMatchObject({ action, reason: expect.stringMatching(/./) });
  });
});
