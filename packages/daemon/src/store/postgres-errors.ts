import { AppError } from '@tidemill/contract';
import { ConstraintError, diskFull, storeFailed } from './driver.ts';

/** How a transaction failed: `race` and `lost` may be retried, the others are final. */
export type Failure = 'race' | 'clash' | 'lost' | 'full' | 'fault';

const RACES = ['40001', '40P01', '55P03'];
const UNIQUE_VIOLATION = '23505';
const DISK_FULL = '53100';
/** Shutdown, crash, start-up; then missing or outdated prepared statements, which a new session prepares again. */
const LOST = ['57P01', '57P02', '57P03', '57P05', '53300', '25P03', '26000', '0A000'];
const NETWORK = [
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
];

export function classify(error: unknown): Failure {
  if (!(error instanceof Error)) return 'fault';
  const code = 'code' in error ? String(error.code) : '';
  if (RACES.includes(code)) return 'race';
  if (code === UNIQUE_VIOLATION) return 'clash';
  if (code === DISK_FULL) return 'full';
  if (LOST.includes(code) || NETWORK.includes(code) || code.startsWith('08')) return 'lost';
  // `pg` reports a connection that ended during a query only by its message.
  return /^Connection terminated|connection error|timeout expired|Connection ended/i.test(error.message)
    ? 'lost'
    : 'fault';
}

export function explain(error: unknown, failure: Failure): AppError | ConstraintError {
  if (failure === 'full') return diskFull('the Postgres server', error);
  if (failure === 'clash') return new ConstraintError((error as Error).message, { cause: error });
  return storeFailed('Postgres failed', error);
}

/** The server was asked about a transaction that it has not begun: it crashed, and nothing of the transaction was saved. */
export function isOfTheFuture(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === '22023';
}

/** True for errors of the server, false for bugs in our code. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}
