import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type LoggedEvent, type StreamMessage, staleAfter, type TaskSummary } from '@tidemill/contract';
import { openStream, type Stream, type StreamState } from '@tidemill/contract/stream';
import { useEffect, useRef, useState } from 'react';
import { api } from '../api.ts';

export type Liveness = StreamState;

/** What is shown beside the status is read anew at most this often, however many events there are. */
const REFRESH_MS = 1000;

type Hear<T> = (value: T) => void;
type HearProject = (project: string, events: LoggedEvent[]) => void;
const projectListeners = new Set<HearProject>();
const eventListeners = new Set<Hear<LoggedEvent[]>>();
const taskListeners = new Set<Hear<TaskSummary[]>>();
const logListeners = new Map<string, Set<Hear<Extract<StreamMessage, { type: 'log' }>>>>();
let stream: Stream | null = null;

/** Follows the project while the page is open, and keeps what is shown true. */
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
        // Whatever was missed while nobody listened.
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
      for (const hear of taskListeners) hear(message.tasks);
      return;
    case 'events': {
      for (const hear of projectListeners) hear(project, message.events);
      for (const hear of eventListeners) hear(message.events);
      refresh([...new Set(message.events.flatMap(({ body }) => staleAfter(body.type)))]);
      return;
    }
    case 'log':
      for (const hear of logListeners.get(message.run) ?? []) hear(message);
  }
}

/** For what lives as long as the page does. */
export const onEvents = (hear: HearProject) => void projectListeners.add(hear);

function useLatest<T>(value: T) {
  const latest = useRef(value);
  latest.current = value;
  return latest;
}

/** Tasks as they change. */
export function useTaskChanges(hear: Hear<TaskSummary[]>): void {
  const latest = useLatest(hear);
  useEffect(() => {
    const own: Hear<TaskSummary[]> = (tasks) => latest.current(tasks);
    taskListeners.add(own);
    return () => void taskListeners.delete(own);
  }, [latest]);
}

export function useEvents(hear: Hear<LoggedEvent[]>): void {
  const latest = useLatest(hear);
  useEffect(() => {
    const own: Hear<LoggedEvent[]> = (events) => latest.current(events);
    eventListeners.add(own);
    return () => void eventListeners.delete(own);
  }, [latest]);
}

/** A run's output from `offset` on, as it comes; null follows none. */
export function useRunOutput(run: string | null, offset: number, hear: Hear<{ text: string; isOver: boolean }>): void {
  const latest = useLatest(hear);
  useEffect(() => {
    if (run === null) return;
    const own: Hear<Extract<StreamMessage, { type: 'log' }>> = ({ chunk, isOver }) =>
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

/** One reading at a time; what comes meanwhile makes one more. */
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
