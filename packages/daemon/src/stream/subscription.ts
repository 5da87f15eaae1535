import { setImmediate } from 'node:timers/promises';
import type { EventFilter, Store } from '../ports.ts';
import type { BoundedSender } from './bounded-sender.ts';
import type { StreamLimits } from './limits.ts';
import { PageSize } from './page-size.ts';
import { eventsMessage, isWanted, type Line, type LogTail, lineOf } from './tail.ts';
import { changedTask, type ProjectViews, type Viewer, type Views } from './views.ts';

export interface SubscriptionOptions {
  store: Store;
  tail: LogTail;
  outlet: BoundedSender;
  limits: StreamLimits;
  filter: EventFilter;
  cursor: number;
  /** Given when the state of the project is wanted too. */
  views: { all: Views; projectId: string } | null;
  onError(error: unknown): void;
}

/**
 * One reader of the log with its position. It gets all events after its position in order, from the tail or, if it is
 * further back, from the log itself. So no event is skipped or repeated.
 */
export class Subscription implements Viewer {
  readonly outlet: BoundedSender;
  readonly missed = new Set<string>();
  missesStatus = false;
  #views: ProjectViews | null = null;
  readonly #options: SubscriptionOptions;
  #cursor: number;
  #isLive = false;
  #isReading = false;
  #isToldBehind = false;
  #isOver = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.outlet = options.outlet;
    this.#cursor = options.cursor;
  }

  get cursor(): number {
    return this.#cursor;
  }

  start(): void {
    const { views } = this.#options;
    this.#views = views?.all.join(views.projectId, this) ?? null;
    this.advance();
  }
  end(): void {
    this.#isOver = true;
    const { views } = this.#options;
    views?.all.leave(views.projectId, this);
  }

  /** Sends events up to the head, or until the connection is full. */
  advance(): void {
    const { tail, outlet, filter } = this.#options;
    while (!this.#isOver && !this.#isReading && outlet.isOpen) {
      if (this.#cursor >= tail.position) {
        this.#arrive();
        return;
      }
      if (outlet.isFull) {
        this.#fallBehind();
        return;
      }
      if (!tail.reaches(this.#cursor)) {
        void this.#catchUp();
        return;
      }
      const step = tail.step(this.#cursor, filter);
      if (!this.#isLive) this.#miss(step.lines);
      this.#cursor = step.cursor;
      if (step.message) outlet.send(step.message);
    }
  }

  #arrive(): void {
    if (this.#isToldBehind) this.outlet.send({ type: 'behind', events: 0 });
    this.#isToldBehind = false;
    this.#isLive = true;
    if (this.outlet.isFull || (this.missed.size === 0 && !this.missesStatus)) return;
    this.#views?.repair(this).catch(this.#options.onError);
  }

  #fallBehind(): void {
    this.#isLive = false;
    this.#isToldBehind = true;
    this.outlet.send({ type: 'behind', events: this.#options.tail.position - this.#cursor });
  }

  /** Reads from the log page by page, and lets other work run in between. */
  async #catchUp(): Promise<void> {
    const { store, tail, outlet, filter, limits, views, onError } = this.#options;
    this.#isReading = true;
    this.#isLive = false;
    try {
      // The views need every change, also filtered ones.
      const size = new PageSize(limits.page);
      const wide = views ? { projectId: views.projectId } : filter;
      while (!this.#isOver && outlet.isOpen && !outlet.isFull && !tail.reaches(this.#cursor)) {
        const upTo = tail.position;
        const limit = size.events;
        const events = await store.events({ ...wide, after: this.#cursor, upTo, limit });
        if (this.#isOver) return;
        const lines = events.map(lineOf);
        size.weigh(lines);
        this.#miss(lines);
        this.#cursor = events.length < limit ? upTo : events.at(-1)!.seq;
        const wanted = views ? lines.filter((line) => isWanted(line, filter)) : lines;
        if (wanted.length > 0) outlet.send(eventsMessage(this.#cursor, wanted));
        await setImmediate();
      }
    } catch (error) {
      this.#isOver = true;
      onError(error);
      return;
    } finally {
      this.#isReading = false;
    }
    this.advance();
  }

  #miss(lines: Line[]): void {
    const { views } = this.#options;
    if (!views) return;
    for (const line of lines) {
      const id = line.projectId === views.projectId ? changedTask(line) : null;
      if (id !== null) this.missed.add(id);
    }
  }
}
