import type { EventType, LoggedEvent, ReactorView } from '@tidemill/contract';
import type { Clock, ListedReader, OwnWrites, Reactor, ReactorHandle, Reactors, Store } from '../../ports.ts';
import { watchWrites } from './own-writes.ts';
import { RunningReactor } from './running-reactor.ts';

/** After a subscription that ended by itself. */
const AGAIN_MS = 500;
/** Events that a reactor is behind are counted up to this number. */
const MOST_COUNTED = 1_000;

interface HostDeps {
  store: Store;
  clock: Clock;
  onNote(text: string, error?: unknown): void;
}

/**
 * Runs all that follows the log or the clock.
 *
 *   log ──one subscription──▶ host ──▶ a queue and a position per reactor ──▶ handle, one call at a time
 *
 * Positions are not kept over a restart: a reactor begins at the position that it is given, and finds in its first call
 * (`start`) what the rows say is left to do. The subscription begins again, at the least position that is needed, when
 * reactors come and go and when a long queue has been worked off; what a reactor has already been given is left out.
 */
export class ReactorHost implements Reactors {
  readonly #deps: HostDeps;
  readonly #running = new Set<RunningReactor>();
  readonly #listed = new Set<ListedReader>();
  readonly #looping = new Set<Reactor>();
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
      onLoop: () => this.#sayThatItLoops(reactor),
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
      ...{ name, projectId: null, position, behind: Math.max(0, head - position), state: 'running' as const },
      lastError,
    }));
    return [...(await Promise.all([...this.#running].map((running) => this.#viewOf(running, head)))), ...listed];
  }

  /** Resolves when every reactor has ended its call and the log is no longer read. */
  async stop(): Promise<void> {
    const left = [...this.#running];
    this.#running.clear();
    this.#turn?.abort('stopped');
    await Promise.all([...left.map((running) => running.stop()), this.#following]);
  }

  async #viewOf({ reactor, position, state, lastError }: RunningReactor, head: number): Promise<ReactorView> {
    const { name, projectId, on, hearsAll } = reactor;
    const about = { name, projectId, state, lastError };
    if (!on) return { ...about, position: null, behind: 0 };
    const filter = { types: [...on], ...(projectId !== null && !hearsAll && { projectId }) };
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
      // Reactors that come at the same moment share a subscription.
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
      if (!turn.signal.aborted) await clock.sleep(AGAIN_MS, turn.signal);
    }
  }

  #feed(event: LoggedEvent): void {
    for (const running of this.#running) running.feed(event);
  }

  /** Once for each reactor: it is paused each time. */
  #sayThatItLoops(reactor: Reactor): void {
    if (this.#looping.has(reactor)) return;
    this.#looping.add(reactor);
    const { store, onNote } = this.#deps;
    const { name, projectId } = reactor;
    const text = `The reactor ${name} triggered itself more than 100 times within a minute. It pauses for 10 minutes each time this happens. This is a defect of Tidemill: please report it with the output of \`tidemill doctor\`.`;
    onNote(text);
    if (projectId === null) return;
    store
      .execute({
        ...{ type: 'alert.raise', projectId, taskId: null, kind: 'reactor_loop' },
        ...{ severity: 'error', subject: name, text },
      })
      .catch((error: unknown) => onNote('an alert could not be recorded', error));
  }
}
