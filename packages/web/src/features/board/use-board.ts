import type { ProjectStatus } from '@tidemill/contract';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTaskChanges } from '../../shell/live.ts';
import { useShown } from '../../shell/project.tsx';
import { BoardStore, type ColumnView } from './board-store.ts';

/** Counts and tasks come in separate messages, so only a lasting difference counts. */
const DIFFERS_MS = 1500;

/** The project's tasks that match `search`, kept up to date while the page is open. */
export function useBoard(search: string): BoardStore {
  const { project, status, connection } = useShown();
  const [store, setStore] = useState(() => new BoardStore(project.id, search));
  const of = useRef({ id: project.id, search });
  useEffect(() => {
    const { id, search: before } = of.current;
    if (id === project.id && before === search) return;
    of.current = { id: project.id, search };
    const next = new BoardStore(project.id, search);
    if (id === project.id) next.seed(store);
    setStore(next);
  }, [project.id, search, store]);
  useEffect(() => () => store.close(), [store]);
  useTaskChanges((tasks) => store.take(tasks));
  useMissed(store, connection === 'live');
  useCounts(store, search === '' ? status.tasks : null);
  return store;
}

export const useColumn = (store: BoardStore, stage: string): ColumnView =>
  useSyncExternalStore(store.subscribe, () => store.view(stage));

/** Reloads the columns when the live connection comes back. */
function useMissed(store: BoardStore, isLive: boolean): void {
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) for (const stage of store.stages()) void store.again(stage);
    wasLive.current = isLive;
  }, [store, isLive]);
}

/** Reloads a column whose length keeps differing from the daemon's count. */
function useCounts(store: BoardStore, counts: ProjectStatus['tasks'] | null): void {
  const latest = useRef(counts);
  latest.current = counts;
  useEffect(() => {
    let before = new Map<string, number>();
    const timer = setInterval(() => {
      const now = latest.current ? differences(store, latest.current) : new Map<string, number>();
      for (const [stage, by] of now) if (before.get(stage) === by) void store.again(stage);
      before = now;
    }, DIFFERS_MS);
    return () => clearInterval(timer);
  }, [store]);
}

function differences(store: BoardStore, counts: ProjectStatus['tasks']): Map<string, number> {
  const found = new Map<string, number>();
  for (const stage of store.stages()) {
    const { tasks, isRead, hasMore } = store.view(stage);
    const by = tasks.length - (counts[stage] ?? 0);
    if (isRead && (hasMore ? by >= 0 : by !== 0)) found.set(stage, by);
  }
  return found;
}
