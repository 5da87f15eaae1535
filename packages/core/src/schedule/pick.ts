import type { Task } from '@tidemill/contract';
import { decideLock } from './file-lock.ts';
import { isReady } from './ready.ts';

/** A bounded snapshot: candidates in claiming order, and the running tasks that others may have to wait for. */
interface Candidates {
  window: Task[];
  running: Task[];
  workerId: string;
  now: number;
  /** Whether the agent for a task is unavailable for now. */
  isResting?(task: Task): boolean;
}

/** The first candidate this worker may take: ready, not in backoff, no conflict with running work, and not a review of its own work. */
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

/** An assignment applies to building only, not to review and landing. */
const isForAgent = (task: Task) => task.role === 'builder';
