import type { LoggedEvent } from '@tidemill/contract';
import { useSyncExternalStore } from 'react';
import { api } from '../../api.ts';
import { complain } from '../../shell/notices.tsx';
import { isTold } from './told.ts';

/** More is not read; the task's own page has all of its past. */
const KEPT = 50;

/** The newest events that are worth a line, newest first. */
class Feed {
  #events: readonly LoggedEvent[] = [];
  #isLoaded = false;
  readonly #listeners = new Set<() => void>();

  clear(): void {
    this.#isLoaded = false;
    this.#change([]);
  }

  async load(project: string): Promise<void> {
    try {
      const events = await api.recentEvents({ project, limit: 4 * KEPT });
      this.#isLoaded = true;
      this.add(events);
    } catch (error) {
      complain(error);
    }
  }

  /** In whatever order: what was read and what came live meanwhile overlap. */
  add(events: LoggedEvent[]): void {
    const known = new Set(this.#events.map(({ seq }) => seq));
    const fresh = events.filter((event) => isTold(event) && !known.has(event.seq));
    if (fresh.length === 0 && this.#isLoaded) return;
    this.#change([...fresh, ...this.#events].sort((a, b) => b.seq - a.seq).slice(0, KEPT));
  }

  #change(events: readonly LoggedEvent[]): void {
    this.#events = events;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly events = () => this.#events;
}

export const feed = new Feed();

export const useFeed = () => useSyncExternalStore(feed.subscribe, feed.events);
