import type { Task } from '@tidemill/contract';
import { isLarger } from '../forecast/larger.ts';

type Waiting = Pick<Task, 'id' | 'number' | 'priority' | 'forecast' | 'conflicts'>;

/**
 * The order in which waiting tasks land: as they are given, but of two that will conflict the one that came back from a
 * conflict comes first, the one with more overtaken resolutions before others, and else the larger one, so that the
 * smaller one is reworked. Urgency is kept: a task waits only for one of the same priority. A task waits only for those
 * that it would conflict with, and each of them lands or leaves the queue, so nobody waits for ever.
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
  const [theirs, own] = [comeBacks(other), comeBacks(task)];
  if (theirs !== own) return theirs > own;
  return isLarger({ number: other.number, size: coming.otherSize }, { number: task.number, size: coming.size });
}

/** How often it came back to the merge queue from a conflict. */
const comeBacks = ({ conflicts }: Pick<Task, 'conflicts'>): number => (conflicts ? conflicts.resolved + 1 : 0);

/** How long landings wait for one task, since its last conflict, and how long one landing waits in all. */
const LONGEST_HOLD_MS = 30 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Would landing this task now overtake another one again, whose resolved conflict was overtaken before and whose agent
 * resolves it once more? Then that one lands first. The wait has a limit, nobody waits for less urgent work, and of two
 * such tasks only one waits. A task with almost as many overtaken resolutions lands: waiting would waste its own.
 */
export function wouldOvertake(task: Task, others: readonly Task[], now: number): Task | undefined {
  if (now - task.stageSince >= LONGEST_WAIT_MS) return undefined;
  return others.find(
    (other) =>
      other.id !== task.id &&
      other.priority <= task.priority &&
      isOnItsWay(other) &&
      comeBacks(other) > comeBacks(task) + 1 &&
      now - other.conflicts!.at < LONGEST_HOLD_MS &&
      task.forecast.some(({ taskId }) => taskId === other.id),
  );
}

/** An agent or the gates have it, or take it next. Waiting for a person, or for a backoff, does not count. */
const isOnItsWay = ({ role, stage, openQuestions, waiting }: Task): boolean =>
  role !== null && stage !== 'open' && openQuestions.length === 0 && waiting === null;
