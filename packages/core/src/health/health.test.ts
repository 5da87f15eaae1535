import type { Worker } from '@tidemill/contract';
import { describe, expect, it, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { decideLock } from '../schedule/file-lock.ts';
import { examine, type Observation } from './examine.ts';
import type { HealthFinding } from './finding.ts';
import { silenceLimitMs, stuckAction } from './stuck.ts';

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
  ended: [],
  errors: new Map(),
  queueDepth: 5,
  wasLong: true,
  held: [],
  reviews: [],
  ...change,
});
/** Runs of a worker that failed, the last one last. */
const runsOf = (workerId: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ workerId, failure: 'crash' as const, endedAt: NOW - count + index }));
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

  it('a worker without a heartbeat for two minutes is an error that says what to do', () => {
    const { findings } = examine(observation({ workers: [worker('agent-1', 121_000)] }));
    expect(findings).toMatchObject([{ severity: 'error', text: expect.stringContaining('tidemill workers restart') }]);
  });

  it('a stopped worker is ignored', () => {
    expect(kinds({ workers: [{ ...worker('agent-1', 999_000), desired: 'stopped' }] })).toEqual([]);
  });

  test.each([
    [2, []],
    [3, ['warning error_rate agent-1']],
    [10, ['warning error_rate agent-1']],
    [11, ['error error_rate agent-1']],
  ])('%i failed runs within the hour are judged', (count, expected) => {
    const workers = [worker('agent-1', 0)];
    const [{ id }] = workers as [Worker];
    const works = { workerId: id, failure: null, endedAt: NOW };
    const ended = [works, ...runsOf(id, count)];
    expect(kinds({ workers, ended })).toEqual(expected);
    if (count < 3) return;
    const errors = new Map([[id, { number: 4, text: 'ENOENT:\n no such file' }]]);
    const [{ text }] = examine(observation({ workers, ended, errors })).findings as [HealthFinding];
    expect(text).toBe(
      `agent-1 failed ${count} times within the last hour. Last error (#4): "ENOENT: no such file". Restart it with \`tidemill workers restart agent-1\`.`,
    );
  });

  it('one critical alert tells that all agents fail, with the last error, instead of one for each', () => {
    const workers = [worker('agent-1', 0), worker('agent-2', 0)];
    const ended = workers.flatMap(({ id }) => runsOf(id, 3));
    const errors = new Map([[workers[1]!.id, { number: null, text: 'no credit left' }]]);
    const { findings } = examine(observation({ workers, ended, errors }));
    expect(findings).toMatchObject([{ kind: 'all_failed', severity: 'critical' }]);
    expect(findings[0]?.text).toContain(
      '6 runs ended within the last hour, and none succeeded. Last error: "no credit left".',
    );
    errors.set(workers[0]!.id, { number: null, text: 'no network' });
    const later = ended.map((run) => (run.workerId === workers[0]!.id ? { ...run, endedAt: NOW } : run));
    expect(examine(observation({ workers, ended: later, errors })).findings[0]?.text).toContain('"no network"');
    const changes = ended.map((run) => ({ ...run, failure: 'validation' as const }));
    expect(kinds({ workers, ended: changes })).toEqual(['warning error_rate agent-1', 'warning error_rate agent-2']);
  });

  test.each([
    [2, ['info queue_low queue']],
    [3, []],
    [10, []],
    [11, ['warning queue_high queue']],
  ])('%i tasks that wait to start are judged', (queueDepth, expected) => {
    expect(kinds({ queueDepth })).toEqual(expected);
  });

  it('a queue that never was long is not reported as low', () => {
    expect(kinds({ queueDepth: 1, wasLong: false })).toEqual([]);
  });
});

describe('a task without progress', () => {
  test.each([
    ['a migration', { files: ['db/migrations/001.sql'] }, false, 5],
    ['anything', { files: ['src/a.ts'] }, false, 10],
    ['tests', { files: [] }, true, 15],
  ])('%s has its own limit of silence', (_name, task, isTesting, minutes) => {
    expect(silenceLimitMs(task, isTesting)).toBe(minutes * MINUTE);
  });

  test.each([
    [9, 'none'],
    [11, 'watch'],
    [21, 'ask'],
    [31, 'interrupt'],
  ])('after %i minutes leads to the step: %s', (minutes, expected) => {
    expect(stuckAction(minutes * MINUTE, 10 * MINUTE)).toBe(expected);
  });

  it('is critical after half an hour, and acted on', () => {
    const task = running();
    const seen = observation({
      running: [{ task, worker: 'agent-1', lastSignAt: NOW - 31 * MINUTE, isTesting: false }],
    });
    expect(examine(seen)).toMatchObject({
      findings: [{ kind: 'stuck', severity: 'critical', taskId: task.id }],
      stuck: [{ action: 'interrupt', silentMs: 31 * MINUTE }],
    });
  });
});

