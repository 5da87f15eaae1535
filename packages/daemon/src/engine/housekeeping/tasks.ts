import type { Task } from '@tidemill/contract';
import type { Clock, Store } from '../../ports.ts';

/** Lookups after which other work gets a turn. */
const PER_TURN = 50;

/** Tasks as one pass of housekeeping sees them: each is read once. */
export class Tasks {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<string, { endedAt: number | null; landed: ReadonlySet<string> }>();
  readonly #signal: AbortSignal | undefined;
  #lookups = 0;

  /** `signal` ends a long search with an error. */
  constructor(store: Store, clock: Clock, signal?: AbortSignal) {
    this.#store = store;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** When the task was finished; null while it is not. A task that is not in the store is never finished. */
  async endedAt(taskId: string): Promise<number | null> {
    return (await this.#look(taskId)).endedAt;
  }

  /** The evidence that its landed commit names, by id or hash. */
  async landedEvidence(taskId: string): Promise<ReadonlySet<string>> {
    return (await this.#look(taskId)).landed;
  }

  async #look(taskId: string) {
    const known = this.#known.get(taskId);
    if (known) return known;
    await this.turn();
    const task = await this.#store.task(taskId);
    const found = task ? { endedAt: endOf(task), landed: await this.#landed(task) } : await this.#ofDelivery(taskId);
    this.#known.set(taskId, found);
    return found;
  }

  /** Evidence of a commit that others made: what was delivered with it counts like landed work. */
  async #ofDelivery(id: string): Promise<{ endedAt: number | null; landed: ReadonlySet<string> }> {
    const delivery = await this.#store.record('delivery', id);
    if (!delivery) return { endedAt: null, landed: new Set() };
    return { endedAt: delivery.endedAt, landed: new Set(delivery.evidence.map(({ hash }) => hash)) };
  }

  async #landed({ id: taskId, projectId, landedCommit }: Task): Promise<ReadonlySet<string>> {
    if (landedCommit === null) return new Set();
    const query = { projectId, taskId, types: ['merge.prepared'], newestFirst: true, limit: 100 };
    for (const { body } of await this.#store.events(query))
      if (body.type === 'merge.prepared' && body.commit === landedCommit) return new Set(body.evidence);
    return new Set();
  }

  /** Lets other work go on between many lookups: a store in this process answers without a pause. */
  async turn(): Promise<void> {
    this.#signal?.throwIfAborted();
    this.#lookups += 1;
    if (this.#lookups % PER_TURN === 0) await this.#clock.sleep(1);
  }
}

/** When a task was done or cancelled; null while it is neither. */
export const endOf = ({ stage, stageSince }: Task): number | null =>
  stage === 'done' || stage === 'cancelled' ? stageSince : null;
