import type { Task } from '@tidemill/contract';

const MINUTE = 60_000;

/** How long a running task may show no sign of life, by what it is busy with. */
const PATIENCE_MS = { database: 5 * MINUTE, tests: 15 * MINUTE, other: 10 * MINUTE };
/** From here on a person is asked, and from here on it is interrupted so that the work can go on elsewhere. */
const ASK_AFTER_MS = 20 * MINUTE;
const INTERRUPT_AFTER_MS = 30 * MINUTE;

const DATABASE = /(^|\/)(migrations?|db|database|schema)(\/|$)|\.sql$/i;

/** A migration that hangs holds locks for everybody; tests may rightly take long. */
export function patienceMs(task: Pick<Task, 'files'>, isTesting: boolean): number {
  if (isTesting) return PATIENCE_MS.tests;
  return task.files.some((file) => DATABASE.test(file)) ? PATIENCE_MS.database : PATIENCE_MS.other;
}

export type StuckAction = 'none' | 'watch' | 'ask' | 'interrupt';

/** What to do about a task that has been silent for this long. */
export function stuckAction(silentMs: number, patience: number): StuckAction {
  if (silentMs > INTERRUPT_AFTER_MS) return 'interrupt';
  if (silentMs > ASK_AFTER_MS) return 'ask';
  return silentMs > patience ? 'watch' : 'none';
}
