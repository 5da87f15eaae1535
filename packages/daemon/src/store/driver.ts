import { AppError, type EventBody } from '@tidemill/contract';
import type { Lookup, Slice } from '@tidemill/core';
import type { RepairedRow, Store, Workload } from '../ports.ts';

/** An event without a sequence number; the driver assigns it just before the commit. */
export interface PendingEvent {
  projectId: string;
  at: number;
  body: EventBody;
}

type ReadName = Exclude<
  keyof Store,
  | 'execute'
  | 'executeAll'
  | 'removeEvents'
  | 'repair'
  | 'subscribe'
  | 'onCommit'
  | 'close'
  | 'workload'
  | 'nextNotBefore'
>;

/** Reads of committed state, as the port has them. Plain closures, so that the store can use them directly. */
export interface Reads extends Pick<Store, ReadName> {
  workload(projectId: string, now: number): Promise<Workload>;
  nextNotBefore(projectId: string, now: number): Promise<number | null>;
}

/** A database, reduced to what the store needs. Decisions, batches and subscriptions are the same for all. */
export interface Driver {
  readonly reads: Reads;
  /**
   * One transaction: loads what is looked up into a slice, lets `work` decide on it, saves the rows it changed and appends its
   * events. All or nothing, durable when it resolves. Returns the sequence number before the first event.
   * `work` is called again on a fresh slice when the transaction lost a race or its connection.
   */
  transact(lookups: readonly Lookup[], now: number, work: (slice: Slice) => PendingEvent[]): Promise<number>;
  /** When to start the next batch: late enough to include calls made at the same time. */
  defer(start: () => void): void;
  /** Watches for commits of other processes. With `keepAlive` the watch keeps this process running. Returns a function that ends it. */
  watch(wake: () => void, keepAlive: boolean): () => void;
  /** In one transaction: see `Store.removeEvents`. */
  removeEvents(seqs: readonly number[]): Promise<number>;
  /** In one transaction that blocks all writers: see `Store.repair`. */
  repair(): Promise<RepairedRow[]>;
  close(): Promise<void>;
}

/** A row violates a constraint: two commands of different batches created the same thing. */
export class ConstraintError extends Error {}

export function storeFailed(what: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_failed', `${what}: ${why}`, {
    retriable: true,
    cause,
    hint: 'Nothing of this write was kept. Try again; `tidemill doctor` checks the store.',
  });
}

/** Trying again would not help, and writing might make it worse. */
export function storeDamaged(path: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_failed', `The store ${path} is damaged: ${why}`, {
    cause,
    hint: 'Leave the file as it is. `tidemill doctor` says what can still be read, and how to go on.',
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
