import { AppError, type Task, type TrackerView } from '@tidemill/contract';
import type { ReactorHandle, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { TrackerPublish } from '../reactors/tracker-publish.ts';
import { TrackerSync } from '../reactors/tracker-sync.ts';
import { TrackerLink } from './link.ts';

/** Work begins after this time, whatever the tracker does. */
const CLAIM_MS = 15_000;

/** What requests may ask of a project's tracker. */
export interface TrackerWork {
  state(): Pick<TrackerView, 'name' | 'url' | 'isFollowed' | 'syncedAt' | 'trouble'>;
  /** Reads it now. Throws what is wrong. */
  sync(): Promise<void>;
  /** Something may have changed there: it is read soon. */
  wake(): void;
}

/** The tracker of a running engine. */
export class EngineTracker implements TrackerWork {
  readonly #deps: EngineDeps;
  readonly #link: TrackerLink;
  readonly #sync: TrackerSync;
  readonly #publish: TrackerPublish;
  #handle: ReactorHandle | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#link = new TrackerLink(deps);
    this.#sync = new TrackerSync(deps, this.#link);
    this.#publish = new TrackerPublish(deps, this.#link);
  }

  reactors(): RoutedReactor[] {
    return [this.#sync, this.#publish];
  }

  stop(): void {
    this.#link.stop();
  }

  /** The handle of the reader, once it runs. */
  running(handles: readonly ReactorHandle[], reactors: readonly RoutedReactor[]): void {
    this.#handle = handles[reactors.indexOf(this.#sync)] ?? null;
  }

  state(): ReturnType<TrackerWork['state']> {
    const { followed, syncedAt, trouble } = this.#link;
    if (!followed) return { name: null, url: null, isFollowed: false, syncedAt: null, trouble: null };
    const { name, url } = followed.tracker;
    return { name, url, isFollowed: true, syncedAt, trouble };
  }

  async sync(): Promise<void> {
    if (!this.#link.followed)
      throw new AppError('bad_config', 'no tracker is configured', { hint: 'See docs/tracker.md: add `tracker`.' });
    const wasRead = await this.#sync.read(true);
    if (!wasRead)
      throw new AppError('tracker_failed', this.#link.trouble ?? 'the tracker cannot be used now', { retriable: true });
  }

  wake(): void {
    this.#handle?.wake();
  }

  /**
   * Before the first agent of an item's task: writes the comment that claims it, and reads what people wrote. Work does not wait
   * for a tracker that is slow or in trouble. Returns the task as it is then.
   */
  async claim(task: Task): Promise<Task> {
    if (task.origin?.kind !== 'tracker' || Object.keys(task.runs).length > 0 || !this.#link.followed) return task;
    const { clock, onNote, store } = this.#deps;
    let isInTime = true;
    const written = this.#publish
      .claim(task.id)
      .then(() => this.#sync.readFirst(task.id, () => isInTime))
      .catch((error: unknown) => onNote(`#${task.number} could not be claimed at the tracker`, error));
    const isOver = new AbortController();
    await Promise.race([written.finally(() => isOver.abort()), clock.sleep(CLAIM_MS, isOver.signal)]);
    isInTime = false;
    const now = await store.task(task.id);
    return now?.lease?.token === task.lease?.token ? (now ?? task) : task;
  }
}
