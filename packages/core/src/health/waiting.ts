import { elapsed, type Task } from '@tidemill/contract';
import type { HealthFinding } from './finding.ts';

const HOUR = 3_600_000;
/** A blocked task is in the inbox itself. After this time the tasks behind it are named too. */
const BLOCKED_LONG_MS = 2 * HOUR;
/** A review that nobody has begun for this long. */
export const REVIEW_LONG_MS = 2 * HOUR;
const MOST_NAMED = 10;

/** Tasks that cannot start before a task that is cancelled or blocked. */
export interface HeldTasks {
  dependency: Pick<Task, 'id' | 'number' | 'title' | 'stage' | 'stageSince' | 'blocked'>;
  /** The numbers of the tasks behind it. */
  waiting: number[];
}

export interface WaitingReview {
  task: Pick<Task, 'id' | 'number' | 'title' | 'stageSince'>;
  /** Why no reviewer has it, and what to do. */
  why: string;
}

export function heldFindings(held: HeldTasks[], now: number): HealthFinding[] {
  return held.flatMap(({ dependency, waiting }): HealthFinding[] => {
    const { number, title, stage, stageSince, id: taskId } = dependency;
    const isCancelled = stage === 'cancelled';
    const isLong = isCancelled || now - stageSince >= BLOCKED_LONG_MS;
    if (waiting.length === 0 || !isLong) return [];
    const state = isCancelled ? 'which is cancelled' : `which has been blocked for ${elapsed(now - stageSince)}`;
    const [first] = waiting;
    const text =
      `${listOf(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for #${number} ${title}, ${state}. ` +
      `Start it again with \`tidemill task retry ${number}\`, let ${waiting.length === 1 ? 'the task' : 'a task'} go on without it with ` +
      `\`tidemill task after ${first} --not ${number}\`, or cancel with \`tidemill task cancel ${first}\`.`;
    const kind = isCancelled ? 'dependency_cancelled' : 'dependency_blocked';
    return [{ kind, subject: `#${number}`, severity: 'error', text, taskId }];
  });
}

export function reviewFindings(reviews: WaitingReview[], now: number): HealthFinding[] {
  return reviews.flatMap(({ task: { id: taskId, number, title, stageSince }, why }): HealthFinding[] => {
    const waitedMs = now - stageSince;
    if (waitedMs < REVIEW_LONG_MS) return [];
    const text = `#${number} ${title} has waited ${elapsed(waitedMs)} for its review: ${why}`;
    return [{ kind: 'review_waiting', subject: `#${number}`, severity: 'error', text, taskId }];
  });
}

function listOf(numbers: number[]): string {
  const shown = numbers.slice(0, MOST_NAMED).map((number) => `#${number}`);
  return numbers.length > MOST_NAMED ? `${shown.join(', ')} and ${numbers.length - MOST_NAMED} more` : shown.join(', ');
}
