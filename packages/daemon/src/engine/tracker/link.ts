import { TrackerError } from '../../ports.ts';
import type { EngineDeps, FollowedTracker } from '../deps.ts';
import { StandingAlerts, type StandingCondition } from '../reactors/standing-alerts.ts';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;

/** What the two reactors of a tracker share: one call at a time, one state, one alert while it is in trouble. */
export class TrackerLink {
  readonly #deps: EngineDeps;
  readonly #outage: StandingAlerts;
  readonly #items: StandingAlerts;
  readonly #stopped = new AbortController();
  #calls: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #pausedUntil = 0;
  #waiting: StandingCondition[] = [];
  #refused: StandingCondition[] = [];
  trouble: string | null = null;
  syncedAt: number | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#outage = new StandingAlerts(deps, ['tracker']);
    this.#items = new StandingAlerts(deps, ['tracker_item'], ({ severity, text }) => severity + text);
  }

  get followed(): FollowedTracker | null {
    return this.#deps.tracker ?? null;
  }

  /** How long the tracker is to be left alone. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - this.#deps.clock.now());
  }

  /**
   * Reading and writing never overlap: what was read before a write would look like a person's change. Returns false when
   * the tracker is in trouble; then `pauseMs` says when to come again. `isUrgent`: does not wait for the end of a pause.
   */
  async use(work: (followed: FollowedTracker) => Promise<void>, isUrgent = false): Promise<boolean> {
    const call = this.#calls.then(() => this.#attempt(work, isUrgent));
    this.#calls = call.catch(() => undefined);
    return call;
  }

  /** Nobody waits for a tracker any more. A write that is under way is found by the next daemon. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Items that wait for a person, and those whose state could not be written. */
  async tell(about: { waiting?: StandingCondition[]; refused?: StandingCondition[] }): Promise<void> {
    this.#waiting = about.waiting ?? this.#waiting;
    this.#refused = about.refused ?? this.#refused;
    await this.#items.settle([...this.#waiting, ...this.#refused]);
  }

  async #attempt(work: (followed: FollowedTracker) => Promise<void>, isUrgent: boolean): Promise<boolean> {
    const { followed } = this;
    if (!followed) {
      this.trouble = null;
      this.syncedAt = null;
      await this.tell({ waiting: [], refused: [] });
      await this.#settle();
      return true;
    }
    if (this.pauseMs > 0 && !isUrgent) return false;
    try {
      if (await this.#endsFirst(work(followed))) return false;
    } catch (error) {
      if (!(error instanceof TrackerError)) throw error;
      this.#pause(error);
      this.trouble = error.message;
      await this.#settle();
      return false;
    }
    this.#failures = 0;
    this.#pausedUntil = 0;
    if (this.trouble !== null) this.#deps.onNote(`${followed.tracker.name} can be used again`);
    this.trouble = null;
    await this.#settle();
    return true;
  }

  /** True when the engine stops before the work is done. */
  async #endsFirst(work: Promise<void>): Promise<boolean> {
    const { signal } = this.#stopped;
    const { promise, resolve } = Promise.withResolvers<true>();
    const stop = () => resolve(true);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await Promise.race([work.then(() => false), promise]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #pause({ retryInMs }: TrackerError): void {
    const growing = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#pausedUntil = this.#deps.clock.now() + Math.max(retryInMs ?? 0, growing);
  }

  /** One alert, whatever the words of the trouble are; it closes by itself. */
  async #settle(): Promise<void> {
    const { followed } = this;
    const inTrouble: StandingCondition[] =
      followed && this.trouble !== null
        ? [
            {
              ...{ kind: 'tracker', subject: followed.tracker.name, severity: 'warning' },
              text: `${followed.tracker.name} cannot be used. Work goes on; what is to be read and written there waits. ${this.trouble}`,
            },
          ]
        : [];
    await this.#outage.settle(inTrouble);
  }
}
