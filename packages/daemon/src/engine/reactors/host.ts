import { type EventType, type LoggedEvent, REACTORS, type ReactorView } from '@tidemill/contract';
import type { Clock, ListedReader, OwnWrites, Reactor, ReactorHandle, Reactors, Store } from '../../ports.ts';
import { watchWrites } from './own-writes.ts';
import { RunningReactor } from './running-reactor.ts';

/** Pause before a subscription that ended by itself is opened again. */
const RETRY_MS = 500;
/** Upper limit for counting the events a reactor is behind. */
const MOST_COUNTED = 1_000;

interface HostDeps {
  store: Store;
  clock: Clock;
  onNote(text: string, error?: unknown): void;
}

/**
 * Runs the reactors.
 *
 *   log ──one subscription──▶ host ──▶ a queue and a position per reactor ──▶ handle, one call at a time
 *
 * Positions do not survive a restart. A reactor begins at the given position, and its first call (`start`) finds
 * unfinished work in the rows. The subscription restarts at the lowest needed position when reactors are added or
 * removed and when a full queue has been drained. Events that a reactor already received are skipped.
 */
export class ReactorHost implements Reactors {
  readonly #deps: HostDeps;
  readonly #running = new Set<RunningReactor>();
  readonly #listed = new Set<ListedReader>();
  readonly #looping = new Set<Reactor>();
  /** By project: the position up to which its reactors are known to have handled the log. */
  readonly #caughtUp = new Map<string, number>();
  #turn: AbortController | null = null;
  #following: Promise<void> | null = null;

  constructor(deps: HostDeps) {
    this.#deps = deps;
  }

  add(reactor: Reactor, after: number): ReactorHandle {
    const { clock, onNote } = this.#deps;
    const running = new RunningReactor(reactor, after, {
      clock,
      onNote,
      onDrained: () => this.#followAgain(),
      onLoop: () => this.#reportLoop(reactor),
    });
    this.#running.add(running);
    this.#followAgain();
    return {
      wake: (inMs) => running.wake(inMs),
      stop: () => {
        if (this.#running.delete(running)) this.#followAgain();
        return running.stop();
      },
    };
  }

  watchWrites(store: Store, on: readonly EventType[]): OwnWrites {
    return watchWrites(store, on);
  }

  enlist(reader: ListedReader): () => void {
    this.#listed.add(reader);
    return () => void this.#listed.delete(reader);
  }

  async views(): Promise<ReactorView[]> {
    const head = await this.#deps.store.lastSeq();
    const listed = [...this.#listed].map(({ name, position, lastError }) => ({
      name,
      projectId: null,
      position,
      behind: Math.max(0, head - position),
      state: 'running' as const,
      lastError,
    }));
    return [...(await Promise.all([...this.#running].map((running) => this.#viewOf(running, head)))), ...listed];
  }

  async hasCaughtUp(projectId: string): Promise<boolean> {
    const own = [...this.#running].filter(
      ({ reactor, state }) => isWaitedFor(reactor, projectId) && state !== 'paused',
    );
    if (own.some(({ hasStarted }) => !hasStarted)) return false;
    const head = await this.#deps.store.lastSeq();
    if (this.#caughtUp.get(projectId) === head) return true;
    for (const running of own) if ((await this.#viewOf(running, head)).behind > 0) return false;
    this.#caughtUp.set(projectId, head);
    return true;
  }

  /** Resolves when all calls have ended and the subscription is closed. */
  async stop(): Promise<void> {
    const left = [...this.#running];
    this.#running.clear();
    this.#turn?.abort('stopped');
    await Promise.all([...left.map((running) => running.stop()), this.#following]);
  }

  async #viewOf({ reactor, position, state, lastError }: RunningReactor, head: number): Promise<ReactorView> {
    const { name, projectId, on, followsAllProjects } = reactor;
    const about = { name, projectId, state, lastError };
    if (!on) return { ...about, position: null, behind: 0 };
    const filter = { types: [...on], ...(projectId !== null && !followsAllProjects && { projectId }) };
    const missed = await this.#deps.store.events({ ...filter, after: position, upTo: head, limit: MOST_COUNTED });
    return { ...about, position: missed.length === 0 ? Math.max(head, position) : position, behind: missed.length };
  }

  #readers(): RunningReactor[] {
    return [...this.#running].filter(({ reactor }) => reactor.on);
  }

  #followAgain(): void {
    this.#turn?.abort('changed');
    if (this.#following || this.#readers().length === 0) return;
    this.#following = this.#follow().finally(() => {
      this.#following = null;
      this.#followAgain();
    });
  }

  async #follow(): Promise<void> {
    const { store, clock, onNote } = this.#deps;
    for (;;) {
      // Reactors that are added in the same tick share a subscription.
      await Promise.resolve();
      const readers = this.#readers();
      if (readers.length === 0) return;
      const turn = new AbortController();
      this.#turn = turn;
      const after = Math.min(...readers.map(({ fedTo }) => fedTo));
      const types = [...new Set(readers.flatMap(({ reactor }) => reactor.on ?? []))];
      try {
        for await (const event of store.subscribe(after, { types }, turn.signal)) {
          if (turn.signal.aborted) break;
          this.#feed(event);
        }
      } catch (error) {
        onNote('the log could not be followed; it is read again from the same position', error);
      }
      if (!turn.signal.aborted) await clock.sleep(RETRY_MS, turn.signal);
    }
  }

  #feed(event: LoggedEvent): void {
    for (const running of this.#running) running.feed(event);
  }

  /** Raises one alert per reactor. The reactor is paused each time. */
  #reportLoop(reactor: Reactor): void {
    if (this.#looping.has(reactor)) return;
    this.#looping.add(reactor);
    const { store, onNote } = this.#deps;
    const { name, projectId } = reactor;
    const text = `The reactor ${name} triggered itself more than 100 times within a minute. It pauses for 10 minutes each time this happens. This is a defect of Tidemill: please report it with the output of \`tidemill doctor\`.`;
    onNote(text);
    if (projectId === null) return;
    store
      .execute({
        type: 'alert.raise',
        projectId,
        taskId: null,
        kind: 'reactor_loop',
        severity: 'error',
        subject: name,
        text,
      })
      .catch((error: unknown) => onNote('an alert could not be recorded', error));
  }
}

/** Reactors in the background only tidy up, or tell others. What they have not done yet is done after the next start. */
function isWaitedFor({ name, projectId }: Reactor, wanted: string): boolean {
  const traits: { isBackground?: boolean } | undefined = (REACTORS as Record<string, object>)[name];
  return projectId === wanted && traits?.isBackground !== true;
}
