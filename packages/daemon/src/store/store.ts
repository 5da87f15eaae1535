import { decide, reduce } from '@tidemill/core';
import type { Clock, Ids, Store } from '../ports.ts';
import type { Driver } from './driver.ts';
import { GroupCommit, type Rules } from './group-commit.ts';
import { follow } from './subscription.ts';

export interface StoreOptions {
  clock: Clock;
  ids: Ids;
  /** Replaced by the simulator, which plants bugs here to test its invariants. */
  rules?: Partial<Rules>;
}

/** The port over any driver: group commit above it, subscriptions beside it. */
export function createStore(driver: Driver, options: StoreOptions): Store {
  const commits = new Wakeups(driver);
  const writer = new GroupCommit(
    driver,
    { decide, reduce, ...options.rules },
    options.clock,
    options.ids,
    commits.wake,
  );
  const closing = new AbortController();
  return {
    ...driver.reads,
    workload: (projectId) => driver.reads.workload(projectId, options.clock.now()),
    nextNotBefore: (projectId) => driver.reads.nextNotBefore(projectId, options.clock.now()),
    execute: (command) => writer.execute(command),
    executeAll: (commands) => writer.executeAll(commands),
    removeEvents: (seqs) => (seqs.length === 0 ? Promise.resolve(0) : driver.removeEvents(seqs)),
    repair: () => driver.repair(),
    onCommit: (listener) => commits.add(listener, false),
    subscribe: (after, filter, signal) =>
      follow(driver.reads, (ring) => commits.add(ring, true), after, filter, AbortSignal.any([signal, closing.signal])),
    async close() {
      await writer.close();
      closing.abort();
      commits.end();
      await driver.close();
    },
  };
}

/** Listeners for commits. Other processes are watched only while there are listeners. */
class Wakeups {
  readonly #driver: Driver;
  readonly #listeners = new Map<symbol, { listener: (isQuiet: boolean) => void; keepAlive: boolean }>();
  #unwatch: (() => void) | null = null;
  #keepsAlive = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }
  /** `isQuiet`: only heartbeats. Always false for commits of other processes. */
  readonly wake = (isQuiet = false): void => {
    for (const { listener } of [...this.#listeners.values()]) {
      try {
        listener(isQuiet);
      } catch (error) {
        // A listener's bug must be reported, but not as the failure of a committed write.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  add(listener: (isQuiet: boolean) => void, keepAlive: boolean): () => void {
    const key = Symbol();
    this.#listeners.set(key, { listener, keepAlive });
    this.#watch();
    return () => {
      if (this.#listeners.delete(key)) this.#watch();
    };
  }
  end(): void {
    this.#listeners.clear();
    this.#watch();
  }
  #watch(): void {
    const wanted = this.#listeners.size > 0;
    const keepAlive = [...this.#listeners.values()].some((each) => each.keepAlive);
    if (wanted === (this.#unwatch !== null) && keepAlive === this.#keepsAlive) return;
    this.#unwatch?.();
    this.#keepsAlive = keepAlive;
    this.#unwatch = wanted ? this.#driver.watch(() => this.wake(), keepAlive) : null;
  }
}
