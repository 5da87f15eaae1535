import { type LoggedEvent, shownTo } from '@tidemill/contract';
import { useSyncExternalStore } from 'react';
import { onEvents } from '../../shell/live.ts';

/** The task's page has its whole history. */
const KEPT = 50;

const NONE: readonly LoggedEvent[] = [];

/** The newest events of each project that are worth showing, newest first. */
class Feed {
  readonly #events = new Map<string, readonly LoggedEvent[]>();
  readonly #listeners = new Set<() => void>();

  /** In any order: loaded and live events may overlap. */
  add(project: string, events: LoggedEvent[]): void {
    const before = this.of(project);
    const known = new Set(before.map(({ seq }) => seq));
    const fresh = events.filter((event) => shownTo(event.body) !== 'log' && !known.has(event.seq));
    if (fresh.length === 0) return;
    this.#events.set(project, [...fresh, ...before].sort((a, b) => b.seq - a.seq).slice(0, KEPT));
    for (const listener of this.#listeners) listener();
  }

  of(project: string): readonly LoggedEvent[] {
    return this.#events.get(project) ?? NONE;
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
}

export const feed = new Feed();
onEvents((project, events) => feed.add(project, events));

export const useFeed = (project: string) => useSyncExternalStore(feed.subscribe, () => feed.of(project));
