import { type LoggedEvent, type Run, subjectIdOf } from '@tidemill/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { useEvents } from '../../shell/live.ts';
import { useProject } from '../../shell/project.tsx';

const PAGE = 200;

export interface Timeline {
  /** Newest first. */
  events: readonly LoggedEvent[];
  isLoading: boolean;
  hasMore: boolean;
  error: unknown;
  more: () => void;
}

/** A task's events: the newest page first, older pages as the reader scrolls, new events live. */
export function useTimeline(taskId: string, number: number): Timeline {
  const project = useProject();
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [hasMore, setMore] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const isBusy = useRef(false);
  const oldest = useRef<number | undefined>(undefined);
  const add = useCallback((fresh: LoggedEvent[]) => setEvents((known) => merged(known, fresh)), []);
  const more = useCallback(async (): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setLoading(true);
    try {
      const page = await api.recentEvents({ project: project.id, task: number, before: oldest.current, limit: PAGE });
      add(page);
      oldest.current = Math.min(oldest.current ?? Number.POSITIVE_INFINITY, ...page.map(({ seq }) => seq));
      setMore(page.length === PAGE);
      setError(null);
    } catch (failure) {
      setError(failure);
    }
    setLoading(false);
    isBusy.current = false;
  }, [project.id, number, add]);
  useEffect(() => void more(), [more]);
  useEvents((fresh) => {
    const own = fresh.filter(({ body }) => subjectIdOf(body) === taskId);
    if (own.length > 0) add(own);
  });
  return { events, isLoading, hasMore, error, more };
}

/** Loaded and live events may overlap. */
function merged(known: readonly LoggedEvent[], fresh: LoggedEvent[]): readonly LoggedEvent[] {
  const seen = new Set(known.map(({ seq }) => seq));
  const added = fresh.filter(({ seq }) => !seen.has(seq));
  return added.length === 0 ? known : [...known, ...added].sort((a, b) => b.seq - a.seq);
}

export type TimelineRow =
  | { kind: 'run'; run: Run; key: string }
  | { kind: 'event'; event: LoggedEvent; isInRun: boolean };

/** Groups events between the start and the end of a run below it. */
export function rowsOf(events: readonly LoggedEvent[], runs: Run[]): TimelineRow[] {
  const rows: TimelineRow[] = [];
  let current: string | null = null;
  for (const event of events) {
    const run = runs.find(
      ({ startedAt, endedAt }) => event.at >= startedAt && event.at <= (endedAt ?? Number.MAX_VALUE),
    );
    if (run && run.id !== current) rows.push({ kind: 'run', run, key: `${run.id}-${event.seq}` });
    current = run?.id ?? null;
    rows.push({ kind: 'event', event, isInRun: run !== undefined });
  }
  return rows;
}
