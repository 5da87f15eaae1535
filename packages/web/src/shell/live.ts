import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type LoggedEvent, type StreamMessage, staleAfter, type TaskSummary } from '@tidemill/contract';
import { openStream, type Stream, type StreamState } from '@tidemill/contract/stream';
import { useEffect, useRef, useState } from 'react';
import { api } from '../api.ts';

export type Liveness = StreamState;

/** Data other than the status is refreshed at most this often. */
const REFRESH_MS = 1000;

type Listener<T> = (value: T) => void;
type ProjectListener = (project: string, events: LoggedEvent[]) => void;
const projectListeners = new Set<ProjectListener>();
const eventListeners = new Set<Listener<LoggedEvent[]>>();
const taskListeners = new Set<Listener<TaskSummary[]>>();
const logListeners = new Map<string, Set<Listener<Extract<StreamMessage, { type: 'log' }>>>>();
let stream: Stream | null = null;

/** Follows the project while the page is open and keeps the data up to date. */
export function useLive(project: string | undefined): Liveness {
  const cache = useQueryClient();
  const [state, setState] = useState<Liveness>('connecting');
  useEffect(() => {
    if (project === undefined) return;
    const refresh = refresher(cache);
    stream = openStream({
      url: location.origin,
      api,
      subscribe: { project, views: true },
      onState: (next) => {
        setState(next);
        // Refresh what changed while the connection was down.
        if (next === 'live') void cache.invalidateQueries({}, { cancelRefetch: false });
      },
      onMessage: (message) => take(message, project, cache, refresh),
    });
    for (const run of logListeners.keys()) stream.follow(run, 0);
    return () => {
      stream?.close();
      stream = null;
    };
  }, [project, cache]);
  return state;
}

function take(message: StreamMessage, project: string, cache: QueryClient, refresh: (keys: string[]) => void): void {
  switch (message.type) {
    case 'status':
      cache.setQueryData(['status', message.status.project.id], message.status);
      return;
    case 'tasks':
      for (const { id, number, title } of message.tasks) cache.setQueryData(['task-name', id], { number, title });
      for (const listener of taskListeners) listener(message.tasks);
      return;
    case 'events': {
      for (const listener of projectListeners) listener(project, message.events);
      for (const listener of eventListeners) listener(message.events);
      refresh([...new Set(message.events.flatMap(({ body }) => staleAfter(body.type)))]);
      return;
    }
    case 'log':
      for (const listener of logListeners.get(message.run) ?? []) listener(message);
  }
}

/** For listeners that live as long as the page. */
export const onEvents = (listener: ProjectListener) => void projectListeners.add(listener);

function useLatest<T>(value: T) {
  const latest = useRef(value);
  latest.current = value;
  return latest;
}

/** Calls `listener` with changed tasks. */
export function useTaskChanges(listener: Listener<TaskSummary[]>): void {
  const latest = useLatest(listener);
  useEffect(() => {
    const own: Listener<TaskSummary[]> = (tasks) => latest.current(tasks);
    taskListeners.add(own);
    return () => void taskListeners.delete(own);
  }, [latest]);
}

export function useEvents(listener: Listener<LoggedEvent[]>): void {
  const latest = useLatest(listener);
  useEffect(() => {
    const own: Listener<LoggedEvent[]> = (events) => latest.current(events);
    eventListeners.add(own);
    return () => void eventListeners.delete(own);
  }, [latest]);
}

/** Follows a run's output from `offset` on; null follows none. */
export function useRunOutput(
  run: string | null,
  offset: number,
  listener: Listener<{ text: string; isOver: boolean }>,
): void {
  const latest = useLatest(listener);
  useEffect(() => {
    if (run === null) return;
    const own: Listener<Extract<StreamMessage, { type: 'log' }>> = ({ chunk, isOver }) =>
      latest.current({ text: chunk.text, isOver });
    const all = logListeners.get(run) ?? new Set();
    logListeners.set(run, all.add(own));
    stream?.follow(run, offset);
    return () => {
      all.delete(own);
      if (all.size > 0) return;
      logListeners.delete(run);
      stream?.unfollow(run);
    };
  }, [run, offset, latest]);
}

/** Runs one refresh at a time and collects further keys for the next one. */
function refresher(cache: QueryClient): (keys: string[]) => void {
  const due = new Set<string>();
  let isBusy = false;
  return async (keys) => {
    for (const key of keys) due.add(key);
    if (isBusy) return;
    isBusy = true;
    while (due.size > 0) {
      const now = [...due];
      due.clear();
      await Promise.all(now.map((key) => cache.invalidateQueries({ queryKey: [key] })));
      await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    }
    isBusy = false;
  };
}
