import type { Outage, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { StandingAlerts } from '../reactors/standing-alerts.ts';

/** How long "no outage" stays valid: claims come in bursts. */
const FRESH_MS = 1_000;
const LOOK_AGAIN_MS = 2_000;

/**
 * Problems that stop every task: no repository, no target branch, no disk space. The whole project pauses, one alert is
 * raised, and work resumes when the problem is gone.
 *
 *   fine ──outage found──▶ paused ──checks every 2 s until it is over──▶ fine, `onOver`
 */
export class Outages implements Reactor {
  readonly name = 'outages';
  readonly projectId: string;
  readonly #deps: EngineDeps;
  readonly #signal: AbortSignal;
  readonly #onOver: () => void;
  #current: Outage | null = null;
  readonly #alerts: StandingAlerts;
  #telling: Promise<void> = Promise.resolve();
  #tickIn: (ms: number) => void = () => undefined;
  #fineAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<Outage | null> | null = null;

  constructor(deps: EngineDeps, signal: AbortSignal, onOver: () => void) {
    this.#deps = deps;
    this.#alerts = new StandingAlerts(deps, ['disk_full', 'repository_gone', 'target_gone', 'taken_over']);
    this.projectId = deps.project.id;
    this.#signal = signal;
    this.#onOver = onOver;
  }

  /** Returns the current outage, if any. `isSuspected`: something has just failed. */
  async look(isSuspected = false): Promise<Outage | null> {
    if (this.#current) return this.#current;
    if (!isSuspected && this.#deps.clock.now() - this.#fineAt < FRESH_MS) return null;
    this.#looking ??= this.#find(isSuspected).finally(() => {
      this.#looking = null;
    });
    const found = await this.#looking;
    if (found && !this.#current && !this.#signal.aborted) this.#begin(found);
    return found;
  }

  async #find(isSuspected: boolean): Promise<Outage | null> {
    try {
      const found = await this.#deps.workspace.outage(isSuspected);
      if (!found) this.#fineAt = this.#deps.clock.now();
      return found;
    } catch (error) {
      // A failed check does not stop the project. A real problem shows in the step that meets it.
      this.#deps.onNote('the check for outages failed', error);
      return null;
    }
  }

  #begin(found: Outage): void {
    const { onNote } = this.#deps;
    this.#current = found;
    onNote(`work is paused: ${found.text}`);
    this.#tell(found);
    this.#tickIn(LOOK_AGAIN_MS);
  }

  /** There are ticks only during an outage. */
  async handle({ cause, tickIn }: ReactorCall): Promise<void> {
    this.#tickIn = tickIn;
    const begun = this.#current;
    // An earlier daemon may have ended during an outage.
    if (!begun && cause === 'start' && !(await this.look())) this.#tell(null);
    if (!begun) return;
    if (cause === 'start' || (await this.#find(true))) {
      tickIn(LOOK_AGAIN_MS);
      return;
    }
    this.#current = null;
    this.#tell(null);
    this.#deps.onNote(`work resumes: ${begun.kind} is over`);
    this.#onOver();
  }

  #tell(outage: Outage | null): void {
    const found = outage ? [{ ...outage, subject: '', severity: 'error' as const }] : [];
    this.#telling = this.#telling
      .then(() => this.#alerts.settle(found))
      .catch((error: unknown) => this.#deps.onNote('an alert about an outage could not be recorded', error));
  }
}
