import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { comingText } from './words.ts';

const projectId = 'project_1';
const by = personActor('ada');
const SMALL = { files: 1, lines: 2 };
const LARGE = { files: 3, lines: 90 };

/** Two tasks with a change each, waiting to be built again. */
function pair() {
  const mill = new Mill({ defaultPipeline: 'quick' });
  const [a, b] = [mill.add(), mill.add()];
  for (const id of [a, b]) mill.build(id, `tree of ${id}`, 'fail');
  for (const id of [a, b]) mill.end(id, 'failed', { failure: 'validation', message: 'red' });
  const head = (id: string) => mill.task(id).head!.commit;
  const record = (files: string[], from = a, to = b) =>
    mill.must({
      ...{ type: 'forecast.record', projectId, taskId: from, commit: head(from), size: SMALL },
      compared: [{ taskId: to, commit: head(to), files, size: LARGE }],
    });
  const entries = () => [a, b].map((id) => mill.task(id).forecast.map(({ number, files }) => [number, files]));
  const claims = (workerId: string) => {
    const number = mill.offered(workerId);
    mill.claim(workerId);
    return number;
  };
  return { mill, a, b, head, record, entries, claims };
}

describe('a coming conflict', () => {
  test('is in the rows of both tasks, with both sizes and the time it was first seen', () => {
    const { mill, a, b, record } = pair();
    mill.now = 5_000;
    expect(typesOf(record(['x.ts', 'y.ts']))).toEqual(['forecast.found', 'forecast.found']);
    mill.now = 9_000;
    record(['x.ts']);
    const files = { files: ['x.ts'], fileCount: 1, since: 5_000 };
    expect(mill.task(a).forecast).toEqual([{ taskId: b, number: 2, ...files, size: SMALL, otherSize: LARGE }]);
    expect(mill.task(b).forecast).toEqual([{ taskId: a, number: 1, ...files, size: LARGE, otherSize: SMALL }]);
  });

  test('is recorded once, from whichever side it is seen', () => {
    const { mill, a, b, head, record, entries } = pair();
    record(['x.ts']);
    expect(record(['x.ts'])).toEqual([]);
    const compared = [{ taskId: a, commit: head(a), files: ['x.ts'], size: SMALL }];
    expect(
      mill.must({ type: 'forecast.record', projectId, taskId: b, commit: head(b), size: LARGE, compared }),
    ).toEqual([]);
    expect(entries()).toEqual([[[2, ['x.ts']]], [[1, ['x.ts']]]]);
  });

  test('is removed from both when the changes merge again', () => {
    const { record, entries } = pair();
    record(['x.ts']);
    expect(typesOf(record([]))).toEqual(['forecast.cleared', 'forecast.cleared']);
    expect(entries()).toEqual([[], []]);
    expect(record([])).toEqual([]);
  });

  test('is not changed by a result about a commit that is no longer the newest', () => {
    const { mill, a, b, head, entries } = pair();
    const compared = [{ taskId: b, commit: head(b), files: ['x.ts'], size: LARGE }];
    const command = { type: 'forecast.record', projectId, taskId: a, size: SMALL } as const;
    expect(mill.must({ ...command, commit: 'older', compared })).toEqual([]);
    expect(mill.must({ ...command, commit: head(a), compared: [{ ...compared[0]!, commit: 'older' }] })).toEqual([]);
    expect(entries()).toEqual([[], []]);
  });

  test('ends with either task: a comparison without a commit clears the other row', () => {
    const { mill, a, b, head, record } = pair();
    record(['x.ts']);
    mill.must({ type: 'task.cancel', projectId, taskId: b, by });
    expect(mill.task(b).forecast).toEqual([]);
    const gone = { taskId: b, commit: null, files: [], size: null };
    const command = { type: 'forecast.record', projectId, taskId: a, commit: head(a), size: null } as const;
    expect(typesOf(mill.must({ ...command, compared: [gone] }))).toEqual(['forecast.cleared']);
    expect(mill.task(a).forecast).toEqual([]);
  });

  test('with a live task is not removed without a comparison', () => {
    const { mill, a, b, head, record, entries } = pair();
    record(['x.ts']);
    const unknown = { taskId: b, commit: null, files: [], size: null };
    mill.must({ type: 'forecast.record', projectId, taskId: a, commit: head(a), size: null, compared: [unknown] });
    expect(entries()).toEqual([[[2, ['x.ts']]], [[1, ['x.ts']]]]);
  });

  test('with the target is in one row only', () => {
    const { mill, a, head, entries } = pair();
    const command = { type: 'forecast.record', projectId, taskId: a, commit: head(a), size: SMALL } as const;
    const target = { taskId: null, commit: 'target', files: ['x.ts'], size: null };
    expect(typesOf(mill.must({ ...command, compared: [target] }))).toEqual(['forecast.found']);
    expect(entries()).toEqual([[[null, ['x.ts']]], []]);
    expect(typesOf(mill.must({ ...command, compared: [{ ...target, files: [] }] }))).toEqual(['forecast.cleared']);
  });

  test('names at most twenty files, and counts them all', () => {
    const { mill, a, record } = pair();
    record(Array.from({ length: 50 }, (_, at) => `${at}.ts`));
    expect(mill.task(a).forecast[0]).toMatchObject({ fileCount: 50, files: expect.objectContaining({ length: 20 }) });
  });
});

