import type { Task } from '@tidemill/contract';
import { decideLock } from './file-lock.ts';
import { isReady } from './ready.ts';

/** A bounded snapshot: candidates in claiming order, and the running tasks that have a file scope. */
interface Candidates {
  window: Task[];
  running: Task[];
  workerId: string;
  now: number;
  /** Whether the agent a task would be given to rests. */
  isResting?(task: Task): boolean;
}

/** The first candidate this worker may take: ready, out of its backoff, touching no file of running work, not its own to review. */
export function pick({ window, running, workerId, now, isResting }: Candidates): Task | undefined {
  return window.find(
    (task) =>
      isReady(task) &&
      task.notBefore <= now &&
      (task.assignee === null || task.assignee === workerId || !isForAgent(task)) &&
      !isResting?.(task) &&
      !(task.role === 'reviewer' && task.builders.includes(workerId)) &&
      !(task.role === 'builder' && decideLock(task, running, now).action !== 'grant'),
  );
}

/** Somebody it was given to builds it; judging and landing stay whose they are. */
const isForAgent = (task: Task) => task.role === 'builder';
