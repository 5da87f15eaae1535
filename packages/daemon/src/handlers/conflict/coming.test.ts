import type { Api, Task } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

let bed: DaemonBed;
let api: Api;
let project: string;
beforeEach(async () => {
  bed = await DaemonBed.open();
  ({ api, project } = bed);
});
afterEach(() => bed.close());

/** Two tasks whose changes conflict. The first one is larger. Both are to be built again. */
async function collide(): Promise<Task[]> {
  const commit = bed.repository.git('rev-parse', 'HEAD');
  const made: Task[] = [];
  for (const title of ['Raise the wall', 'Lower the floor']) {
    await api.addTask({ project, title, pipeline: 'quick' });
    const task = await bed.claim(`agent-${made.length}`, 'builder');
    await bed.build(task, commit, [{ status: 'fail', exitCode: 1 }]);
    made.push(task);
  }
  const [a, b] = made;
  await bed.must({
    ...{ type: 'forecast.record', projectId: project, taskId: a!.id, commit, size: { files: 2, lines: 90 } },
    compared: [
      { taskId: b!.id, commit, files: ['a.txt', 'b.txt', 'c.txt', 'd.txt'], size: { files: 1, lines: 3 } },
      { taskId: null, commit, files: ['a.txt'], size: null },
    ],
  });
  for (const { number } of made) await api.retryTask({ project, task: number, by: 'ada', stage: 'implement' });
  return made;
}

test('both tasks show a coming conflict, and the list has it once, at the task that will be reworked', async () => {
  await collide();
  const files = { files: ['a.txt', 'b.txt', 'c.txt', 'd.txt'], fileCount: 4 };
  const [first, second] = [await api.task({ project, task: 1 }), await api.task({ project, task: 2 })];
  const other = { number: 2, title: 'Lower the floor', stage: 'implement', landsFirst: true, holds: false };
  expect(first.coming).toMatchObject([
    { ...files, ...other },
    { number: null, title: null, files: ['a.txt'], landsFirst: false },
  ]);
  expect(second.coming).toMatchObject([{ ...files, number: 1, title: 'Raise the wall', landsFirst: false }]);
  expect((await api.tasks({ project })).map(({ conflictsWith }) => conflictsWith)).toEqual([[2, null], [1]]);
  expect(await api.comingConflicts({ project })).toMatchObject([
    { task: { number: 2, title: 'Lower the floor' }, with: { number: 1, title: 'Raise the wall', ...files } },
    { task: { number: 1 }, with: { number: null } },
  ]);
});

test('a task that waits because of a coming conflict says for which task', async () => {
  await collide();
  expect((await bed.claim('agent-5', 'builder')).number).toBe(1);
  expect((await api.task({ project, task: 2 })).coming).toMatchObject([{ number: 1, holds: true }]);
  expect((await api.task({ project, task: 1 })).coming[0]).toMatchObject({ number: 2, holds: false });
});
