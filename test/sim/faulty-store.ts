import type { Command, Reply } from '@tidemill/core';
import type { Clock, Store } from '../../packages/daemon/src/ports.ts';
import type { Invariants } from './invariants.ts';
import type { Random } from './random.ts';

export interface Faults {
  /** Chance of each, per write. */
  crash: number;
  delay: number;
  duplicate: number;
  lostHeartbeat: number;
  /** Crash exactly at this write of the instance instead of by chance, before or after it took effect. */
  crashAt?: { write: number; after: boolean };
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

/** The store as one daemon instance sees it: its own writes may be lost, late, doubled, or its last. */
export class FaultyStore {
  isDead = false;
  /** Whoever listens for this instance need not go on. */
  readonly death = new AbortController();
  writes = 0;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: () => Faults;
  readonly #invariants: Invariants;
  readonly #onCrash: () => void;

  constructor(parts: {
    store: Store;
    clock: Clock;
    random: Random;
    faults: () => Faults;
    invariants: Invariants;
    onCrash: () => void;
  }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#faults = parts.faults;
    this.#invariants = parts.invariants;
    this.#onCrash = parts.onCrash;
  }

  async execute(command: Command): Promise<Reply> {
    if (this.isDead) return never();
    const faults = this.#faults();
    // Signs of life come all the time: a crash at one of them is a crash between two of the others.
    if (command.type === 'worker.beat') {
      if (this.#random.chance(faults.lostHeartbeat)) throw new Error('heartbeat lost');
      return this.#store.execute(command);
    }
    this.writes += 1;
    if (faults.crashAt ? faults.crashAt.write === this.writes : this.#random.chance(faults.crash))
      return this.#crash(command, faults.crashAt?.after ?? this.#random.chance(0.5));
    if (command.type === 'lease.renew' && this.#random.chance(faults.lostHeartbeat)) throw new Error('heartbeat lost');
    if (this.#random.chance(faults.delay)) await this.#clock.sleep(this.#random.int(240_000));
    const reply = await this.#store.execute(command);
    if (this.#random.chance(faults.duplicate)) await this.#store.execute(command);
    // Nobody was told if the daemon died meanwhile; a delayed message may still have taken effect.
    if (this.isDead) return never();
    if (reply.ok) this.#invariants.acknowledged(reply.events);
    return reply;
  }

  /** The daemon dies with this write on its way: it never happened, it happened, or it arrives minutes later. */
  async #crash(command: Command, after: boolean): Promise<Reply> {
    this.isDead = true;
    this.death.abort('dead');
    if (after) await this.#store.execute(command);
    else if (this.#random.chance(0.3))
      void this.#clock.sleep(this.#random.int(600_000)).then(() => this.#store.execute(command));
    this.#onCrash();
    return never();
  }
}

/** The same port, dead with its instance: whatever a dead daemon awaits never comes. */
export function mortal<T extends object>(port: T, isDead: () => boolean): T {
  return new Proxy(port, {
    get(target, key) {
      const member = Reflect.get(target, key) as unknown;
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isDead()) return never();
        const result: unknown = member.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.then((value: unknown) => (isDead() ? never() : value));
      };
    },
  });
}
