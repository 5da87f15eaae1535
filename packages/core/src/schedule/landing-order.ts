import type { Task } from '@tidemill/contract';
import { isLarger } from '../forecast/larger.ts';

type Waiting = Pick<Task, 'id' | 'number' | 'priority' | 'forecast'>;

/**
 * The order in which waiting tasks land: as they are given, but of two that will conflict the larger comes first, so
 * that the smaller one is reworked. Urgency is kept: a task waits only for one of the same priority.
 */
export function landingOrder<T extends Waiting>(waiting: readonly T[]): T[] {
  const left = [...waiting];
  const order: T[] = [];
  while (left.length > 0) {
    const next = left.findIndex((task) => !left.some((other) => landsBefore(other, task)));
    // Sizes that were recorded at different times may contradict each other.
    order.push(...left.splice(Math.max(0, next), 1));
  }
  return order;
}

function landsBefore(other: Waiting, task: Waiting): boolean {
  const coming = task.forecast.find(({ taskId }) => taskId === other.id);
  if (!coming?.otherSize || other.priority !== task.priority) return false;
  return isLarger({ number: other.number, size: coming.otherSize }, { number: task.number, size: coming.size });
}