it('a task without progress is told with its last output, its tool and what its processes use', () => {
  const seen = { task: running(), worker: 'agent-1', lastSignAt: NOW - 11 * MINUTE, isTesting: false };
  const more = { lastOutput: 'installing\n\u001b[31mwaiting for lock', tool: 'Bash npm ci' };
  const workers = [worker('agent-1', 0)];
  const [{ text }] = examine(observation({ workers, running: [{ ...seen, ...more }] })).findings as [HealthFinding];
  expect(text).toContain(
    'Last output: "installing waiting for lock". Running tool: "Bash npm ci". Its processes use 0 % CPU and 1 MB.',
  );
});

describe('a task that a person allows to be silent for a time', () => {
  const silent = (minutes: number, leftAloneUntil: number) => {
    const seen = { task: { ...running(), leftAloneUntil }, worker: 'agent-1', isTesting: false };
    return (
      examine(observation({ running: [{ ...seen, lastSignAt: NOW - minutes * MINUTE }] })).stuck[0]?.action ?? 'none'
    );
  };
  test.each([
    ['until then nothing is done', 45, 5, 'none'],
    ['after that they are asked again', 52, -1, 'ask'],
    ['and it is interrupted ten minutes later', 62, -11, 'interrupt'],
    ['a sign of life since counts from there', 12, -5, 'watch'],
  ])('is judged in the case: %s', (_name, silentMinutes, leftMinutes, expected) => {
    expect(silent(silentMinutes, NOW + leftMinutes * MINUTE)).toBe(expected);
  });
});

describe('tasks behind one that does not continue', () => {
  const dependency = { id: 'task_4', number: 4, title: 'Schema', stageSince: NOW - 60 * MINUTE, blocked: null };
  it('are reported at once behind a cancelled task, with what to do', () => {
    const held = [{ dependency: { ...dependency, stage: 'cancelled' }, waiting: [5, 6] }];
    const [finding] = examine(observation({ held })).findings;
    expect(finding).toMatchObject({ kind: 'dependency_cancelled', subject: '#4', taskId: 'task_4' });
    expect(finding?.text).toContain('#5, #6 wait for #4 Schema, which is cancelled');
    for (const command of ['tidemill task retry 4', 'tidemill task after 5 --not 4', 'tidemill task cancel 5'])
      expect(finding?.text).toContain(command);
  });
  it('are reported after two hours behind a blocked task', () => {
    const held = (hours: number) => [
      { dependency: { ...dependency, stage: 'blocked', stageSince: NOW - hours * 60 * MINUTE }, waiting: [5] },
    ];
    expect(kinds({ held: held(1) })).toEqual([]);
    expect(kinds({ held: held(2) })).toEqual(['error dependency_blocked #4']);
  });
  it('are not reported when there are none', () => {
    expect(kinds({ held: [{ dependency: { ...dependency, stage: 'cancelled' }, waiting: [] }] })).toEqual([]);
  });
});

describe('a review that nobody begins', () => {
  it('is reported after two hours, with the reason', () => {
    const review = (minutes: number) => ({
      task: { id: 'task_7', number: 7, title: 'Add', stageSince: NOW - minutes * MINUTE },
      why: 'review-agent is paused.',
    });
    expect(kinds({ reviews: [review(119)] })).toEqual([]);
    const [finding] = examine(observation({ reviews: [review(125)] })).findings;
    expect(finding).toMatchObject({ kind: 'review_waiting', severity: 'error' });
    expect(finding?.text).toBe('#7 Add has waited 2 h 5 min for its review: review-agent is paused.');
  });
});

describe('a request for files that others may hold', () => {
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
  ])('is judged in the case: %s', (_name, priority, leased, action) => {
    expect(decideLock(wanted(priority), leased, NOW)).toMatchObject({ action, reason: expect.stringMatching(/./) });
  });
});
