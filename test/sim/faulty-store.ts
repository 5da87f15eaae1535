import type { Command, Reply, ReplyToAll } from '@tidemill/core';
import type { Clock, Store } from '../../packages/daemon/src/ports.ts';
import type { Invariants } from './invariants.ts';
import type { Random } from './random.ts';

export interface Faults {
  /** Chance of each, per write. */
  crash: number;
  delay: number;
  duplicate: number;
  lostHeartbeat: number;
  /** A request to the forge fails. */
  forge?: number;
  /** Crash exactly at this write of the instance instead of randomly, before or after it took effect. */
  crashAt?: { write: number; after: boolean };
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

/** The store as one daemon instance sees it: a write may be lost, late or duplicated, or the instance may crash. */
export class FaultyStore {
  isDead = false;
  /** Ends the listeners of this instance. */
  readonly death = new AbortController();
  writes = 0;
  /** The numbers of the writes that changed something. */
  readonly effective: number[] = [];
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
    // Heartbeats are frequent: a crash at one of them equals a crash between two other writes.
    if (command.type === 'worker.beat') {
      if (this.#random.chance(faults.lostHeartbeat)) throw new Error('heartbeat lost');
      return this.#store.execute(command);
    }
    this.writes += 1;
    const number = this.writes;
    if (faults.crashAt ? faults.crashAt.write === number : this.#random.chance(faults.crash))
      return this.#crash(() => this.#store.execute(command), faults.crashAt?.after ?? this.#random.chance(0.5));
    if (command.type === 'lease.renew' && this.#random.chance(faults.lostHeartbeat)) throw new Error('heartbeat lost');
    if (this.#random.chance(faults.delay)) await this.#clock.sleep(this.#random.int(240_000));
    const reply = await this.#store.execute(command);
    if (reply.ok && reply.events.length > 0 && command.type !== 'lease.renew') this.effective.push(number);
    if (this.#random.chance(faults.duplicate)) await this.#store.execute(command);
    // If the daemon died meanwhile, nobody gets the reply; a delayed write may still have taken effect.
    if (this.isDead) return never();
    if (reply.ok) this.#invariants.acknowledged(reply.events);
    return reply;
  }

  /** Several commands are one write: the daemon dies before all of them, or after. */
  async executeAll(commands: readonly Command[]): Promise<ReplyToAll> {
    if (this.isDead) return never();
    const faults = this.#faults();
    this.writes += 1;
    const number = this.writes;
    const write = () => this.#store.executeAll(commands);
    if (faults.crashAt ? faults.crashAt.write === number : this.#random.chance(faults.crash))
      return this.#crash(write, faults.crashAt?.after ?? this.#random.chance(0.5));
    if (this.#random.chance(faults.delay)) await this.#clock.sleep(this.#random.int(240_000));
    const reply = await write();
    if (reply.ok) this.effective.push(number);
    if (this.isDead) return never();
    if (reply.ok) for (const { events } of reply.replies) this.#invariants.acknowledged(events);
    return reply;
  }

  /** The daemon dies between two writes. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.death.abort('dead');
    this.#onCrash();
  }

  /** The story is over: nothing of this instance waits any more. */
  end(): void {
    this.isDead = true;
    this.death.abort('over');
  }

  /** The daemon dies during this write: it is lost, it takes effect, or it arrives minutes later. */
  async #crash(write: () => Promise<unknown>, after: boolean): Promise<never> {
    this.isDead = true;
    this.death.abort('dead');
    if (after) await write();
    else if (this.#random.chance(0.3)) void this.#clock.sleep(this.#random.int(600_000)).then(write);
    this.#onCrash();
    return never();
  }
}

/** The same port, which ends with its instance: the calls of a dead daemon never resolve. */
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