describe('tasks that will conflict', () => {
  test('are not built at the same time, although neither declared files', () => {
    const { mill, record, claims } = pair();
    record(['x.ts']);
    expect(claims('agent-1')).toBe(1);
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    mill.must({ type: 'lease.release', projectId, subjectId: 'task_1', token: mill.task('task_1').fence, why: 'done' });
    expect(mill.offered('agent-2')).toBe(1);
  });

  test('let an unrelated third task go first', () => {
    const { mill, record, claims } = pair();
    mill.add();
    record(['x.ts']);
    expect([claims('agent-1'), claims('agent-2')]).toEqual([1, 3]);
  });

  test('do not hold back the more urgent of them', () => {
    const { mill, b, record } = pair();
    record(['x.ts']);
    mill.claim('agent-1');
    mill.must({ type: 'task.edit', projectId, taskId: b, by, priority: 0 });
    expect(mill.offered('agent-2')).toBe(2);
  });

  test('do not wait for the review or the landing of each other', () => {
    const { mill, a, b, record } = pair();
    record(['x.ts']);
    mill.bring(a, 'merge');
    mill.take(a);
    expect(mill.task(a).forecast).toHaveLength(1);
    expect(mill.offered('agent-1')).toBe(mill.task(b).number);
  });

  test('do not land in one batch: the larger one comes first, and others join it', () => {
    const { mill, a, b, record } = pair();
    const c = mill.add();
    for (const id of [a, b, c]) mill.bring(id, 'merge');
    record(['x.ts']);
    const claim = () => {
      const command = { type: 'work.claim', projectId, workerId: 'merger', role: 'merger' } as const;
      const decision = mill.execute({ ...command, owner: 'daemon-1', window: 64, batch: 5 });
      const claimed = decision.ok && decision.events.find(({ type }) => type === 'lease.claimed');
      return claimed && claimed.type === 'lease.claimed' ? claimed.subjectId : null;
    };
    expect([claim(), claim(), claim()]).toEqual([b, c, null]);
  });

  test('wait at most half an hour for one run, and at most an hour for all', () => {
    const { mill, record } = pair();
    record(['x.ts']);
    mill.claim('agent-1');
    mill.now += 29 * 60_000;
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    mill.now += 60_000;
    expect(mill.offered('agent-2')).toBe(2);
    // The other one is built again and again.
    const fence = () => ({ projectId, subjectId: 'task_1', token: mill.task('task_1').fence });
    mill.must({ type: 'lease.release', ...fence(), why: 'again' });
    mill.claim('agent-1');
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    mill.now += 29 * 60_000;
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    mill.must({ type: 'lease.release', ...fence(), why: 'again' });
    mill.now += 60_000;
    mill.claim('agent-1');
    expect(mill.offered('agent-2')).toBe(2);
  });
});

test('an agent is told ten files of a coming conflict by name, and how many more there are', () => {
  const files = Array.from({ length: 11 }, (_, n) => `f${n}.ts`);
  const text = comingText([{ number: 4, title: 'Sort', files, fileCount: 12 }], 'main');
  expect(text).toContain('- #4 "Sort" changes the same lines: "f0.ts", "f1.ts"');
  expect(text).toContain('"f9.ts" and 2 more\n');
});
