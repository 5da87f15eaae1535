import { type FailureClass, Mode } from '@tidemill/contract';
import { needsPerson, sentence, VENDOR_WAIT_MS } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** A run failure that would also happen to every other task. */
export interface Setback {
  mode: Mode;
  failure: FailureClass;
  message: string;
  retryAt?: number;
}

/** The backoff when the vendor gives no time for a retry. */
const BACKOFF_MS: Partial<Record<FailureClass, number>> = {
  spawn: 30_000,
  rate_limit: 30_000,
  overloaded: 10_000,
  auth: VENDOR_WAIT_MS,
  credit: VENDOR_WAIT_MS,
};

/** Agents that are in backoff. An agent without credit would fail one task after the other. */
export class AgentBackoff {
  readonly #deps: EngineDeps;
  readonly #until = new Map<string, number>();
  /** Agents with an alert since their last successful run. */
  readonly #alerted = new Set<string>();
  /** Agents with a successful run since the start. */
  readonly #working = new Set<string>();

  readonly #onBackoff: (waitMs: number) => void;
  /** Agents in backoff that need help from a person. */
  readonly #needingPerson = new Set<string>();

  constructor(deps: EngineDeps, onBackoff: (waitMs: number) => void) {
    this.#deps = deps;
    this.#onBackoff = onBackoff;
  }

  /** The modes whose agent is in backoff. */
  modes(): Mode[] {
    const now = this.#deps.clock.now();
    for (const [agent, until] of this.#until) if (until <= now) this.#until.delete(agent);
    return this.#until.size === 0 ? [] : Mode.options.filter((mode) => this.#until.has(this.#labelOf(mode)));
  }

  /**
   * Called before the lease is released. Otherwise another slot would claim the task at once, with the same agent. The
   * backoff ends even if the task is cancelled first.
   */
  hold({ mode, failure, retryAt }: Setback): void {
    const waitMs = BACKOFF_MS[failure];
    if (waitMs === undefined) return;
    const agent = this.#labelOf(mode);
    const now = this.#deps.clock.now();
    const until = Math.max(retryAt ?? now + waitMs, this.#until.get(agent) ?? 0);
    this.#until.set(agent, until);
    if (needsPerson(failure)) this.#needingPerson.add(agent);
    else this.#needingPerson.delete(agent);
    // A timer may fire slightly early. The engine would then find the agent still in backoff and not check again.
    if (until > now) this.#onBackoff(until - now + 50);
    this.#deps.onNote(`${agent} is not started for ${Math.ceil((until - now) / 1000)} s: ${failure}`);
  }

  /** True when every agent needs help from a person. */
  get isWaitingForPerson(): boolean {
    const resting = this.modes();
    return (
      resting.length === Mode.options.length && resting.every((mode) => this.#needingPerson.has(this.#labelOf(mode)))
    );
  }

  /** Raises an alert when the agent needs help from a person. */
  async alert(mode: Mode, setback: Setback | null): Promise<void> {
    const agent = this.#labelOf(mode);
    if (!setback) await this.#works(agent);
    else if (needsPerson(setback.failure)) await this.#alertOnce(agent, setback);
  }

  /** Called after a person intervened: the cause may be fixed. */
  clear(): void {
    this.#until.clear();
    this.#needingPerson.clear();
    this.#alerted.clear();
  }

  /** Closes its alerts, also those of an earlier daemon. */
  async #works(agent: string): Promise<void> {
    if (!this.#alerted.delete(agent) && this.#working.has(agent)) return;
    this.#working.add(agent);
    const { store, project } = this.#deps;
    for (const kind of ['agent_auth', 'agent_credit'])
      await store.execute({ type: 'alert.resolve', projectId: project.id, kind, subject: agent });
  }

  /** One alert for all tasks that use the agent. */
  async #alertOnce(agent: string, { failure, message }: Setback): Promise<void> {
    if (this.#alerted.has(agent)) return;
    this.#alerted.add(agent);
    const what = failure === 'auth' ? 'is not logged in' : 'is out of credit';
    const text = `The agent ${agent} ${what}: ${sentence(message)} Fix this, then retry one of its tasks. Until then Tidemill tries the agent again every 15 minutes.`;
    const { store, project } = this.#deps;
    const kind = failure === 'auth' ? 'agent_auth' : 'agent_credit';
    const about = { kind, subject: agent, taskId: null, severity: 'error' } as const;
    await store.execute({ type: 'alert.raise', projectId: project.id, ...about, text });
  }

  #labelOf(mode: Mode): string {
    return this.#deps.agentFor(mode).label;
  }
}
