import { AppError, type EventBody } from '@tidemill/contract';
import type { Lookup, Slice } from '@tidemill/core';
import type { RepairedRow, Store, Workload } from '../ports.ts';

/** An event that has no place in the log yet; the driver gives it one as the last thing before the commit. */
export interface PendingEvent {
  projectId: string;
  at: number;
  body: EventBody;
}

type ReadName = Exclude<
  keyof Store,
  'execute' | 'executeAll' | 'repair' | 'subscribe' | 'onCommit' | 'close' | 'workload' | 'nextNotBefore'
>;

/** Reads of committed state, as the port has them. Plain closures, so that the store can take them over as they are. */
export interface Reads extends Pick<Store, ReadName> {
  workload(projectId: string, now: number): Promise<Workload>;
  nextNotBefore(projectId: string, now: number): Promise<number | null>;
}

/** A database, reduced to what the store needs of it. Deciding, batching and subscriptions are the same over all. */
export interface Driver {
  readonly reads: Reads;
  /**
   * One transaction: loads what is looked up into a slice, lets `work` decide on it, saves the rows it changed and appends its
   * events. All or nothing, durable when it resolves. Answers the number before the first event's.
   * `work` is called again on a fresh slice when the transaction lost a race or its connection.
   */
  transact(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number>;
  /** When to start the next batch: late enough that calls of the same moment come together. */
  defer(start: () => void): void;
  /** Watches for commits of other processes. With `keepAlive` the watch keeps this process running. Answers its end. */
  watch(wake: () => void, keepAlive: boolean): () => void;
  /** In one transaction that keeps all writers out: see `Store.repair`. */
  repair(): Promise<RepairedRow[]>;
  close(): Promise<void>;
}

/** A row clashed with a stored one: two commands of different batches made the same thing. */
export class ConstraintError extends Error {}

export function storeFailed(what: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_failed', `${what}: ${why}`, {
    retriable: true,
    cause,
    hint: 'Nothing of this write was kept. Try again; `tidemill doctor` checks the store.',
  });
}

export function diskFull(where: string, cause: unknown): AppError {
  return new AppError('disk_full', `There is no space left for the store (${where}).`, {
    retriable: true,
    cause,
    hint: 'Nothing of this write was kept. Free some space, then try again.',
  });
}

export function newerStore(found: number, known: number): AppError {
  return new AppError(
    'store_newer',
    `The store has schema version ${found}; this Tidemill knows versions up to ${known}.`,
    { hint: 'Use the newer Tidemill that wrote it, or another data folder. Nothing was changed.' },
  );
}
