import type { CleanCheckout, PreparationRequest, Prepared } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** The machine or the target is at fault, and no task: it waits and is tried again by itself. */
export class EnvironmentTrouble extends Error {
  /** What a person has to put right, in two or three words: the same words are the same trouble. */
  readonly what: string;
  /** A person has been told of it in other words. */
  readonly isTold: boolean;
  constructor(what: string, text: string, isTold = false) {
    super(text);
    this.what = what;
    this.isTold = isTold;
  }
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;

/** How long work waits for its surroundings, and that a person is told once of each trouble. */
export class Environment {
  readonly #deps: EngineDeps;
  readonly #waits = new Map<string, { waitMs: number; until: number; message: string }>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Tells a person the first time; answers how long to wait before the next try. */
  async report({ what, message, isTold }: EnvironmentTrouble): Promise<number> {
    const now = this.#deps.clock.now();
    const before = this.#waits.get(what);
    // Several tasks meet the same trouble at the same time: they wait for the same try.
    if (before && now < before.until) return before.until - now;
    const waitMs = before ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    this.#waits.set(what, { waitMs, until: now + waitMs, message });
    if (!before && !isTold) await this.#tell(what, message);
    return waitMs;
  }

  /** Throws while nobody should try: what failed a moment ago fails for everybody. */
  check(what: string): void {
    const wait = this.#waits.get(what);
    if (wait && this.#deps.clock.now() < wait.until) throw new EnvironmentTrouble(what, wait.message);
  }

  /** It works again: the next trouble of this kind is news. */
  clear(what: string): void {
    this.#waits.delete(what);
  }

  async #tell(what: string, message: string): Promise<void> {
    const { store, project } = this.#deps;
    const text = `${message}\nTasks wait and are tried again by themselves. Nothing was counted against them.`;
    await store.execute({
      ...{ type: 'alert.raise', projectId: project.id, taskId: null, kind: 'environment' },
      ...{ text: text.slice(0, 4000), severity: 'error', subject: what },
    });
  }
}

export const PREPARE = 'prepare';

/** Makes a checkout ready for gates. Answers what the change itself broke, if it did; throws when the environment did. */
export async function prepareCheckout(
  deps: EngineDeps,
  checkout: CleanCheckout,
  request: PreparationRequest,
): Promise<string | null> {
  const prepared: Prepared = (await deps.preparation?.checkout(checkout, request)) ?? { kind: 'ready' };
  if (prepared.kind === 'ready') return null;
  if (prepared.isEnvironment) throw new EnvironmentTrouble(PREPARE, prepared.text);
  return prepared.text;
}
