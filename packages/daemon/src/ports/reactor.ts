import type { EventType, LoggedEvent, ReactorName, ReactorView } from '@tidemill/contract';
import type { Store } from './store.ts';

/** Why a reactor is called. */
export type ReactorCause =
  /** Once, at first: for work that an earlier process did not finish. */
  | { cause: 'start' }
  | { cause: 'tick' }
  /** In the order of the log; at most `atOnce` of them. */
  | { cause: 'events'; events: readonly LoggedEvent[] };

export type ReactorCall = ReactorCause & {
  /** Sets the time of the next tick, regardless of `everyMs`. May also be used after the call. */
  tickIn(ms: number): void;
};

/** Follows the log, the clock, or both. */
export interface Reactor {
  readonly name: string;
  /** Null: it serves all projects and gets their events. */
  readonly projectId: string | null;
  /** It gets the events of all projects, although it serves one. */
  readonly followsAllProjects?: boolean;
  readonly on?: readonly EventType[];
  /** Time between the end of a tick and the next one. Default: only ticks that a call requests. */
  readonly everyMs?: number;
  /** More than 1 if it can handle many events at the cost of one. A failed call may be repeated for some of them. */
  readonly atOnce?: number;
  /** Present if its commands may cause events that it follows. The host uses it to detect loops. */
  readonly own?: OwnWrites;
  /** Never called twice at the same time. A rejected call is repeated, so its commands must be idempotent. */
  handle(call: ReactorCall): Promise<void>;
}

/** A reactor of the engine: the table of reactors has a row for it. */
export interface RoutedReactor extends Reactor {
  readonly name: ReactorName;
}

/** A store that remembers which followed events its own commands caused. */
export interface OwnWrites {
  readonly store: Store;
  /** Also forgets the event, so call it only once per event. */
  isOwn(seq: number): boolean;
}

export interface ReactorHandle {
  /** Requests the next tick, now or after this time. */
  wake(inMs?: number): void;
  /** Resolves when the current call has ended. There are no calls after it. */
  stop(): Promise<void>;
}

/** A reader of the log that the host lists but does not run. */
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
  /** Returns a function that removes it from the list. */
  enlist(reader: ListedReader): () => void;
  views(): Promise<ReactorView[]>;
  /** Whether the project's reactors have handled the whole log, apart from those in the background. */
  hasCaughtUp(projectId: string): Promise<boolean>;
}
