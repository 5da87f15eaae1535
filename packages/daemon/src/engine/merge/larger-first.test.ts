import type { Task } from '@tidemill/contract';
import { expect, test } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { waitForLarger } from './larger-first.ts';

const size = (lines: number) => ({ files: 1, lines });
const OBSTACLE = 'the checkout has changes';
const task = (number: number, more: object): Task =>
  ({
    ...{ id: `task_${number}`, projectId: 'p', number, priority: 2, conflicts: null, notBefore: 0, unmet: 0 },
    ...{ role: 'merger', lease: null, openQuestions: [], waiting: OBSTACLE, forecast: [], ...more },
  }) as unknown as Task;

async function waits(other: object): Promise<unknown[]> {
  const told: unknown[] = [];
  const forecast = [{ taskId: 'task_2', size: size(1), otherSize: size(90) }];
  const leased = { task: task(1, { forecast }), must: async (command: unknown) => void told.push(command) };
  const deps = { store: { tasks: async () => [task(2, other)] }, clock: { now: () => 0 } };
  expect(await waitForLarger(deps as unknown as EngineDeps, leased as unknown as LeasedTask)).toBe(told.length > 0);
  return told;
}

test('a smaller task waits for a larger one that waited for the same obstacle, and for no other', async () => {
  const why = '#2 is larger and will conflict with it, so it lands first';
  expect(await waits({ notBefore: 500 })).toEqual([{ type: 'stage.wait', why, untilMs: 501, isPassing: true }]);
  expect(await waits({ waiting: null })).toEqual([]);
  expect(await waits({ waiting: 'a person pushed' })).toEqual([]);
  expect(await waits({ role: 'reviewer' })).toEqual([]);
});
