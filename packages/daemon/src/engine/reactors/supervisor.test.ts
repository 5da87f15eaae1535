import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';

const projectId = 'project_1';
const MINUTE = 60_000;

let bed: EngineBed;
let isBroken: boolean;

beforeEach(async () => {
  isBroken = false;
  bed = await EngineBed.open({}, ({ store }) => ({
    store: {
      ...store,
      runsEnded: (query) => (isBroken ? Promise.reject(new Error('the database is away')) : store.runsEnded(query)),
    },
  }));
});
afterEach(() => bed.close());

describe('the supervisor', { timeout: 60_000 }, () => {
  it('watches a silent task, asks about it, then interrupts it; the work continues', async () => {
    await bed.add(1);
    await bed.start();
    await bed.pass(12 * MINUTE);
    expect(await bed.decided()).toEqual(['watch #1']);
    await bed.pass(10 * MINUTE);
    const [question] = await bed.store.records({ noun: 'question', projectId, isOpen: true });
    expect(question).toMatchObject({ taskId: 'task_1', agent: 'supervisor', effect: { kind: 'stuck' } });
    await bed.pass(11 * MINUTE);
    expect(await bed.decided()).toEqual(['watch #1', 'ask #1', 'interrupt #1']);
    const runs = await bed.store.runs('task_1');
    expect(runs.map(({ status, outcome }) => outcome ?? status)).toEqual(['interrupted', 'running']);
  });

  it('acts on the answer about a stuck task', async () => {
    await bed.add(1);
    await bed.start();
    await bed.pass(22 * MINUTE);
    const [question] = await bed.store.records({ noun: 'question', projectId, isOpen: true });
    const about = {
      projectId,
      taskId: 'task_1',
      questionId: question!.id,
      by: personActor('ada'),
      source: 'user' as const,
    };
    await bed.must({ type: 'question.answer', ...about, text: 'Skip' });
    await bed.pass(MINUTE);
    expect(await bed.store.task('task_1')).toMatchObject({
      stage: 'blocked',
      blocked: { reason: 'skipped' },
      lease: null,
    });
  });

  it('gives files to more urgent work and refuses the rest, each once and with its reason', async () => {
    await bed.add(1, { files: ['src/**'], priority: 3 });
    await bed.start();
    await bed.pass(2 * MINUTE);
    await bed.add(2, { files: ['src/a.ts'], priority: 3 });
    await bed.pass(5 * MINUTE);
    expect(await bed.decided()).toEqual(['deny #2']);
    await bed.add(3, { files: ['src/a.ts'], priority: 0 });
    await bed.pass(2 * MINUTE);
    expect(await bed.decided()).toContain('preempt #3');
    expect((await bed.store.task('task_3'))?.lease).not.toBeNull();
    expect((await bed.store.runs('task_1')).at(0)?.outcome).toBe('interrupted');
  });

  it('a failed check is noted and skipped; no worker stops for it', async () => {
    await bed.add(1);
    await bed.start();
    isBroken = true;
    await bed.pass(3 * MINUTE);
    expect(bed.notes.filter((note) => note.startsWith('supervision: its tick failed')).length).toBeGreaterThanOrEqual(
      2,
    );
    expect((await bed.store.task('task_1'))?.lease).not.toBeNull();
    isBroken = false;
    await bed.pass(12 * MINUTE);
    expect(await bed.decided()).toEqual(['watch #1']);
  });

  it('writes nothing but heartbeats while there is nothing to do for a day', async () => {
    await bed.start();
    await bed.pass(MINUTE);
    const before = await bed.store.lastSeq();
    await bed.pass(24 * 60 * MINUTE);
    const written = await bed.store.events({ after: before, limit: 100_000 });
    expect(new Set(written.map(({ body }) => body.type))).toEqual(new Set(['worker.beat']));
  });
});
