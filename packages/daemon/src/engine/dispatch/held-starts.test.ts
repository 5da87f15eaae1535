import { personActor, type Task } from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { Prepared } from '../../ports.ts';
import type { EngineDeps, StartRules } from '../deps.ts';

const MINUTE = 60_000;
const STARTS: StartRules = { untested: null, isTestless: false, waiting: null };
const projectId = 'project_1';

let bed: EngineBed;
afterEach(() => bed.close());

/** Nine tasks, two builders, and agents that do what they are asked at once. */
async function open(change: Partial<EngineDeps> = {}, rules = {}): Promise<void> {
  bed = await EngineBed.open(rules, (of) => ({
    starts: STARTS,
    agentFor: () => quickAgent(() => of.repository),
    ...change,
  }));
  for (let number = 1; number <= 9; number += 1) await bed.add(number, { accept: ['It is done'] });
}
const runs = async () => (await bed.log('run.started')).length;
const texts = async () => (await bed.engine.holds()).texts.join();
const inStage = async (stage: string): Promise<Task[]> => bed.store.tasks({ projectId, stages: [stage] });

test('no agent starts before the gates have passed on the target', async () => {
  await open();
  await bed.start();
  expect(await bed.engine.holds()).toMatchObject({ isChecking: true, isNew: true });
  expect(await texts()).toBe('The gates run on main before the first task starts.');
  expect(await runs()).toBe(0);
  await bed.pass(30 * MINUTE);
  expect(await texts()).toBe('');
  expect(await inStage('done')).toHaveLength(9);
});

test('while the target fails, nine tasks wait, a repair task does not, and a repaired target lets them start', async () => {
  await open();
  bed.repository.commitByPerson('a', 'bug');
  await bed.start();
  await bed.pass(30 * MINUTE);
  expect(await runs()).toBe(0);
  expect(await texts()).toMatch(/^main itself fails test, so no new task starts\./);
  expect(await bed.alerts()).toContain('error baseline_red test');
  expect((await bed.engine.holds()).isChecking).toBe(false);
  await bed.add(10, { repairs: ['test'] });
  await bed.pass(MINUTE);
  expect((await bed.log('run.started')).map(({ body }) => 'subjectId' in body && body.subjectId)).toContain('task_10');
  bed.repository.commitByPerson('a', 'fine');
  await bed.pass(60 * MINUTE);
  expect(await texts()).toBe('');
  expect(await inStage('open')).toEqual([]);
});

test('a target that cannot be prepared holds new tasks with one alert, and is tried again', async () => {
  let prepared: Prepared = { kind: 'failed', text: 'npm ci: no network\nmore', isEnvironment: true };
  const ready = async (): Promise<Prepared> => prepared;
  await open({
    preparation: {
      checks: [],
      running: [],
      reads: async () => new Set<string>(),
      worktree: ready,
      checkout: ready,
      settled: async () => undefined,
      tidy: async () => undefined,
    },
  });
  await bed.start();
  await bed.pass(20 * MINUTE);
  expect(await runs()).toBe(0);
  expect(await texts()).toBe('main could not be checked, so no new task starts: npm ci: no network');
  expect((await bed.alerts()).filter((alert) => alert.includes('environment'))).toHaveLength(1);
  prepared = { kind: 'ready' };
  await bed.pass(30 * MINUTE);
  expect(await texts()).toBe('');
  expect(await inStage('done')).toHaveLength(9);
});

test('without a gate that tests anything, no task starts', async () => {
  await open({ starts: { ...STARTS, untested: 'no gate tests a change' } });
  await bed.start();
  await bed.pass(10 * MINUTE);
  expect(await runs()).toBe(0);
  expect(await texts()).toBe('No gate tests a change.');
});

test('at most two results for each worker wait for a person, and an approval lets the next one be made', async () => {
  await open({}, { defaultPipeline: 'feature', reviewPlans: true });
  await bed.start();
  await bed.pass(30 * MINUTE);
  expect(await inStage('plan_review')).toHaveLength(4);
  expect(await texts()).toBe(
    '4 tasks wait for you in plan_review, so nothing more is made for it. The limit is 4 (limits.waiting).',
  );
  const [first] = await inStage('plan_review');
  await bed.must({ type: 'task.approve', projectId, taskId: first!.id, by: personActor('ada') });
  await bed.pass(30 * MINUTE);
  expect(await inStage('plan_review')).toHaveLength(4);
  expect((await inStage('open')).length).toBe(4);
});

test('limits.waiting sets how many results wait for a person', async () => {
  await open({ starts: { ...STARTS, waiting: 1 } }, { defaultPipeline: 'feature', reviewPlans: true });
  await bed.start();
  await bed.pass(30 * MINUTE);
  expect(await inStage('plan_review')).toHaveLength(1);
  expect(await texts()).toContain('1 task waits for you in plan_review');
});
