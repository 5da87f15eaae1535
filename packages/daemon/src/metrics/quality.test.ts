import type { EndedRun, Project } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIds } from '../clock.ts';
import type { Store } from '../ports.ts';
import { openStore } from '../store/open.ts';
import type { Facts } from './figures.ts';
import { qualityOf } from './quality.ts';
import type { DoneTask } from './recent-runs.ts';

const NOW = 1_000_000;
const clock = { now: () => NOW, sleep: async () => undefined };
let store: Store;
beforeEach(async () => {
  store = await openStore({ url: ':memory:', clock, ids: createIds(clock) });
});
afterEach(() => store.close());

test('quality counts the reviews of each reviewed task, what passed at once, and the share of gates that passed', async () => {
  const run = (subjectId: string, mode: EndedRun['mode'], outcome: EndedRun['outcome'], more: Partial<EndedRun> = {}) =>
    ({ subjectId, mode, outcome, failure: null, endedAt: NOW - 1, ...more }) as EndedRun;
  const runs = [
    run('task_1', 'implement', 'pr_ready'),
    run('task_1', 'review', 'approved'),
    run('task_2', 'implement', 'pr_ready'),
    run('task_2', 'review', 'changes_requested'),
    run('task_2', 'request_changes', 'pr_ready'),
    // A vendor's failure is no review.
    run('task_2', 'review', 'failed', { failure: 'overloaded' }),
    run('task_2', 'review', 'approved'),
    run('task_3', 'implement', 'pr_ready'),
    run('task_4', 'implement', 'pr_ready'),
  ];
  const done = ['task_1', 'task_2', 'task_3'].map((id) => ({ id, doneAt: NOW - 1 }) as DoneTask);
  const facts: Facts = { runs, done, workers: [], busySince: new Map(), createdAt: 0 };
  const gates = { flakes: [], runs: 8, passed: 6, refused: new Set(['task_3']) };
  const project = { id: 'project_1', createdAt: 0 } as Project;
  expect(await qualityOf(store, project, facts, gates, { period: '24h', now: NOW })).toMatchObject({
    reviewsPerTask: 1.5,
    gatePassRate: 0.75,
    firstPassRate: 1 / 3,
    questionsPerTask: 0,
  });
});
