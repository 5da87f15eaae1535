import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OutsideBed, READY } from '../support/outside-bed.ts';

const MINUTE = 60_000;
const bed = new OutsideBed();
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

describe('a worker outside the daemon', () => {
  test('claims, works in the worktree, sends heartbeats and hands in; its work is proven and lands', {
    timeout: 3 * MINUTE,
  }, async () => {
    await bed.api.addTask({ project: bed.project, title: 'A bell', body: 'It must ring.', accept: ['it rings'] });
    const work = await bed.claimed();
    expect(work).toMatchObject({ number: 1, stage: 'implement', mode: 'implement', fence: 1 });
    expect(work.prompt).toContain('It must ring.');
    expect(await bed.api.claims({ project: bed.project })).toMatchObject([
      { number: 1, title: 'A bell', stage: 'implement', worker: 'alpha', isOutside: true, expiresAt: work.expiresAt },
    ]);
    expect(await bed.claim()).toEqual({ ...work, expiresAt: expect.any(Number) });
    expect(await bed.claim('beta')).toBeNull();

    bed.write(work, 'bell.txt');
    const beat = await bed.api.beatClaim({
      project: bed.project,
      task: 1,
      fence: work.fence,
      percent: 40,
      text: 'half cast',
    });
    expect(beat.expiresAt).toBeGreaterThanOrEqual(work.expiresAt);
    expect(await bed.viewOf('alpha')).toMatchObject({
      role: 'builder',
      isOutside: true,
      status: 'working',
      health: 'healthy',
      task: { number: 1 },
      mode: 'implement',
      progress: { percent: 40, text: 'half cast' },
    });

    const before = await bed.taskOf(1);
    await expect(bed.finish(work, { outcome: 'plan_complete', plan: 'p' })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('pr_ready'),
    });
    await expect(bed.finish(work, { outcome: 'needs_info' })).rejects.toMatchObject({ code: 'bad_input' });
    await expect(
      bed.api.finishClaim({ project: bed.project, task: 1, fence: 1, result: { outcome: 'done' } as never }),
    ).rejects.toMatchObject({ code: 'bad_input' });
    expect(await bed.taskOf(1)).toEqual(before);
    await expect(bed.finish({ ...work, fence: 9 }, READY)).rejects.toMatchObject({ code: 'stale_lease' });

    const usage = { inputTokens: 10, outputTokens: 5, requests: 1 };
    const after = await bed.api.finishClaim({
      project: bed.project,
      task: 1,
      fence: work.fence,
      result: { ...READY },
      usage,
    });
    expect(after).toMatchObject({ number: 1, stage: 'verify', worker: null });
    await expect(bed.finish(work, READY)).rejects.toMatchObject({
      code: 'stale_lease',
      hint: expect.stringContaining('kept'),
    });
    await expect(bed.api.beatClaim({ project: bed.project, task: 1, fence: work.fence })).rejects.toMatchObject({
      code: 'stale_lease',
    });
    await bed.machine.event('merge.landed');
    const { task, runs } = await bed.taskOf(1);
    expect(task.stage).toBe('done');
    // A request without a reported price is not free.
    expect(runs).toMatchObject([
      { agent: 'outside alpha', outcome: 'pr_ready', reservedUsd: expect.any(Number), usage: { costUsd: 0.5 } },
    ]);
    expect(bed.repository.git('show', 'main:bell.txt')).toBe('bell.txt');
    const receipts = await bed.api.evidence({ project: bed.project, task: 1 });
    expect(receipts.map(({ gate, status }) => [gate, status])).toContainEqual(['test', 'pass']);
    expect(await bed.viewOf('alpha')).toMatchObject({ status: 'idle', task: null, tasksCompleted: 1 });
  });

  test('survives the end and the next start of the daemon', { timeout: 3 * MINUTE }, async () => {
    const { id } = await bed.api.addTask({ project: bed.project, title: 'One' });
    const work = await bed.claimed();
    bed.write(work, 'one.txt');
    bed.daemon.child.kill('SIGKILL');
    await bed.daemon.ended;
    await bed.start();
    expect(readFileSync(join(work.worktree, 'one.txt'), 'utf8')).toBe('one.txt\n');
    await bed.api.beatClaim({ project: bed.project, task: work.number, fence: work.fence });
    await bed.machine.run(['stop'], bed.repository.root);
    await bed.daemon.ended;
    await bed.start();
    expect(await bed.api.claims({ project: bed.project })).toMatchObject([
      { number: work.number, worker: 'alpha', isOutside: true },
    ]);
    expect(await bed.claim()).toMatchObject({ fence: work.fence, runId: work.runId });
    await bed.finish(work, READY);
    await bed.machine.event('task.moved', (body) => body.taskId === id && body.to === 'done');
    expect(bed.repository.git('show', 'main:one.txt')).toBe('one.txt');
    expect((await bed.taskOf(work.number)).runs).toHaveLength(1);
    expect((await bed.events('lease.released')).map(({ body }) => 'why' in body && body.why)).not.toContain(
      'its daemon died',
    );
  });
});
