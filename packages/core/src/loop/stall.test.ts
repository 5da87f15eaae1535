import { describe, expect, test } from 'vitest';
import { diagnoseStall, isStalled, isWorking, STALL_MS, type StallSight } from './stall.ts';

const nothing: StallSight = {
  ...{ waitingProposals: 0, uncheckedProposals: 0, job: 'none', tasks: [], workers: [] },
  ...{ isOverBudget: false, heldUntil: null, restingModes: [] },
};
const task = (number: number, fields: object = {}) => ({
  number,
  stage: 'plan',
  worker: null,
  waitsFor: '',
  ...fields,
});
const said = (fields: Partial<StallSight>) => diagnoseStall({ ...nothing, ...fields });

describe('a loop is stalled', () => {
  test.each<[string, Partial<StallSight>]>([
    ['a proposal', { waitingProposals: 1 }],
    ['a proposal that is not checked', { uncheckedProposals: 1 }],
    ['a task', { tasks: [task(1)] }],
    ['a search that waits', { job: 'waits' }],
  ])('when nothing moves for an hour and there is %s', (_what, fields) => {
    expect(isStalled(STALL_MS, STALL_MS, { ...nothing, ...fields })).toBe(true);
    expect(isStalled(STALL_MS, STALL_MS - 1, { ...nothing, ...fields })).toBe(false);
  });

  test('after four hours when somebody works, and never when there is nothing to do', () => {
    const busy: StallSight = { ...nothing, tasks: [task(1, { worker: 'agent-1' })] };
    expect(isStalled(4 * STALL_MS - 1, 0, busy)).toBe(false);
    expect(isStalled(4 * STALL_MS, 0, busy)).toBe(true);
    expect(isStalled(9 * STALL_MS, 9 * STALL_MS, nothing)).toBe(false);
  });

  test('somebody works when a worker has a task, or the search runs', () => {
    expect(isWorking({ ...nothing, tasks: [task(1), task(2, { worker: 'agent-1' })] })).toBe(true);
    expect(isWorking({ ...nothing, job: 'runs' })).toBe(true);
    expect(isWorking({ ...nothing, job: 'waits', tasks: [task(1)] })).toBe(false);
  });
});

describe('what a stalled loop waits for', () => {
  test.each<[string, Partial<StallSight>, string]>([
    ['the budget', { isOverBudget: true }, 'The budget is spent.'],
    ['its own budget', { heldUntil: 0 }, "The loop's budget of a day is spent until 1970-01-01T00:00:00.000Z"],
    ['an agent', { restingModes: ['plan', 'review'] }, 'The agent of plan, review is in backoff.'],
    ['workers', { workers: [{ name: 'a', isRunning: false }] }, 'No worker runs: a must be resumed.'],
    ['a yes', { waitingProposals: 1 }, '1 proposal waits for a yes'],
    ['several', { waitingProposals: 2 }, '2 proposals wait for a yes'],
    ['a check', { uncheckedProposals: 2 }, '2 proposals could not be checked.'],
    ['a free worker', { job: 'waits' }, 'The search for an improvement waits for a free worker.'],
    ['the search', { job: 'runs' }, 'The search for an improvement has not ended.'],
    ['a worker of a task', { tasks: [task(1, { worker: 'a' })] }, '#1 is in plan: a works on it and has not finished.'],
    ['a question', { tasks: [task(1, { waitsFor: 'an answer' })] }, '#1 is in plan: an answer.'],
    ['a worker for a task', { tasks: [task(1)] }, '#1 is in plan: it waits for a worker.'],
    ['nothing', {}, 'Nothing names a reason.'],
  ])('is said: %s', (_what, fields, text) => {
    expect(said(fields)).toEqual([expect.stringContaining(text)]);
  });

  test('names five tasks, and counts the others; a running worker is no reason', () => {
    const tasks = [1, 2, 3, 4, 5, 6, 7].map((number) => task(number));
    expect(said({ tasks, workers: [{ name: 'a', isRunning: true }] })).toEqual([
      ...[1, 2, 3, 4, 5].map((number) => `#${number} is in plan: it waits for a worker.`),
      '2 more tasks wait.',
    ]);
    expect(said({ tasks: tasks.slice(0, 5) })).toHaveLength(5);
  });
});
