import { afterEach, expect, it } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { MINUTE } from '../../../../../test/support/merge-bed.ts';
import type { Preparation, Prepared } from '../../ports.ts';

let bed: EngineBed;
afterEach(() => bed.close());

it('a preparation that the environment breaks raises one alert, which ends when it works again', async () => {
  let prepared: Prepared = { kind: 'failed', text: 'the registry does not answer', isEnvironment: true };
  const preparation: Preparation = {
    worktree: async () => ({ kind: 'ready' }),
    checkout: async () => prepared,
    checks: [],
    reads: async () => new Set(),
    running: [],
    tidy: async () => undefined,
    settled: async () => undefined,
  };
  bed = await EngineBed.open({}, (of) => ({ preparation, agentFor: () => quickAgent(() => of.repository) }));
  await bed.start();
  await bed.add(1);
  await bed.pass(10 * MINUTE);
  expect(await bed.alerts()).toEqual(['error environment prepare']);
  prepared = { kind: 'ready' };
  await bed.pass(10 * MINUTE);
  expect(await bed.alerts()).toEqual([]);
  expect(await bed.store.task('task_1')).toMatchObject({ stage: 'done' });
  // It is no failure of the task: its agent ran once.
  expect(await bed.store.runs('task_1')).toHaveLength(1);
});
