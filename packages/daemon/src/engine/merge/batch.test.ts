import type { Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { expect, test } from 'vitest';
import type { Clock } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { LeasedTask } from '../workers/leased-work.ts';
import { Batch } from './batch.ts';

const clock = { now: () => 0, sleep: () => new Promise<void>(() => undefined) } as unknown as Clock;
const leased = (number: number) =>
  ({ ...{ id: `task_${number}`, projectId: 'p', number }, lease: { workerId: 'merger', token: 1 } }) as unknown as Task;

test('a batch that a task has left takes no other in its place, until its stage starts again', async () => {
  const claims: Command[] = [];
  const store = {
    execute: async (command: Command) => {
      claims.push(command);
      return { ok: true, task: leased(claims.length + 1) };
    },
  };
  const deps = { store, clock, project: { id: 'p' }, owner: 'daemon', batch: 3 } as unknown as EngineDeps;
  const head = new LeasedTask(leased(1), 'merger', deps.store, clock);
  const batch = new Batch(deps, head);
  const numbers = () => batch.members.map(({ task }) => task.number);
  await batch.fill();
  expect(numbers()).toEqual([1, 2, 3]);
  batch.drop(batch.members[1]!);
  await batch.fill();
  expect(numbers()).toEqual([1, 3]);
  expect(claims).toHaveLength(2);
});
