import type { EndedRun, Mode } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';

/** How far back runs are compared with. */
const HISTORY_MS = 30 * 24 * 3_600_000;
/** The newest runs of a mode that count, and how many are needed to call something usual. */
const MOST_RUNS = 20;
const LEAST_RUNS = 3;

type Deps = Pick<EngineDeps, 'store' | 'clock' | 'onNote'> & { project: { id: string } };

/** How long successful runs of a project usually take, by their mode. Reads each run once. */
export class UsualTimes {
  readonly #deps: Deps;
  readonly #lately = new Map<Mode, { id: string; ms: number }[]>();
  #endedAt = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The median of the last successful runs, or null when there were too few. */
  async of(mode: Mode): Promise<number | null> {
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch((error: unknown) => this.#deps.onNote('the usual time of runs could not be read', error));
    await this.#reading;
    const times = (this.#lately.get(mode) ?? []).map(({ ms }) => ms).sort((one, other) => one - other);
    if (times.length < LEAST_RUNS) return null;
    const middle = Math.floor(times.length / 2);
    return times.length % 2 === 1 ? times[middle]! : Math.round((times[middle - 1]! + times[middle]!) / 2);
  }

  async #read(): Promise<void> {
    // Several runs may end in the same millisecond, so the last one is read again.
    const { store, project, clock } = this.#deps;
    const after = Math.max(this.#endedAt - 1, clock.now() - HISTORY_MS);
    const ended = await store.runsEnded({ projectId: project.id, after });
    for (const run of ended) {
      this.#endedAt = Math.max(this.#endedAt, run.endedAt);
      const known = this.#lately.get(run.mode) ?? [];
      if (!isSuccess(run) || known.some(({ id }) => id === run.id)) continue;
      this.#lately.set(run.mode, [...known, { id: run.id, ms: run.endedAt - run.startedAt }].slice(-MOST_RUNS));
    }
  }
}

const isSuccess = ({ outcome, failure }: EndedRun) =>
  failure === null && outcome !== null && !['failed', 'interrupted', 'needs_info'].includes(outcome);
