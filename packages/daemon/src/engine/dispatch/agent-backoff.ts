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

/** Failures of the vendor's account: they happen to every agent that uses it. */
const OF_ACCOUNT: FailureClass[] = ['rate_limit', 'auth', 'credit'];
/** How far back a recorded limit is looked for after a start. Vendors have limits per week. */
const LOOK_BACK_MS = 8 * 24 * 3_600_000;

/** Agents and accounts that are in backoff. An agent without credit would fail one task after the other. */
export class AgentBackoff {
  readonly #deps: EngineDeps;
  /** By label or account. */
  readonly #until = new Map<string, number>();
  /** Limits in a row that came without the vendor's own time, by account. */
  readonly #limited = new Map<string, number>();
  /** Agents with an alert since their last successful run. */
  readonly #alerted = new Set<string>();
  /** Agents with a successful run since the start. */
  readonly #working = new Set<string>();

  readonly #onBackoff: (waitMs: number) => void;
  /** Accounts in backoff that need help from a person. */
  readonly #needingPerson = new Set<string>();

  constructor(deps: EngineDeps, onBackoff: (waitMs: number) => void) {
    this.#deps = deps;
    this.#onBackoff = onBackoff;
  }

  /** The modes whose agent is in backoff. */
  modes(): Mode[] {
    const now = this.#deps.clock.now();
    for (const [agent, until] of this.#until) if (until <= now) this.#until.delete(agent);
    return this.#until.size === 0 ? [] : Mode.options.filter((mode) => this.#heldUntil(mode) !== null);
  }

  /** How long the agent of this mode must not start; 0 when it may. */
  heldMs(mode: Mode): number {
    return Math.max(0, (this.#heldUntil(mode) ?? 0) - this.#deps.clock.now());
  }

  #heldUntil(mode: Mode): number | null {
    const { label, account = label } = this.#deps.agentFor(mode);
    const times = [label, account].flatMap((key) => this.#until.get(key) ?? []);
    return times.length === 0 ? null : Math.max(...times);
  }

  /** A limit that an earlier daemon recorded still holds, until the vendor's time. */
  async restore(): Promise<void> {
    const { store, project, clock } = this.#deps;
    const now = clock.now();
    const ended = await store.runsEnded({ projectId: project.id, after: now - LOOK_BACK_MS });
    const last = new Map(ended.map((run) => [run.agent, run]));
    for (const mode of Mode.options) {
      const run = last.get(this.#labelOf(mode));
      if (run?.failure !== 'rate_limit') continue;
      const until = (await store.run(run.id))?.retryAt ?? 0;
      if (until > now) this.#set(mode, run.failure, until);
    }
  }

  /** What is held: the account, or only the agent that failed. */
  #keyOf(mode: Mode, failure: FailureClass): string {
    const { label, account = label } = this.#deps.agentFor(mode);
    return OF_ACCOUNT.includes(failure) ? account : label;
  }

  #set(mode: Mode, failure: FailureClass, until: number): void {
    const now = this.#deps.clock.now();
    this.#until.set(this.#keyOf(mode, failure), until);
    // A timer may fire slightly early. The engine would then find the agent still in backoff and not check again.
    if (until > now) this.#onBackoff(until - now + 50);
    this.#deps.onNote(`${this.#labelOf(mode)} is not started for ${Math.ceil((until - now) / 1000)} s: ${failure}`);
  }

  /**
   * Called before the lease is released. Otherwise another slot would claim the task at once, with the same agent. The
   * backoff ends even if the task is cancelled first.
   */
  hold({ mode, failure, retryAt }: Setback): void {
    const waitMs = BACKOFF_MS[failure];
    if (waitMs === undefined) return;
    const key = this.#keyOf(mode, failure);
    const now = this.#deps.clock.now();
    // A vendor that names no time is asked less and less often.
    const count = failure === 'rate_limit' && retryAt === undefined ? (this.#limited.get(key) ?? 0) + 1 : 1;
    this.#limited.set(key, count);
    const ownMs = Math.min(waitMs * 4 ** (count - 1), VENDOR_WAIT_MS);
    this.#set(mode, failure, Math.max(retryAt ?? now + ownMs, this.#until.get(key) ?? 0));
    if (needsPerson(failure)) this.#needingPerson.add(key);
    else this.#needingPerson.delete(key);
  }

  /** True when every agent needs help from a person. */
  get isWaitingForPerson(): boolean {
    const resting = this.modes();
    return (
      resting.length === Mode.options.length &&
      resting.every((mode) => this.#needingPerson.has(this.#keyOf(mode, 'auth')))
    );
  }

  /** Raises an alert when the agent needs help from a person. */
  async alert(mode: Mode, setback: Setback | null): Promise<void> {
    const agent = this.#labelOf(mode);
    if (!setback) this.#limited.delete(this.#keyOf(mode, 'rate_limit'));
    if (!setback) await this.#works(agent);
    else if (needsPerson(setback.failure)) await this.#alertOnce(agent, setback);
  }

  /** Called after a person intervened: the cause may be fixed. */
  clear(): void {
    this.#until.clear();
    this.#limited.clear();
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
