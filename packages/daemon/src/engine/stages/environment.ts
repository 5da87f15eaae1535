import type { CleanCheckout, PreparationRequest, Prepared } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** The machine or the target is the cause, not the task. The task waits and is retried automatically. */
export class EnvironmentError extends Error {
  /** What a person has to fix, in two or three words. It identifies the problem. */
  readonly what: string;
  /** An alert was already raised elsewhere. */
  readonly isReported: boolean;
  constructor(what: string, text: string, isReported = false) {
    super(text);
    this.what = what;
    this.isReported = isReported;
  }
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;

/** Computes how long work waits for a broken environment, and raises one alert per problem. */
export class Environment {
  readonly #deps: EngineDeps;
  readonly #waits = new Map<string, { waitMs: number; until: number; message: string }>();
  /** What has worked since the start. */
  readonly #fine = new Set<string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Raises an alert the first time. Returns how long to wait before the next attempt. */
  async report({ what, message, isReported }: EnvironmentError): Promise<number> {
    const now = this.#deps.clock.now();
    const before = this.#waits.get(what);
    // Several tasks may have the same problem at once. They wait for the same attempt.
    if (before && now < before.until) return before.until - now;
    const waitMs = before ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    this.#waits.set(what, { waitMs, until: now + waitMs, message });
    if (!before && !isReported) await this.#alert(what, message);
    return waitMs;
  }

  /** Throws during the wait, because another attempt would fail in the same way. */
  check(what: string): void {
    const wait = this.#waits.get(what);
    if (wait && this.#deps.clock.now() < wait.until) throw new EnvironmentError(what, wait.message);
  }

  /** Called when it works again: the alert is closed, and the next problem of this kind raises one. */
  async clear(what: string): Promise<void> {
    const wasWaiting = this.#waits.delete(what);
    // An earlier daemon may have raised it.
    if (!wasWaiting && this.#fine.has(what)) return;
    this.#fine.add(what);
    const { store, project } = this.#deps;
    await store.execute({ type: 'alert.resolve', projectId: project.id, kind: 'environment', subject: what });
  }

  async #alert(what: string, message: string): Promise<void> {
    const { store, project } = this.#deps;
    const text = `${message}\nThe tasks wait and are retried automatically. This does not count as a failed attempt.`;
    await store.execute({
      type: 'alert.raise',
      projectId: project.id,
      taskId: null,
      kind: 'environment',
      text: text.slice(0, 4000),
      severity: 'error',
      subject: what,
    });
  }
}

export const PREPARE = 'prepare';

/**
 * Prepares a checkout for the gates. Returns the error if the change itself broke it, and throws if the environment
 * did.
 */
export async function prepareCheckout(
  deps: EngineDeps,
  checkout: CleanCheckout,
  request: PreparationRequest,
): Promise<string | null> {
  const prepared: Prepared = (await deps.preparation?.checkout(checkout, request)) ?? { kind: 'ready' };
  if (prepared.kind === 'ready') return null;
  if (prepared.isEnvironment) throw new EnvironmentError(PREPARE, prepared.text);
  return prepared.text;
}
