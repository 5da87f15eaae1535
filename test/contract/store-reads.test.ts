import { Receipt } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { systemClock } from '../../packages/daemon/src/clock.ts';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { accepted, type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const places = { memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') };

describe.each(Object.entries(places))('reading from %s', (_name, makePlace) => {
  let place: Place;
  let mill: Mill;
  beforeEach(async () => {
    place = await makePlace();
    mill = await open(place);
  });
  afterEach(async () => {
    await mill.store.close();
    await place.remove();
  });

  test('a subscription and a query see only what their filter lets through', async () => {
    await mill.register(1);
    const task = await mill.create();
    await mill.create();
    await mill.mustClaim('w1');
    const filter = { projectId: PROJECT, taskId: task.id, types: ['task.created', 'lease.claimed'] };
    const found = await mill.store.events({ ...filter, after: 0, limit: 10 });
    expect(found.map((event) => event.body.type)).toEqual(['task.created', 'lease.claimed']);
    expect(await mill.store.events({ ...filter, types: [], after: 0, limit: 10 })).toEqual([]);
    expect(await mill.store.events({ projectId: 'project_9', after: 0, limit: 10 })).toEqual([]);
    const backwards = { projectId: PROJECT, newestFirst: true, limit: 2 };
    const newest = await mill.store.events(backwards);
    expect(newest.map(({ seq }) => seq)).toEqual([await mill.store.lastSeq(), newest[0]!.seq - 1]);
    const before = await mill.store.events({ ...backwards, upTo: newest[1]!.seq - 1, types: ['task.created'] });
    expect(before.map(({ body }) => body.type)).toEqual(['task.created', 'task.created']);
    expect(before[0]!.seq).toBeGreaterThan(before[1]!.seq);
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of mill.store.subscribe(0, filter, stop.signal)) {
      seen.push(event.body.type);
      if (seen.length === 2) stop.abort();
    }
    expect(seen).toEqual(['task.created', 'lease.claimed']);
  });

  test('numbers that nothing has are not found, however large', async () => {
    await mill.register(1);
    await mill.create();
    const { store } = mill;
    for (const number of [2 ** 31, Number.MAX_SAFE_INTEGER, 1e20]) {
      expect(await store.taskByNumber(PROJECT, number)).toBeNull();
      expect(await store.tasks({ projectId: PROJECT, numbers: [number] })).toEqual([]);
      expect(await store.tasks({ projectId: PROJECT, search: String(number) })).toEqual([]);
      expect(await store.tasks({ projectId: PROJECT, afterNumber: number, limit: 5 })).toEqual([]);
      expect(await store.tasks({ projectId: PROJECT, afterNumber: number, newestFirst: true })).toHaveLength(1);
      expect(await store.evidence({ projectId: PROJECT, afterPosition: number })).toEqual([]);
      expect(await store.evidence({ projectId: PROJECT, afterPosition: -number })).toEqual([]);
    }
    expect(await store.events({ after: Number.MAX_SAFE_INTEGER, limit: 5 })).toEqual([]);
  });

  test('workload counts what is leased, ready, waiting and in a backoff', async () => {
    await mill.register(2);
    const [a, b] = [await mill.create(), await mill.create()];
    await mill.create({ dependsOn: [a.id] });
    await mill.create();
    const leased = await mill.mustClaim('w1');
    const { fence: token } = await mill.mustClaim('w2');
    const untilMs = 60_000;
    await mill.must({
      type: 'stage.wait',
      projectId: PROJECT,
      subjectId: b.id,
      token,
      why: 'a dirty checkout',
      untilMs,
    });
    const load = await mill.store.workload(PROJECT);
    expect(load).toMatchObject({ leased: 1, ready: 1, waiting: 1, byStage: { check: 2, open: 2 } });
    expect(load.nextNotBefore).toBeGreaterThan(systemClock.now());
    expect(await mill.store.nextNotBefore(PROJECT)).toBe(load.nextNotBefore);
    expect(await mill.store.nextNotBefore('project_9')).toBe(null);
    await mill.finish(leased);
    expect(await mill.store.workload(PROJECT)).toMatchObject({ leased: 0, ready: 2, byStage: { done: 1 } });
    expect((await mill.store.tasks({ projectId: PROJECT, stages: ['open'], limit: 1 })).map((t) => t.number)).toEqual([
      3,
    ]);
    expect((await mill.store.tasks({ projectId: PROJECT, afterNumber: 3 })).map((t) => t.number)).toEqual([4]);
    // A task in backoff is not claimed early.
    expect((await mill.mustClaim('w2')).number).toBe(3);
  });

  test('the fields of runs and tasks that figures need are read without the rest', async () => {
    await mill.register();
    await mill.worker('w1', 'builder');
    const task = await mill.create({ pipeline: 'agent', body: 'a \u0000 and a ü' });
    await mill.create();
    const { id: taskId, fence: token } = accepted(await mill.claim('w1', 8, 'builder')).task!;
    const fence = { projectId: PROJECT, subjectId: taskId, token };
    await mill.must({ type: 'run.start', runId: 'run_1', mode: 'implement', agent: 'test', ...fence });
    const query = { projectId: PROJECT, after: 0 };
    expect(await mill.store.runsEnded(query)).toEqual([]);
    const usage = { inputTokens: 1, outputTokens: 1, requests: 1, costUsd: 1.25 };
    const end = {
      outcome: 'pr_ready',
      envelope: { outcome: 'pr_ready', summary: '\u0000' },
      usage,
    } as const;
    await mill.must({ type: 'run.finish', runId: 'run_1', ...end, ...fence });
    const { endedAt, startedAt } = (await mill.store.run('run_1'))!;
    expect(await mill.store.runsEnded(query)).toMatchObject([
      {
        id: 'run_1',
        subjectId: taskId,
        workerId: `${PROJECT}/w1`,
        mode: 'implement',
        agent: 'test',
        attempt: 1,
        outcome: 'pr_ready',
        failure: null,
        startedAt,
        endedAt,
        costUsd: 1.25,
      },
    ]);
    expect(await mill.store.runsEnded({ ...query, after: endedAt! })).toEqual([]);
    expect(await mill.store.runsEnded({ ...query, projectId: 'project_9' })).toEqual([]);

    const done = (await mill.store.task(task.id))!;
    const spans = { projectId: PROJECT, afterNumber: 0, limit: 9 };
    const { id, number, createdAt, stageSince } = done;
    expect((await mill.store.taskSpans(spans))[0]).toEqual({
      id,
      number,
      stage: 'done',
      createdAt,
      stageSince,
      runs: 1,
    });
    expect(await mill.store.taskSpans({ ...spans, afterNumber: 1 })).toMatchObject([{ number: 2, runs: 0 }]);
    expect(await mill.store.taskSpans({ ...spans, limit: 1 })).toHaveLength(1);
    expect(await mill.store.taskSpans({ ...spans, projectId: 'project_9' })).toEqual([]);
  });

  test('runs, workers and evidence are found again', async () => {
    await mill.register();
    await mill.worker('w1', 'builder');
    await mill.create({ pipeline: 'agent' });
    const { id: taskId, fence: token } = accepted(await mill.claim('w1', 8, 'builder')).task!;
    const fence = { projectId: PROJECT, subjectId: taskId, token };
    await mill.must({ type: 'run.start', runId: 'run_1', mode: 'implement', agent: 'test', ...fence });
    await mill.must({ type: 'run.progress', runId: 'run_1', percent: 50, text: 'half', ...fence });
    expect(await mill.store.run('run_1')).toMatchObject({ status: 'running', progress: { percent: 50 } });
    expect(await mill.store.runs(taskId)).toHaveLength(1);
    await mill.must({ type: 'evidence.record', receipts: [receipt('aaa'), receipt('bbb')], ...fence });
    await mill.must({ type: 'evidence.record', receipts: [receipt('aaa')], ...fence });
    const all = await mill.store.evidence({ projectId: PROJECT });
    expect(all.map((link) => link.position)).toEqual([1, 2, 3]);
    expect(all[2]!.prev).toBe(all[1]!.hash);
    expect(await mill.store.evidence({ projectId: PROJECT, afterPosition: 1, limit: 1, taskId })).toEqual([all[1]]);
    expect(await mill.store.evidenceForTree(PROJECT, 'aaa')).toEqual([all[0], all[2]]);
    expect(await mill.store.evidenceByHash(all[0]!.hash)).toEqual(all[0]);
    expect(await mill.store.workers(PROJECT)).toHaveLength(1);
    await mill.must({ type: 'worker.remove', projectId: PROJECT, workerId: `${PROJECT}/w1` });
    expect(await mill.store.workers(PROJECT)).toEqual([]);
    expect(await compareLogWithProjection(mill.store)).toEqual([]);
  });
});

function receipt(tree: string): Receipt {
  const counts = { passed: 1, failed: 0, skipped: 0 };
  const about = { gate: 'test', command: 'true', tree, status: 'pass', exitCode: 0, durationMs: 1 };
  return Receipt.parse({ ...about, counts, logHash: 'l' });
}
