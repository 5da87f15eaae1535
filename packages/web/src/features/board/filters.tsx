import type { TaskSummary } from '@tidemill/contract';
import { TaskKind } from '@tidemill/contract';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useShown } from '../../shell/project.tsx';
import { PRIORITY } from '../../words.ts';

const TYPING_MS = 200;
const KEYS = ['filter', 'pipeline', 'kind', 'worker', 'priority'] as const;
type FilterKey = (typeof KEYS)[number];
export type Filters = Record<FilterKey, string>;

interface FilterState {
  filters: Filters;
  set(change: Partial<Filters>): void;
  clear(): void;
}

/** Stored in the address, so that they survive a reload and can be shared. */
export function useFilters(): FilterState {
  const [query, setQuery] = useSearchParams();
  const filters = Object.fromEntries(KEYS.map((key) => [key, query.get(key) ?? ''])) as Filters;
  const set = (change: Partial<Filters>) =>
    setQuery(
      (current) => {
        const next = new URLSearchParams(current);
        for (const [key, value] of Object.entries(change)) {
          if (value) next.set(key, value);
          else next.delete(key);
        }
        return next;
      },
      { replace: true },
    );
  return { filters, set, clear: () => set(Object.fromEntries(KEYS.map((key) => [key, '']))) };
}

/** Applies the selects; the daemon applies the search words. */
export function fitsFilters(task: TaskSummary, { pipeline, kind, worker, priority }: Filters): boolean {
  return (
    (pipeline === '' || task.pipeline === pipeline) &&
    (kind === '' || task.kind === kind) &&
    (worker === '' || task.worker === worker) &&
    (priority === '' || String(task.priority) === priority)
  );
}

export const isNarrowed = ({ filter: _, ...selects }: Filters) => Object.values(selects).some((value) => value !== '');

/** `“bread”, kind bug` */
function filtersText(filters: Filters): string {
  return KEYS.filter((key) => filters[key] !== '')
    .map((key) => {
      if (key === 'filter') return `“${filters.filter}”`;
      if (key === 'priority') return PRIORITY[Number(filters.priority)] ?? `priority ${filters.priority}`;
      return `${key} ${filters[key]}`;
    })
    .join(', ');
}

export function FilterBar({ filters, set, clear }: FilterState) {
  const { project, status } = useShown();
  const text = filtersText(filters);
  return (
    <search className="board-filters">
      <Words value={filters.filter} onChange={(filter) => set({ filter })} />
      <Choice name="Pipeline" value={filters.pipeline} set={(pipeline) => set({ pipeline })}>
        {Object.keys(project.rules.pipelines)}
      </Choice>
      <Choice name="Kind" value={filters.kind} set={(kind) => set({ kind })}>
        {TaskKind.options}
      </Choice>
      <Choice name="Worker" value={filters.worker} set={(worker) => set({ worker })}>
        {status.workers.map(({ name }) => name)}
      </Choice>
      <Choice name="Priority" value={filters.priority} set={(priority) => set({ priority })} words={PRIORITY}>
        {PRIORITY.map((_, priority) => String(priority))}
      </Choice>
      {text !== '' && (
        <button type="button" className="quiet" onClick={clear} title={`Showing only ${text}`}>
          Clear: <span className="filtered">{text}</span>
        </button>
      )}
    </search>
  );
}

/** Sent to the daemon when the typing pauses. */
function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const [asked, setAsked] = useState(value);
  if (asked !== value) {
    setAsked(value);
    setTyped(value);
  }
  useEffect(() => {
    const text = typed.trim();
    if (text === value) return;
    const timer = setTimeout(() => {
      setAsked(text);
      onChange(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <input
      type="search"
      aria-label="Filter by title or number"
      placeholder="Filter by title or #number"
      maxLength={300}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  set: (value: string) => void;
  words?: readonly string[];
  children: string[];
}

function Choice({ name, value, set, words, children }: ChoiceProps) {
  // The address may name a worker or pipeline that no longer exists.
  const options = value === '' || children.includes(value) ? children : [...children, value];
  return (
    <select
      aria-label={`Filter by ${name.toLowerCase()}`}
      className={value === '' ? 'dim' : undefined}
      value={value}
      onChange={(event) => set(event.target.value)}
    >
      <option value="">{name}: all</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {words?.[Number(option)] ?? option}
        </option>
      ))}
    </select>
  );
}
