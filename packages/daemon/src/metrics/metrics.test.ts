import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { personActor, type Run } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultRules } from '../../../../test/support/mill.ts';
import type { Store } from '../ports.ts';
import { openStore } from '../store/open.ts';
import { Metrics } from './metrics.ts';

const projectId = 'project_1';
const workerId = `${projectId}/agent-1`;
let now = Date.parse('2026-11-16T08:00:00Z');
const clock = { now: () => now, sleep: async () => undefined };
let serial = 0;
const ids = {
  next(prefix: string): string {
    serial += 1;
    return `${prefix}_${String(serial).padStart(9, '0')}`;
  },
};
let store: Store;

beforeEach(async () => {
  store = await openStore({ url: ':memory:', clock, ids });
  await must({ type: 'project.register', projectId, name: 'demo', root: '/demo', rules: defaultRules });
  await must({ type: 'worker.register', projectId, workerId, name: 'agent-1', role: 'builder' });
});
afterEach(() => store.close());

async function must(command: Parameters<Store['execute']>[0]) {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(reply.refusal.message);
  return reply;
}

async function create(): Promise<string> {
  const taskId = ids.next('task');
  const blank = { body: '', kind: 'feature', accept: [], files: [], dependsOn: [], priority: 2 } as const;
  await must({ type: 'task.create', projectId, taskId, title: 'x', ...blank, accept: [], files: [], dependsOn: [] });
  return taskId;
}

/** A task that is planned within ten minutes, at the price of a dollar. */
async function plan(): Promise<void> {
  await create();
  const claim = await must({ type: 'work.claim', projectId, workerId, role: 'builder', owner: 'd', window: 9 });
  const fence = { projectId, subjectId: claim.task!.id, token: claim.task!.lease!.token };
  const runId = ids.next('run');
  await must({ type: 'run.start', ...fence, runId, mode: 'plan', agent: 'a' });
  now += 600_000;
  const usage = { inputTokens: 0, outputTokens: 0, requests: 1, costUsd: 1 };
  const end = { outcome: 'failed', failure: 'refused', envelope: null, usage } as const;
  await must({ type: 'run.finish', ...fence, runId, ...end });
}

