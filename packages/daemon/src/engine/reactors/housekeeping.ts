import type { OutputKind, Reactor, ReactorCall } from '../../ports.ts';
import {
  type HousekeepingSources,
  type KeptProject,
  surveyEvents,
  surveyFiles,
  surveySnapshots,
} from '../housekeeping/survey.ts';

const DAY_MS = 24 * 60 * 60_000;
/** The start has more urgent work. */
const FIRST_MS = 60_000;
/** What one pass removes at most. The rest follows a minute later. */
const MOST = { files: 2_000, snapshots: 1_000, events: 20_000 };
const AGAIN_MS = 60_000;
const NAMES: Record<OutputKind, string> = { runs: 'run logs', gates: 'gate logs', deliveries: 'delivery logs' };

export interface HousekeepingDeps extends HousekeepingSources {
  /** The projects that this daemon works on now. */
  projects(): readonly KeptProject[];
  onNote(text: string, error?: unknown): void;
}

/** Removes old output, snapshots and superseded events, a minute after the start and then once a day. */
export class Housekeeping implements Reactor {
  readonly name = 'housekeeping';
  readonly projectId = null;
  readonly everyMs = DAY_MS;
  readonly #deps: HousekeepingDeps;

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') return call.tickIn(FIRST_MS);
    if (await this.pass()) call.tickIn(AGAIN_MS);
  }

  /** Returns whether there is more to remove. */
  async pass(): Promise<boolean> {
    const projects = this.#deps.projects();
    const parts: [what: string, remove: () => Promise<boolean>][] = [
      ['run logs', () => this.#files('runs', projects)],
      ['gate logs', () => this.#files('gates', projects)],
      ['delivery logs', () => this.#files('deliveries', projects)],
      ...projects.flatMap((each): [string, () => Promise<boolean>][] => [
        [`snapshots of ${each.project.name}`, () => this.#snapshots(each)],
        [`events of ${each.project.name}`, () => this.#events(each)],
      ]),
    ];
    let isMore = false;
    for (const [what, remove] of parts) {
      try {
        isMore = (await remove()) || isMore;
      } catch (error) {
        // The daemon stops. Its next start goes on.
        if (this.#deps.signal?.aborted) return false;
        // The other parts can still be cleaned up. The next pass tries this one again.
        this.#deps.onNote(`housekeeping could not remove old ${what}`, error);
      }
    }
    return isMore;
  }

  async #files(kind: OutputKind, projects: readonly KeptProject[]): Promise<boolean> {
    const { files, onNote } = this.#deps;
    const { aged, oversized } = await surveyFiles(this.#deps, kind, projects);
    for (const [why, chosen] of [['age', aged] as const, ['size', oversized] as const]) {
      const gone = await files.remove(kind, chosen.slice(0, MOST.files), why);
      const bytes = gone.reduce((sum, file) => sum + file.bytes, 0);
      if (gone.length > 0)
        onNote(`housekeeping removed ${gone.length} ${NAMES[kind]} by ${why}, ${(bytes / 1e6).toFixed(1)} MB`);
    }
    return aged.length > MOST.files || oversized.length > MOST.files;
  }

  async #snapshots(kept: KeptProject): Promise<boolean> {
    const { old } = await surveySnapshots(this.#deps, kept);
    if (old.length === 0) return false;
    const some = old.slice(0, MOST.snapshots);
    await kept.withWorkspace((workspace) => workspace.dropSnapshots(some));
    this.#deps.onNote(`housekeeping removed ${some.length} snapshots of ${kept.project.name} by age`);
    return old.length > some.length;
  }

  async #events(kept: KeptProject): Promise<boolean> {
    const { store, onNote } = this.#deps;
    let gone = 0;
    let isMore = false;
    for await (const seqs of surveyEvents(this.#deps, kept)) {
      if (gone >= MOST.events) {
        isMore = true;
        break;
      }
      gone += await store.removeEvents(seqs);
    }
    if (gone > 0) onNote(`housekeeping removed ${gone} superseded events of ${kept.project.name}`);
    return isMore;
  }
}
