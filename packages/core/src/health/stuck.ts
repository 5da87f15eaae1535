import type { Task } from '@tidemill/contract';

const MINUTE = 60_000;

/** How long a running task may show no activity, by kind of work. */
const SILENCE_LIMIT_MS = { database: 5 * MINUTE, tests: 15 * MINUTE, other: 10 * MINUTE };
/** After the first time a person is asked. After the second the run is interrupted, so that another worker can continue. */
export const ASK_AFTER_MS = 20 * MINUTE;
const INTERRUPT_AFTER_MS = 30 * MINUTE;

/** How long a person's "Wait" lasts. Then they are asked again. */
export const LEFT_ALONE_MS = 30 * MINUTE;

const DATABASE = /(^|\/)(migrations?|db|database|schema)(\/|$)|\.sql$/i;

/** A migration that hangs holds locks for everyone; tests may need long. */
export function silenceLimitMs(task: Pick<Task, 'files'>, isTesting: boolean): number {
  if (isTesting) return SILENCE_LIMIT_MS.tests;
  return task.files.some((file) => DATABASE.test(file)) ? SILENCE_LIMIT_MS.database : SILENCE_LIMIT_MS.other;
}

interface Silence {
  lastSignAt: number;
  leftAloneUntil: number;
}

/** The silence that counts: none while a person lets the task be silent, and after that what leads to the next question. */
export function countedSilenceMs({ lastSignAt, leftAloneUntil }: Silence, now: number): number {
  if (now < leftAloneUntil) return 0;
  return now - Math.max(lastSignAt, leftAloneUntil === 0 ? 0 : leftAloneUntil - ASK_AFTER_MS);
}

export type StuckAction = 'none' | 'watch' | 'ask' | 'interrupt';

/** What to do about a task that has been silent for this long. */
export function stuckAction(silentMs: number, limitMs: number): StuckAction {
  if (silentMs > INTERRUPT_AFTER_MS) return 'interrupt';
  if (silentMs > ASK_AFTER_MS) return 'ask';
  return silentMs > limitMs ? 'watch' : 'none';
}
