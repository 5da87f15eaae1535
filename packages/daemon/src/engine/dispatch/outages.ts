import type { Outage, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** How old the answer may be that nothing is in the way: claims come in bursts. */
const FRESH_MS = 1_000;
const LOOK_AGAIN_MS = 2_000;

/**
 * Trouble that no task can go on with: no repository, no target, no space. The project pauses as a whole, so that no task
 * is tried for nothing; a person is told once; and it goes on by itself.
 *
 *   fine ──look finds one──▶ out ──looks every 2 s, until there is none──▶ fine, and `onOver`
 */
export class Outages implements Reactor {
  readonly name = 'outages';
  readonly projectId: string;
  readonly #deps: EngineDeps;
  readonly #signal: AbortSignal;
  readonly #onOver: () => void;
  #current: Outage | null = null;
  #tickIn: (ms: number) => void = () => undefined;
  #fineAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<Outage | null> | null = null;

  constructor(deps: EngineDeps, signal: AbortSignal, onOver: () => void) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#signal = signal;
    this.#onOver = onOver;
  }

  /** What is in the way of everything, if anything is. `isSuspected`: something has just failed. */
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
      // What cannot be looked at is no reason to stop everything: whatever is wrong shows where it is met.
      this.#deps.onNote('it could not be found out whether work is possible', error);
      return null;
    }
  }

  #begin(found: Outage): void {
    const { onNote } = this.#deps;
    this.#current = found;
    onNote(`work pauses: ${found.text}`);
    this.#tell(found).catch((error: unknown) => onNote('a notice could not be recorded', error));
    this.#tickIn(LOOK_AGAIN_MS);
  }

  /** Ticks come only while there is an outage. */
  async handle({ cause, tickIn }: ReactorCall): Promise<void> {
    this.#tickIn = tickIn;
    const begun = this.#current;
    if (!begun) return;
    if (cause === 'start' || (await this.#find(true))) {
      tickIn(LOOK_AGAIN_MS);
      return;
    }
    this.#current = null;
    this.#deps.onNote(`work goes on: ${begun.kind} is over`);
    this.#onOver();
  }

  async #tell({ kind, text }: Outage): Promise<void> {
    const { store, project } = this.#deps;
    const alert = { type: 'alert.raise', projectId: project.id, taskId: null, kind, text } as const;
    await store.execute({ ...alert, severity: 'error' });
  }
}
