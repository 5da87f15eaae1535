import { type FailureClass, Mode } from '@tidemill/contract';
import { needsPerson, sentence, VENDOR_WAIT_MS } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** A run that failed for a reason every other task would meet as well. */
export interface Setback {
  mode: Mode;
  failure: FailureClass;
  message: string;
  retryAt?: number;
}

/** How long an agent rests when nobody said from when on it would answer again. */
const REST_MS: Partial<Record<FailureClass, number>> = {
  spawn: 30_000,
  rate_limit: 30_000,
  overloaded: 10_000,
  auth: VENDOR_WAIT_MS,
  credit: VENDOR_WAIT_MS,
};

/** Which agents are not worth asking now: one that is out of credit would fail every task in turn. */
export class Rests {
  readonly #deps: EngineDeps;
  readonly #until = new Map<string, number>();
  /** Told to a person already, until the agent has worked again. */
  readonly #told = new Set<string>();

  readonly #onRest: (restMs: number) => void;
  /** Agents among the resting whom only a person can help. */
  readonly #needy = new Set<string>();

  constructor(deps: EngineDeps, onRest: (restMs: number) => void) {
    this.#deps = deps;
    this.#onRest = onRest;
  }

  /** The modes whose agent rests. */
  modes(): Mode[] {
    const now = this.#deps.clock.now();
    for (const [agent, until] of this.#until) if (until <= now) this.#until.delete(agent);
    return this.#until.size === 0 ? [] : Mode.options.filter((mode) => this.#until.has(this.#labelOf(mode)));
  }

  /**
   * Called before the task is given back: else another slot would take it up with the same agent at once. The task may
   * be gone before it is given back (cancelled meanwhile), but the rest ends all the same.
   */
  hold({ mode, failure, retryAt }: Setback): void {
    const rest = REST_MS[failure];
    if (rest === undefined) return;
    const agent = this.#labelOf(mode);
    const now = this.#deps.clock.now();
    const until = Math.max(retryAt ?? now + rest, this.#until.get(agent) ?? 0);
    this.#until.set(agent, until);
    if (needsPerson(failure)) this.#needy.add(agent);
    else this.#needy.delete(agent);
    // A timer may come a moment early; woken then, nobody would look again.
    if (until > now) this.#onRest(until - now + 50);
    this.#deps.onNote(`${agent} rests for ${Math.ceil((until - now) / 1000)} s: ${failure}`);
  }

  /** Nothing that an agent does can go on until a person has helped. */
  get isWaitingForPerson(): boolean {
    const resting = this.modes();
    return resting.length === Mode.options.length && resting.every((mode) => this.#needy.has(this.#labelOf(mode)));
  }

  /** Tells a person where only they can help. */
  async tell(mode: Mode, setback: Setback | null): Promise<void> {
    const agent = this.#labelOf(mode);
    if (!setback) this.#told.delete(agent);
    else if (needsPerson(setback.failure)) await this.#tellOnce(agent, setback);
  }

  /** A person stepped in: what was in the way may be gone. */
  clear(): void {
    this.#until.clear();
    this.#needy.clear();
    this.#told.clear();
  }

  /** For all the tasks it stops together. */
  async #tellOnce(agent: string, { failure, message }: Setback): Promise<void> {
    if (this.#told.has(agent)) return;
    this.#told.add(agent);
    const what = failure === 'auth' ? 'is not logged in' : 'is out of credit';
    const text = `The agent ${agent} ${what}: ${sentence(message)} Put it right, then retry one of its tasks; until then it is tried again every quarter of an hour.`;
    const { store, project } = this.#deps;
    await store.execute({ type: 'alert.raise', projectId: project.id, taskId: null, kind: `agent_${failure}`, text });
  }

  #labelOf(mode: Mode): string {
    return this.#deps.agentFor(mode).label;
  }
}