describe('metrics of a store', () => {
  it('take in what happened since they were asked for last', async () => {
    const metrics = new Metrics(store, clock, () => undefined);
    const project = (await store.project(projectId))!;
    await plan();
    expect((await metrics.of(project, '24h')).total).toMatchObject({ errors: 1, costUsd: 1 });
    await plan();
    now += 5_000;
    expect((await metrics.of(project, '24h')).total).toMatchObject({ errors: 2, costUsd: 2 });
    now += 25 * 3_600_000;
    expect((await metrics.of(project, '24h')).total).toMatchObject({ errors: 0, costUsd: 0 });
    expect((await metrics.of(project, '7d')).total).toMatchObject({ errors: 2, costUsd: 2 });
  });

  it.each(['of', 'history'] as const)(
    'the last known figures (%s) are given, marked as stale, when they cannot be computed',
    async (ask) => {
      let isBroken = true;
      const flaky = new Proxy(store, {
        get: (target, key) => {
          if (key === 'runsEnded' && isBroken) return () => Promise.reject(new Error('no disk'));
          const value = Reflect.get(target, key);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const notes: string[] = [];
      const metrics = new Metrics(flaky, clock, (text) => notes.push(text));
      const project = (await store.project(projectId))!;
      await expect(metrics[ask](project, '24h')).rejects.toThrow('no disk');
      isBroken = false;
      await plan();
      const known = await metrics[ask](project, '24h');
      isBroken = true;
      now += 60_000;
      expect(await metrics[ask](project, '24h')).toEqual({ ...known, isStale: true });
      // Another period is told from the same knowledge.
      expect(await metrics[ask](project, '7d')).toMatchObject({ isStale: true, computedAt: known.computedAt });
      expect(notes).toHaveLength(2);
      isBroken = false;
      expect(await metrics[ask](project, '24h')).toMatchObject({ isStale: false, computedAt: now });
    },
  );

  it('history follows tasks that come, go and come back, without reading all of them again', async () => {
    let reads = 0;
    const counted = new Proxy(store, {
      get: (target, key) => {
        if (key === 'taskSpans') reads += 1;
        const value = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const metrics = new Metrics(counted, clock, () => undefined);
    const project = (await store.project(projectId))!;
    const queued = async () => {
      now += 5_000;
      return (await metrics.history(project, '24h')).points.at(-1)!.queued;
    };
    const first = await create();
    expect(await queued()).toBe(1);
    await create();
    expect(await queued()).toBe(2);
    await must({ type: 'task.cancel', projectId, taskId: first, by: personActor('person') });
    expect(await queued()).toBe(1);
    now += 2 * 3_600_000;
    const { points } = await metrics.history(project, '24h');
    expect(points.slice(-3).map((point) => point.queued)).toEqual([1, 1, 1]);
    expect(points[0]!.queued).toBe(0);
    await must({ type: 'task.retry', projectId, taskId: first, by: personActor('person') });
    expect(await queued()).toBe(2);
    expect(reads).toBe(1);
    // What was read from the rows says the same as what was followed.
    const again = await new Metrics(store, clock, () => undefined).history(project, '24h');
    expect(again.points.at(-1)!.queued).toBe(2);
  });

  it('history tells what every project spent, by step, mode and agent', async () => {
    const other = 'project_2';
    await must({ type: 'project.register', projectId: other, name: 'demo', root: '/other', rules: defaultRules });
    await plan();
    now += 2 * 3_600_000;
    await plan();
    const metrics = new Metrics(store, clock, () => undefined);
    const view = await metrics.history((await store.project(other))!, '24h');
    expect(view.points).toHaveLength(24);
    expect(view.spend).toEqual(
      [now - 3 * 3_600_000, now - 3_600_000].map((at) => ({
        at,
        project: projectId,
        mode: 'plan',
        agent: 'a',
        usd: 1,
        runs: 1,
      })),
    );
  });

  it('are read once for all who ask, and then only what has ended since', async () => {
    const rows: number[] = [];
    const counted = new Proxy(store, {
      get: (target, key) => {
        const value = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        if (key !== 'runsEnded') return value.bind(target);
        return async (...asked: Parameters<Store['runsEnded']>) => {
          const page = await store.runsEnded(...asked);
          rows.push(page.length);
          return page;
        };
      },
    });
    const metrics = new Metrics(counted, clock, () => undefined);
    const project = (await store.project(projectId))!;
    for (let count = 0; count < 20; count += 1) await plan();
    const asked = () =>
      Promise.all([metrics.of(project, '24h'), metrics.of(project, '7d'), metrics.history(project, '7d')]);
    expect((await asked())[0]!.total.errors).toBe(20);
    expect(rows).toEqual([20]);
    await plan();
    now += 5_000;
    expect((await asked())[0]!.total.errors).toBe(21);
    // The last one of before is read again: another may have ended at the same moment.
    expect(rows).toEqual([20, 2]);
  });

  it('a month of 100,000 runs is added up', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tidemill metrics '));
    const file = join(folder, 'store.db');
    try {
      await (await openStore({ url: file, clock, ids })).close();
      fill(file, 100_000);
      const full = await openStore({ url: file, clock, ids });
      try {
        const metrics = new Metrics(full, clock, () => undefined);
        const project = { ...(await store.project(projectId))!, createdAt: 0 };
        const { total } = await metrics.of(project, '30d');
        expect(total.costUsd).toBeCloseTo(1000);
        expect(total.errors).toBe(10_000);
        now += 10_000;
        expect((await metrics.of(project, '30d')).total.costUsd).toBeCloseTo(1000);
      } finally {
        await full.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('how well the work goes', () => {
  it('counts refusals per guard, questions per task, what happened again after a lesson, and traces that were read', async () => {
    const taskId = await create();
    now += 1_000;
    const by = personActor('ada');
    const trace = (id: string, key: string, type: 'violation' | 'failure', source: 'guard' | 'gate') =>
      must({
        type: 'trace.store',
        projectId,
        trace: {
          ...{ id, type, source, key, what: 'It failed', correct: null, why: null, files: [], agent: null, seq: null },
          ...{ subjectId: taskId, runId: null, taskNumber: 1, at: now, by },
        },
      });
    await trace('trace_1', 'guard:push:Bash', 'violation', 'guard');
    await trace('trace_2', 'guard:push:Bash', 'violation', 'guard');
    await trace('trace_3', 'gate:test:01', 'failure', 'gate');
    await must({
      type: 'lesson.record',
      projectId,
      lessonId: 'lesson_1',
      draft: {
        ...{ kind: 'gotcha', text: 'The mill needs water before it turns', why: '', filePatterns: [], action: null },
        ...{ topics: [], scope: 'project' },
      },
      origin: { traceIds: ['trace_3'], taskIds: [taskId], runId: null, by },
      control: { good: 0, total: 0 },
    });
    now += 1_000;
    await trace('trace_4', 'gate:test:01', 'failure', 'gate');
    await must({ type: 'trace.retrieve', projectId, traceIds: ['trace_1', 'trace_4'], runId: 'run_1' });
    const metrics = new Metrics(store, clock, () => undefined);
    const { quality } = await metrics.of((await store.project(projectId))!, '24h');
    expect(quality).toEqual({
      ...{ firstPassRate: null, reviewsPerTask: null, gatePassRate: null, questionsPerTask: null },
      ...{ refusals: [{ guard: 'push', count: 2 }], lessons: 1, repeats: 1, tracesRead: 2 },
    });
  });
});

/** Straight into the database: a hundred thousand real runs would take the test an hour. */
function fill(file: string, count: number): void {
  const db = new DatabaseSync(file);
  const insert = db.prepare('INSERT INTO runs (id, subject_id, project_id, ended_at, doc) VALUES (?, ?, ?, ?, ?)');
  db.exec('BEGIN');
  for (let index = 0; index < count; index += 1) {
    const endedAt = now - 29 * 24 * 3_600_000 + index * 20_000;
    const run: Run = {
      id: `r${index}`,
      projectId,
      subjectId: `t${index % 30_000}`,
      workerId,
      stage: 'implement',
      mode: 'implement',
      agent: 'a',
      attempt: 1,
      status: 'finished',
      outcome: 'pr_ready',
      summary: 'done',
      failure: index % 10 === 0 ? 'crash' : null,
      startedAt: endedAt - 10_000,
      endedAt,
      validationRetries: 0,
      progress: null,
      usualMs: null,
      session: null,
      reservedUsd: 0,
      briefing: null,
      usage: { inputTokens: 1, outputTokens: 1, requests: 1, costUsd: 0.01 },
    };
    insert.run(run.id, run.subjectId, projectId, endedAt, JSON.stringify(run));
  }
  db.exec('COMMIT');
  db.close();
}
