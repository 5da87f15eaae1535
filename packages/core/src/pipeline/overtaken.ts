import { type EventBody, overtakenText, type Task } from '@tidemill/contract';

/** What the merge queue found out about a conflict. */
export interface FoundConflict {
  /** The target's commit. */
  base: string;
  /** The branch contains the target of the conflict before, and its tree passed every gate. */
  isResolved: boolean;
  /** The tasks that landed since that resolution and changed these files. */
  overtakenBy: number[];
}

/** Resolutions that may be overtaken before a person is asked. It goes first in the queue, so only pushes of others reach this. */
const MAX_OVERTAKEN = 20;
/** Tasks that are named. */
const MOST_NAMED = 20;

export interface Overtaking {
  /** The conflict before was resolved and proven, so the task made progress: this one counts as no failure. */
  isOvertaken: boolean;
  isTooOften: boolean;
  /** `Resolved 3 times, overtaken by #5, #8, #2.` */
  text: string;
  events: EventBody[];
}

/** What a conflict means after those that the task met before. */
export function overtaking(task: Task, found: FoundConflict | undefined, files: string[]): Overtaking {
  const before = task.conflicts;
  if (!found) return { isOvertaken: false, isTooOften: false, text: '', events: [] };
  const isOvertaken = before !== null && found.isResolved;
  const resolved = (before?.resolved ?? 0) + (isOvertaken ? 1 : 0);
  const now = isOvertaken ? found.overtakenBy : [];
  const overtakenBy = namedOvertakers(before?.overtakenBy ?? [], now);
  const text = overtakenText({ resolved, overtakenBy });
  const met: EventBody = {
    type: 'conflict.met',
    taskId: task.id,
    base: found.base,
    files,
    resolved,
    overtakenBy: now,
  };
  return {
    isOvertaken,
    isTooOften: resolved > MAX_OVERTAKEN,
    text: text && ` ${text[0]!.toUpperCase()}${text.slice(1)}.`,
    events: [met],
  };
}

/** The list in the task's row after one more conflict. */
export const namedOvertakers = (before: readonly number[], more: readonly number[]): number[] =>
  [...before, ...more].slice(-MOST_NAMED);
