import type { EventType, LoggedEvent, ReactorView } from '@tidemill/contract';
import type { Store } from './store.ts';

/** Why a reactor is called. */
export type ReactorCause =
  /** Once, before anything else: for what an earlier process did not finish. */
  | { cause: 'start' }
  | { cause: 'tick' }
  /** In the order of the log; at most `atOnce` of them. */
  | { cause: 'events'; events: readonly LoggedEvent[] };

export type ReactorCall = ReactorCause & {
  /** The next tick comes after this time, whatever `everyMs` says. May also be used after the call. */
  tickIn(ms: number): void;
};

/** Something that follows the log, the clock, or both. */
export interface Reactor {
  readonly name: string;
  /** Null: it serves all projects, and gets the events of all. */
  readonly projectId: string | null;
  /** It gets the events of all projects, although it serves one. */
  readonly followsAllProjects?: boolean;
  readonly on?: readonly EventType[];
  /** From the end of one call for a tick to the next. Left out: only ticks that a call asks for. */
  readonly everyMs?: number;
  /** More than 1 when it handles many events at the cost of one. A call that fails may then be repeated for some of them. */
  readonly atOnce?: number;
  /** Present when its commands may cause events that it wants: with it the host recognizes a loop. */
  readonly own?: OwnWrites;
  /** Never called twice at the same time. A rejected call is repeated, so its commands must be idempotent. */
  handle(call: ReactorCall): Promise<void>;
}

/** A store that remembers which wanted events its own commands caused. */
export interface OwnWrites {
  readonly store: Store;
  /** Forgets the event, so it can be asked once. */
  isOwn(seq: number): boolean;
}

export interface ReactorHandle {
  /** Asks for the next tick: now, or after this time. */
  wake(inMs?: number): void;
  /** Resolves when the call under way has ended. No call comes after it. */
  stop(): Promise<void>;
}

/** A reader of the log that the host does not run, but lists. */
export interface ListedReader {
  readonly name: string;
  readonly position: number;
  readonly lastError: ReactorView['lastError'];
}

/** The one place where reactors run. */
export interface Reactors {
  /** Runs the reactor with the events after this position. */
  add(reactor: Reactor, after: number): ReactorHandle;
  watchWrites(store: Store, on: readonly EventType[]): OwnWrites;
  /** Returns how to take it off the list. */
  enlist(reader: ListedReader): () => void;
  views(): Promise<ReactorView[]>;
}
