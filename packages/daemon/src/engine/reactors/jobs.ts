import type { Reactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Tracks when the next job is due, so that projects without jobs send no claims. */
export class JobWatch implements Reactor {
  readonly name = 'jobs';
  readonly projectId: string;
  readonly on = ['job.requested', 'job.postponed', 'job.ended', 'lease.claimed', 'lease.released'] as const;
  readonly #deps: EngineDeps;
  readonly #onDue: () => void;
  #dueAt: number | null = null;

  constructor(deps: EngineDeps, onDue: () => void) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#onDue = onDue;
  }

  /** When the next job can be claimed; null when there is none. */
  get dueAt(): number | null {
    return this.#dueAt;
  }

  async look(): Promise<void> {
    this.#dueAt = await this.#deps.store.nextDue('job', this.projectId);
  }

  async handle(call: Parameters<Reactor['handle']>[0]): Promise<void> {
    if (call.cause !== 'events' || !call.events.some(({ body }) => 'jobId' in body && body.jobId !== undefined)) return;
    await this.look();
    if (this.#dueAt !== null) this.#onDue();
  }
}
