import type { LoggedEvent, Task, Usage } from '@tidemill/contract';
import type { Store } from '../../packages/daemon/src/ports.ts';

const QUIET_MS = 5 * 60_000;
const DAY = 86_400_000;

type Break = (invariant: string, detail: string) => void;

/** Named invariants about questions, money and alerts, from the log alone. */
export class PeopleInvariants {
  readonly #break: Break;
  /** Open questions that hold a task, by task. */
  readonly #holding = new Map<string, Set<string>>();
  readonly #costs = new Map<string, number>();
  readonly #spent = new Map<number, number>();
  readonly #alerts = new Map<string, number>();
  #day = 0;
  /** Read from the project's settings as they change. */
  dailyUsd = Number.POSITIVE_INFINITY;
  /** The most expensive request so far: its price is unknown before it is made. */
  dearestUsd = 0;

  constructor(onBreak: Break) {
    this.#break = onBreak;
  }

  committed({ at, body }: LoggedEvent): void {
    switch (body.type) {
      case 'question.asked':
        if (body.question.holds && body.taskId) this.#leased(body.taskId).add(body.question.id);
        return;
      case 'question.answered':
      case 'question.closed':
        if (body.taskId) this.#leased(body.taskId).delete(body.questionId);
        return;
      case 'task.parked':
        if (this.#leased(body.taskId).size === 0)
          this.#break('no task is parked without a question', `${body.taskId} has no open question`);
        return;
      case 'task.moved':
        if (body.from === 'needs_info' && body.because === 'answered' && this.#leased(body.taskId).size > 0)
          this.#break('a task continues when all of its questions are answered', `${body.taskId} continued too early`);
        return;
      case 'run.spent':
      case 'run.finished':
        this.#book(at, body.runId, body.usage);
        return;
      case 'task.counters_reset':
        // A person has dealt with what was reported about the task. What happens next is news.
        for (const key of this.#alerts.keys()) if (key.endsWith(` ${body.taskId}`)) this.#alerts.delete(key);
        return;
      case 'alert.raised':
        this.#alert(at, `${body.kind} ${body.subject}`);
        return;
      default:
        return;
    }
  }

  async atEnd(store: Store, tasks: Task[]): Promise<void> {
    for (const task of tasks.filter(({ stage }) => stage === 'needs_info')) {
      const open = await store.records({ noun: 'question', parent: task.id, isOpen: true });
      if (!open.some(({ holds }) => holds))
        this.#break('no task is lost in needs_info', `#${task.number} waits without an open question`);
    }
  }

  #leased(taskId: string): Set<string> {
    const leased = this.#holding.get(taskId) ?? new Set();
    this.#holding.set(taskId, leased);
    return leased;
  }

  /** One request may be running when the limit is reached: it is paid for, and no further one starts. */
  #book(at: number, runId: string, usage: Usage): void {
    const cost = usage.costUsd ?? 0;
    const more = cost - (this.#costs.get(runId) ?? 0);
    if (more <= 0) return;
    this.#costs.set(runId, cost);
    // A clock that is set back does not start yesterday again.
    this.#day = Math.max(this.#day, Math.floor(at / DAY));
    const spent = (this.#spent.get(this.#day) ?? 0) + more;
    this.#spent.set(this.#day, spent);
    const most = this.dailyUsd + this.dearestUsd;
    if (spent > most + 1e-9)
      this.#break('no overspend beyond a running request', `${spent.toFixed(2)} of ${this.dailyUsd} USD`);
  }

  #alert(at: number, key: string): void {
    const last = this.#alerts.get(key);
    this.#alerts.set(key, at);
    if (last !== undefined && at >= last && at - last < QUIET_MS)
      this.#break('no alert storm', `${key} was raised twice within ${Math.round((at - last) / 1000)} s`);
  }
}
