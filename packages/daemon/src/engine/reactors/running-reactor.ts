import type { LoggedEvent, ReactorView } from '@tidemill/contract';
import type { Clock, Reactor, ReactorCause, ReactorHandle } from '../../ports.ts';
import { isStoreUnavailable } from '../dispatch/retrying-store.ts';

/** After this many attempts the event or tick is skipped. Failures of the store do not count. */
const MOST_TRIES = 5;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A full queue accepts no events. The host reads the rest again when the queue is empty. */
const LONGEST_QUEUE = 1_000;
/** More calls per minute than this caused by its own commands are a loop. */
const MOST_OWN_CALLS = 100;
const LOOP_WINDOW_MS = 60_000;
const PAUSE_MS = 10 * 60_000;

export interface ReactorContext {
  clock: Clock;
  onNote(text: string, error?: unknown): void;
  /** The queue was full and is empty now. */
  onDrained(): void;
  onLoop(reactor: Reactor): void;
}

/**
 * One reactor with its position in the log.
 *
 *   start ──▶ waiting ──event, tick, wake──▶ handling ──▶ waiting
 *                            failed: retrying ──succeeded, or 5 tries: noted and skipped──▶ waiting
 *                            triggered by itself 100 times a minute: paused ──10 minutes──▶ handling
 */
export class RunningReactor implements ReactorHandle {
  readonly reactor: Reactor;
  /** The last event that was handled or skipped. */
  position: number;
  /** The last event that was queued or not relevant to the reactor. */
  fedTo: number;
  state: ReactorView['state'] = 'running';
  /** The first call has ended, which looks for work that an earlier process did not finish. */
  hasStarted = false;
  lastError: ReactorView['lastError'] = null;
  readonly #context: ReactorContext;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #queue: LoggedEvent[] = [];
  #isFull = false;
  /** Events left of a failed batch. They are handled one by one, so that only the faulty one is skipped. */
  #oneByOne = 0;
  #isTickDue = false;
  #timer: AbortController | null = null;
  #wakeUp: () => void = () => undefined;
  #ownCalls: number[] = [];

  constructor(reactor: Reactor, after: number, context: ReactorContext) {
    this.reactor = reactor;
    this.position = after;
    this.fedTo = after;
    this.#context = context;
    this.#ended = Promise.resolve().then(() => this.#run());
  }

  /** Queues the event unless it was queued before, is not relevant, or the queue is full. */
  feed(event: LoggedEvent): void {
    if (event.seq <= this.fedTo || this.#isFull) return;
    if (this.#wants(event)) {
      if (this.#queue.length >= LONGEST_QUEUE) {
        this.#isFull = true;
        return;
      }
      this.#queue.push(event);
      this.#wakeUp();
    }
    this.fedTo = event.seq;
  }

  wake(inMs = 0): void {
    if (inMs > 0) {
      this.#tickIn(inMs);
      return;
    }
    this.#isTickDue = true;
    this.#wakeUp();
  }

  async stop(): Promise<void> {
    this.#stopped.abort('stopped');
    this.#timer?.abort('stopped');
    this.#wakeUp();
    await this.#ended;
  }

  #wants({ projectId, body }: LoggedEvent): boolean {
    const { reactor } = this;
    const isOurs = reactor.projectId === null || reactor.followsAllProjects || projectId === reactor.projectId;
    return isOurs && (reactor.on?.includes(body.type) ?? false);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    await this.#tick('start');
    this.hasStarted = true;
    while (!signal.aborted) {
      if (this.#queue.length > 0) await this.#takeEvents();
      if (this.#isTickDue && !signal.aborted) await this.#tick('tick');
      if (!this.#isTickDue && this.#queue.length === 0 && !signal.aborted)
        await new Promise<void>((resolve) => {
          this.#wakeUp = resolve;
        });
    }
  }

  async #tick(cause: 'start' | 'tick'): Promise<void> {
    this.#isTickDue = false;
    this.#timer?.abort('due');
    this.#timer = null;
    await this.#attempt({ cause }, MOST_TRIES);
    const { everyMs } = this.reactor;
    if (this.#timer === null && everyMs !== undefined && !this.#stopped.signal.aborted) this.#tickIn(everyMs);
  }

  async #takeEvents(): Promise<void> {
    const events = this.#queue.slice(0, this.#oneByOne > 0 ? 1 : (this.reactor.atOnce ?? 1));
    await this.#pauseIfLooping(events);
    if (this.#stopped.signal.aborted) return;
    const hasSucceeded = await this.#attempt({ cause: 'events', events }, events.length > 1 ? 1 : MOST_TRIES);
    if (!hasSucceeded && (events.length > 1 || this.#stopped.signal.aborted)) {
      this.#oneByOne = events.length;
      return;
    }
    this.#oneByOne = Math.max(0, this.#oneByOne - events.length);
    this.#queue.splice(0, events.length);
    this.position = events.at(-1)!.seq;
    if (this.#queue.length > 0 || !this.#isFull) return;
    this.#isFull = false;
    this.#context.onDrained();
  }

  /** Returns whether it succeeded. */
  async #attempt(cause: ReactorCause, mostTries: number): Promise<boolean> {
    const { clock, onNote } = this.#context;
    const { signal } = this.#stopped;
    const what = cause.cause === 'events' ? cause.events[0]!.body.type : `its ${cause.cause}`;
    const tickIn = (ms: number) => this.#tickIn(ms);
    let isNoted = false;
    for (let tries = 1, counted = 1; ; tries += 1) {
      try {
        await this.reactor.handle({ ...cause, tickIn });
        this.state = 'running';
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        this.state = 'retrying';
        this.lastError = { at: clock.now(), message: error instanceof Error ? error.message : String(error) };
        if (!isStoreUnavailable(error) && counted++ >= mostTries) {
          // The events of a failed batch are retried one by one, so nothing is lost yet.
          if (mostTries > 1) onNote(`${this.reactor.name}: ${what} failed ${mostTries} times; it is skipped`, error);
          return false;
        }
        if (!isNoted) onNote(`${this.reactor.name}: ${what} failed; retrying`, error);
        isNoted = true;
        await clock.sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)), signal);
        if (signal.aborted) return false;
      }
    }
  }

  async #pauseIfLooping(events: readonly LoggedEvent[]): Promise<void> {
    const { own } = this.reactor;
    // isOwn also removes the entry, so it is called for every event.
    const areOwn = events.filter(({ seq }) => own?.isOwn(seq));
    if (areOwn.length === 0) return;
    const { clock, onLoop } = this.#context;
    const now = clock.now();
    this.#ownCalls = [...this.#ownCalls.filter((at) => Math.abs(now - at) < LOOP_WINDOW_MS), now];
    if (this.#ownCalls.length <= MOST_OWN_CALLS) return;
    this.#ownCalls = [];
    this.state = 'paused';
    onLoop(this.reactor);
    await clock.sleep(PAUSE_MS, this.#stopped.signal);
    this.state = 'running';
  }

  #tickIn(ms: number): void {
    this.#timer?.abort('set again');
    const timer = new AbortController();
    this.#timer = timer;
    void this.#context.clock.sleep(Math.max(1, ms), timer.signal).then(() => {
      if (!timer.signal.aborted) this.wake();
    });
  }
}
