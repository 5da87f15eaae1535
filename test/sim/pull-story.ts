import { PullRequestConfig } from '@tidemill/contract';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { SimForge } from './forge.ts';
import { ForgePeople } from './forge-people.ts';
import type { Invariants } from './invariants.ts';
import { PullInvariants } from './pull-invariants.ts';
import type { Random } from './random.ts';
import type { SimRepository } from './repository.ts';
import type { VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;

/** The part of a story in which work lands by pull requests: a forge, and the people there. */
export class PullStory {
  readonly forge: SimForge;
  readonly invariants: PullInvariants;
  readonly #people: ForgePeople;
  readonly #clock: VirtualClock;
  readonly #random: Random;

  constructor(parts: { repository: SimRepository; clock: VirtualClock; random: Random; invariants: Invariants }) {
    const { repository, clock, random } = parts;
    this.#clock = clock;
    this.#random = random;
    const setup = {
      settings: PullRequestConfig.parse({
        merge: random.pick(['tidemill', 'tidemill', 'auto', 'auto', 'person']),
        method: random.pick(['squash', 'squash', 'merge']),
        noChecks: random.pick(['ask', 'ask', 'continue', 'wait']),
        poll: '2m',
      }),
      required: random.chance(0.5) ? ['build'] : [],
      hasQueue: random.chance(0.25),
      needsReview: random.chance(0.3),
    };
    this.invariants = new PullInvariants({
      repository,
      setup,
      now: () => clock.now(),
      break: (invariant, detail) => parts.invariants.break(invariant, detail),
      isProven: (tree) => parts.invariants.isProven(tree),
      keeps: (...merge) => parts.invariants.keeps(...merge),
    });
    this.forge = new SimForge({ setup, repository, clock, random, invariants: this.invariants });
    this.#people = new ForgePeople(this.forge, clock, random, this.invariants);
  }

  /** People act at random until the storm ends. After that they settle what is left, twice an hour. */
  async play(until: number, store: Store, projectId: string): Promise<void> {
    void this.#people.machinery();
    while (this.#clock.elapsed() < until) {
      await this.#clock.sleep(this.#random.int(15 * MINUTE));
      if (this.#clock.elapsed() < until) this.#people.act();
    }
    for (;;) {
      this.#people.maintain(await store.tasks({ projectId, isWaiting: true }));
      await this.#clock.sleep(30 * MINUTE);
    }
  }
}
