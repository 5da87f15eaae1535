import { type Question, REACTORS } from '@tidemill/contract';
import type { OwnWrites, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** A clock change is noticed within this time. */
const LOOK_AT_LEAST_EVERY_MS = 60_000;
const LONG_MS = 24 * 3_600_000;
const TRY_AGAIN_MS = 5_000;
const AT_ONCE = 100;
const CHANGES = REACTORS['question-times'].on;

/**
 *   question on record ──▶ sleep until the first is due ──▶ expire or remind ──▶ sleep …
 * Every change of a question wakes it. It does nothing while no question is open.
 */
export class QuestionTimes implements Reactor {
  readonly name = 'question-times';
  readonly projectId: string;
  readonly on = CHANGES;
  readonly everyMs = LOOK_AT_LEAST_EVERY_MS;
  readonly atOnce = AT_ONCE;
  readonly own: OwnWrites;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.own = deps.reactors.watchWrites(deps.store, CHANGES);
  }

  async handle({ tickIn }: ReactorCall): Promise<void> {
    await this.#settle();
    tickIn(await this.#untilNext());
  }

  async #untilNext(): Promise<number> {
    const { store, project, clock } = this.#deps;
    const next = await store.nextDue('question', project.id);
    // No question is open. A new one wakes the reactor.
    if (next === null) return LONG_MS;
    const inMs = next - clock.now();
    return inMs <= 0 ? TRY_AGAIN_MS : Math.min(inMs, LOOK_AT_LEAST_EVERY_MS);
  }

  async #settle(): Promise<void> {
    const { project, clock, onNote } = this.#deps;
    const { store } = this.own;
    for (let settled = AT_ONCE; settled === AT_ONCE; ) {
      const now = clock.now();
      const due = await store.records({ noun: 'question', projectId: project.id, dueBefore: now, limit: AT_ONCE });
      settled = 0;
      for (const question of due) {
        const reply = await store.execute({ ...dueCommand(question, now), projectId: project.id });
        if (reply.ok) settled += 1;
        else onNote(`${question.ref} is due but could not be settled: ${reply.refusal.message}`);
      }
    }
  }
}

function dueCommand({ taskId, subjectId, id: questionId, expiresAt }: Question, now: number) {
  const isOver = expiresAt !== null && expiresAt <= now;
  return { type: isOver ? ('question.expire' as const) : ('question.remind' as const), taskId, subjectId, questionId };
}
