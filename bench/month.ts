import { DatabaseSync } from 'node:sqlite';
import { METRIC_PERIOD_MS, type Run } from '@tidemill/contract';
import { systemClock } from '../packages/daemon/src/clock.ts';
import { Metrics } from '../packages/daemon/src/metrics/metrics.ts';
import { fillSqlite } from './bulk.ts';
import { PROJECT, Queue } from './queue.ts';
import { timed } from './sample.ts';

const MONTH = METRIC_PERIOD_MS['30d'];
const RUNS_PER_TASK = 10;

/** A month of finished runs, straight into the database: through the front door they would take an hour. */
function fillRuns(file: string, count: number): void {
  const db = new DatabaseSync(file, { timeout: 60_000 });
  const insert = db.prepare('INSERT INTO runs (id, subject_id, project_id, ended_at, doc) VALUES (?, ?, ?, ?, ?)');
  const now = systemClock.now();
  db.exec('BEGIN IMMEDIATE');
  for (let index = 0; index < count; index += 1) {
    const run = runOf(index, now - MONTH + Math.ceil(((index + 1) / count) * MONTH));
    insert.run(run.id, run.subjectId, PROJECT, run.endedAt, JSON.stringify(run));
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

function runOf(index: number, endedAt: number): Run {
  const isReview = index % 4 === 0;
  return {
    id: `run_${String(index).padStart(9, '0')}`,
    projectId: PROJECT,
    subjectId: `task_bulk${2 + Math.floor(index / RUNS_PER_TASK)}`,
    workerId: `${PROJECT}/agent-${index % 10}`,
    stage: isReview ? 'review' : 'implement',
    mode: isReview ? 'review' : 'implement',
    agent: 'claude',
    attempt: 1,
    status: 'finished',
    outcome: isReview ? 'approved' : 'pr_ready',
    failure: null,
    summary: 'What was done in this run, told in a few sentences. '.repeat(4),
    startedAt: endedAt - 60_000,
    endedAt,
    usage: { inputTokens: 5000, outputTokens: 800, requests: 12, costUsd: 0.21 },
    validationRetries: 0,
    progress: { percent: 100, text: 'done', turns: null, tools: null, todo: [] },
    usualMs: null,
    session: 'a-session-of-the-vendor',
    reservedUsd: 0,
    briefing: { promptTokens: 4000, dropped: [], lessons: [] },
  };
}

/**
 * The first figures and the first history of a month with ten runs per task, and the longest time that others had to
 * wait meanwhile.
 */
export async function firstFigures(
  file: string,
  runs: number,
): Promise<{ figuresMs: number; historyMs: number; heldUpMs: number }> {
  const queue = await Queue.open(file, 1);
  const { store } = queue;
  fillSqlite(file, await queue.add(), Math.ceil(runs / RUNS_PER_TASK));
  fillRuns(file, runs);
  const project = { ...(await store.project(PROJECT))!, createdAt: 0 };
  const metrics = () => new Metrics(store, systemClock, () => undefined);
  let heldUpMs = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    heldUpMs = Math.max(heldUpMs, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  const figuresMs = await timed(() => metrics().of(project, '30d'));
  const historyMs = await timed(() => metrics().history(project, '30d'));
  await new Promise((resolve) => setTimeout(resolve, 2));
  clearInterval(watch);
  await store.close();
  return { figuresMs, historyMs, heldUpMs };
}
