import type { Task } from '@tidemill/contract';

/** Could a worker of `task.role` claim it, apart from backoff? A store indexes only these rows. */
export function isReady(task: Task): boolean {
  return task.role !== null && task.unmet === 0 && task.lease === null && task.openQuestions.length === 0;
}

/**
 * Claiming order within a role: priority, rework before new, then age. A review's age counts from the end of its build,
 * any other task's from its creation. A store's index sorts by these four, ascending.
 */
export function claimOrder(task: Task): [priority: number, rework: number, builtAt: number, number: number] {
  return [task.priority, task.rework ? 0 : 1, task.role === 'reviewer' ? task.stageSince : 0, task.number];
}
