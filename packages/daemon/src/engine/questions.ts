import type { Question } from '@tidemill/contract';
import type { EngineDeps } from './deps.ts';

/** A clock that is set forward is noticed within this time. */
const LOOK_AT_LEAST_EVERY_MS = 60_000;
const TRY_AGAIN_MS = 5_000;
const AT_ONCE = 100;
const CHANGES = ['question.asked', 'question.answered', 'question.closed', 'question.reminded'];

/**
 *   question on record ──▶ sleep until the first is due ──▶ expire or remind ──▶ sleep …
 * Woken by whatever changes a question; no polling while none is open.
 */
export class QuestionTimes {
  readonly #deps: EngineDeps;
  #changed = new AbortController();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Both loops end with the signal, and never reject. */
  async run(after: number, signal: AbortSignal): Promise<void> {
    await Promise.all([this.#keep(signal), this.#watch(after, signal)]);
  }

  async #watch(after: number, signal: AbortSignal): Promise<void> {
    const { store, project } = this.#deps;
    for await (const _ of store.subscribe(after, { projectId: project.id, types: CHANGES }, signal))
      this.#changed.abort();
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { store, project, clock, onNote } = this.#deps;
    while (!signal.aborted) {
      this.#changed = new AbortController();
      let waitMs = TRY_AGAIN_MS;
      try {
        const isMoreDue = await this.#settle();
        const next = await store.nextDue('question', project.id);
        const untilNext = next === null ? Number.POSITIVE_INFINITY : next - clock.now();
        waitMs = isMoreDue ? 0 : Math.min(Math.max(untilNext, 1), LOOK_AT_LEAST_EVERY_MS);
        // Nothing is open: only a new question changes that.
        if (next === null) waitMs = LOOK_AT_LEAST_EVERY_MS * 60;
      } catch (error) {
        onNote('looking after questions failed; trying again in 5 s', error);
      }
      await clock.sleep(waitMs, either(signal, this.#changed.signal));
    }
  }

  /** Answers whether more is due than was dealt with in one go. */
  async #settle(): Promise<boolean> {
    const { store, project, clock, onNote } = this.#deps;
    const due = await store.records({
      noun: 'question',
      projectId: project.id,
      dueBefore: clock.now(),
      limit: AT_ONCE,
    });
    let settled = 0;
    for (const question of due) {
      const reply = await store.execute({ ...this.#dueCommand(question), projectId: project.id });
      if (reply.ok) settled += 1;
      else onNote(`${question.ref} is due, but: ${reply.refusal.message}`);
    }
    return due.length === AT_ONCE && settled > 0;
  }

  #dueCommand({ taskId, id: questionId, expiresAt }: Question) {
    const isOver = expiresAt !== null && expiresAt <= this.#deps.clock.now();
    return { type: isOver ? ('question.expire' as const) : ('question.remind' as const), taskId, questionId };
  }
}

/** AbortSignal.any, whose followers are only let go by the garbage collector, would add one for every question. */
function either(lasting: AbortSignal, passing: AbortSignal): AbortSignal {
  const both = new AbortController();
  const end = () => {
    lasting.removeEventListener('abort', end);
    both.abort();
  };
  lasting.addEventListener('abort', end, { once: true });
  passing.addEventListener('abort', end, { once: true });
  if (lasting.aborted || passing.aborted) end();
  return both.signal;
}
