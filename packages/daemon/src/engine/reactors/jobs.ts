import { REACTORS } from '@tidemill/contract';
import { isTimedOut } from '@tidemill/core';
import type { Reactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const TIME_OUT_EVERY_MS = 3_600_000;
const NOT_TAKEN = 'nobody took it before its deadline';

/** Tracks when the next job is due, so that projects without jobs send no claims. */
export class JobWatch implements Reactor {
  readonly name = 'jobs';
  readonly projectId: string;
  readonly on = REACTORS.jobs.on;
  readonly everyMs = TIME_OUT_EVERY_MS;
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
    if (call.cause !== 'events') return this.#timeOut();
    if (!call.events.some(({ body }) => 'jobId' in body && body.jobId !== undefined)) return;
    await this.look();
    if (this.#dueAt !== null) this.#onDue();
  }

  /** Ends jobs that nobody took in time: their subjects follow. */
  async #timeOut(): Promise<void> {
    const { store, clock, onNote } = this.#deps;
    for (const job of await store.records({ noun: 'job', projectId: this.projectId, isOpen: true })) {
      if (!isTimedOut(job, clock.now())) continue;
      const { id: jobId, subjectId, projectId } = job;
      const reply = await store.execute({
        type: 'job.cancel',
        projectId,
        jobId,
        subjectId,
        why: NOT_TAKEN,
        isFailed: true,
      });
      if (!reply.ok) onNote(`job ${jobId} could not be ended: ${reply.refusal.message}`);
    }
  }
}
