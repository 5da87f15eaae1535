import type { Question } from '@tidemill/contract';
import type { EngineDeps } from './deps.ts';

/** A clock that is set forward is noticed within this time. */
const LOOK_AT_LEAST_EVERY_MS = 60_000;
const LONG_MS = 24 * 3_600_000;
const TRY_AGAIN_MS = 5_000;
const AT_ONCE = 100;
const CHANGES = ['question.asked', 'question.answered', 'question.closed', 'question.reminded'];

/**
 *   question on record ──▶ sleep until the first is due ──▶ expire or remind ──▶ sleep …
 * Woken by whatever changes a question; nothing is looked at while none is open.
 */
export class QuestionTimes {
  readonly #deps: EngineDeps;
  #sleep = new AbortController();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Ends with the signal, and never rejects. */
  async run(after: number, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#sleep.abort(), { once: true });
    await Promise.all([this.#keep(signal), this.#watch(after, signal)]);
  }

  async #watch(after: number, signal: AbortSignal): Promise<void> {
    const { store, project } = this.#deps;
    for await (const _ of store.subscribe(after, { projectId: project.id, types: CHANGES }, signal))
      this.#sleep.abort();
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, onNote } = this.#deps;
    while (!signal.aborted) {
      this.#sleep = new AbortController();
      let waitMs = TRY_AGAIN_MS;
      try {
        await this.#settle();
        waitMs = await this.#untilNext();
      } catch (error) {
        onNote('looking after questions failed; trying again in 5 s', error);
      }
      if (!signal.aborted) await clock.sleep(waitMs, this.#sleep.signal);
    }
  }

  async #untilNext(): Promise<number> {
    const { store, project, clock } = this.#deps;
    const next = await store.nextDue('question', project.id);
    // Nothing is open: only a new question changes that.
    if (next === null) return LONG_MS;
    const inMs = next - clock.now();
    return inMs <= 0 ? TRY_AGAIN_MS : Math.min(inMs, LOOK_AT_LEAST_EVERY_MS);
  }

  async #settle(): Promise<void> {
    const { store, project, clock, onNote } = this.#deps;
    for (let settled = AT_ONCE; settled === AT_ONCE; ) {
      const now = clock.now();
      const due = await store.records({ noun: 'question', projectId: project.id, dueBefore: now, limit: AT_ONCE });
      settled = 0;
      for (const question of due) {
        const reply = await store.execute({ ...dueCommand(question, now), projectId: project.id });
        if (reply.ok) settled += 1;
        else onNote(`${question.ref} is due, but: ${reply.refusal.message}`);
      }
    }
  }
}

function dueCommand({ taskId, id: questionId, expiresAt }: Question, now: number) {
  const isOver = expiresAt !== null && expiresAt <= now;
  return { type: isOver ? ('question.expire' as const) : ('question.remind' as const), taskId, questionId };
}
