import type { Api, AppError } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

let bed: DaemonBed;
let api: Api;
let project: string;
beforeAll(async () => {
  bed = await DaemonBed.open();
  ({ api, project } = bed);
  for (const title of ['One', 'Two', 'Three']) await api.addTask({ project, title });
  for (const [name, role] of [
    ['agent-1', 'builder'],
    ['review-agent', 'reviewer'],
  ] as const)
    await bed.must({ type: 'worker.register', projectId: project, workerId: `${project}/${name}`, name, role });
});
afterAll(() => bed.close());

const refused = (asked: Promise<unknown>) =>
  asked.then(
    () => 'accepted',
    (error: AppError) => `${error.code}: ${error.message} ${error.hint}`,
  );
const start = (task: number, worker: string | null = null) =>
  api.startTask({ project, task: String(task), worker, by: 'ada' });

test('a started task is the next one that is claimed, and starting it again changes nothing', async () => {
  expect(await start(3)).toMatchObject({ number: 3, priority: 0 });
  const seq = await bed.store.lastSeq();
  await start(3);
  expect(await bed.store.lastSeq()).toBe(seq);
  expect((await bed.claim('agent-2', 'builder')).number).toBe(3);
  expect(await start(3)).toMatchObject({ worker: 'agent-2' });
});

test('a task that is started for a worker is only for that one, unless another has it', async () => {
  await start(2, 'agent-1');
  expect((await bed.claim('agent-3', 'builder')).number).toBe(1);
  expect((await bed.claim('agent-1', 'builder')).number).toBe(2);
  expect(await refused(start(3, 'agent-1'))).toMatch(/conflict: agent-2 works on #3 .*workers reassign 3 agent-1/);
});

test('a task that cannot be started is refused with what to do', async () => {
  expect(await refused(start(99))).toMatch(/^not_found/);
  expect(await refused(start(1, 'agent-9'))).toMatch(/^not_found/);
  expect(await refused(start(1, 'review-agent'))).toMatch(/^bad_input: review-agent does not build/);
  const { number } = await api.addTask({ project, title: 'Four' });
  await api.cancelTask({ project, task: String(number), by: 'ada' });
  expect(await refused(start(number))).toMatch(/wrong_stage: #4 is cancelled .*task retry 4/);
});
