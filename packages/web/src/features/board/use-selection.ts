import type { TaskSummary } from '@tidemill/contract';
import { useCallback, useRef, useState } from 'react';

/** The selected task numbers. A range starts at the task that was selected last. */
export function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const last = useRef(0);
  const toggle = useCallback(({ number }: TaskSummary) => {
    last.current = number;
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(number)) next.add(number);
      return next;
    });
  }, []);
  const selectRange = useCallback((tasks: readonly TaskSummary[], task: TaskSummary) => {
    const to = tasks.indexOf(task);
    const from = tasks.findIndex(({ number }) => number === last.current);
    const range = from < 0 ? [task] : tasks.slice(Math.min(from, to), Math.max(from, to) + 1);
    setSelected((before) => new Set([...before, ...range.map(({ number }) => number)]));
    last.current = task.number;
  }, []);
  const clear = useCallback(() => setSelected(new Set()), []);
  return { selected, toggle, selectRange, clear };
}
