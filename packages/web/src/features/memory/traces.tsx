import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { TraceType, type TraceView } from '@tidemill/contract';
import { useDeferredValue, useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { Empty } from '../../shell/page-head.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { useElapsed } from '../../time.ts';

export const SEARCH = 'trace-search';
const PAGE = 30;

/** What happened that can be learned from, with a search. */
export function Traces() {
  const project = useProject();
  const [typed, setTyped] = useState('');
  const [type, setType] = useState<TraceType | ''>('');
  const words = useDeferredValue(typed.trim());
  const found = useInfiniteQuery({
    queryKey: ['traces', project.id, type, words],
    queryFn: ({ pageParam, signal }) =>
      api.traces(
        {
          ...{ project: project.id, level: 'summary', limit: PAGE },
          ...(words === '' ? {} : { words }),
          ...(type === '' ? {} : { type }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        withTimeout(signal),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    placeholderData: (before) => before,
  });
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const traces = data?.pages.flatMap((page) => page.traces) ?? [];
  return (
    <section className="memory-part" aria-label="Traces">
      <div className="row memory-bar">
        <h3>Traces</h3>
        <label>
          <span className="unseen">Search the traces</span>
          <input
            id={SEARCH}
            type="search"
            placeholder="words, such as: tested without evidence"
            value={typed}
            maxLength={1000}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <label>
          <span className="unseen">Only traces of this type</span>
          <select value={type} onChange={(event) => setType(event.target.value as TraceType | '')}>
            <option value="">all types</option>
            {TraceType.options.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {data && traces.length === 0 && (
        <Empty>
          {words || type
            ? 'No trace is like this.'
            : 'Nothing is recorded yet. Corrections, refused calls, failed gates and decisions appear here by themselves.'}
        </Empty>
      )}
      <ul className="traces" aria-label="Found traces">
        {traces.map((trace) => (
          <Row key={trace.id} trace={trace} />
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" aria-busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </section>
  );
}

const TYPE_CLASS: Partial<Record<TraceType, string>> = {
  violation: 'crashed',
  failure: 'crashed',
  correction: 'waiting',
  approval: 'landed',
};

function Row({ trace }: { trace: TraceView }) {
  const { id, type, source, at, task, agent, what = '', why } = trace;
  const [isOpen, setOpen] = useState(false);
  const ago = useElapsed(at);
  return (
    <li data-trace={id}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className={TYPE_CLASS[type]}>{type}</span> <span className="dim">{source}</span>{' '}
          <span dir="auto">{plain(what)}</span>{' '}
          <span className="dim">
            {agent && `${plainLine(agent)}, `}
            {ago} ago
          </span>
        </summary>
        {task !== null && (
          <p>
            <TaskLink number={task} />
          </p>
        )}
        {!isOpen && why && <p dir="auto">{plain(why)}</p>}
        {isOpen && <Whole id={id} />}
      </details>
    </li>
  );
}

/** A trace that something else refers to. */
export function TraceById({ id }: { id: string }) {
  const { data, error } = useTrace(id);
  if (data) return <Row trace={data} />;
  return (
    <li>
      <Failed error={error} />
      {!error && <span className="dim">Loading…</span>}
    </li>
  );
}

function useTrace(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: ['trace', project.id, id],
    queryFn: ({ signal }) => api.trace({ project: project.id, trace: id, level: 'full' }, withTimeout(signal)),
    // A trace never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function Whole({ id }: { id: string }) {
  const { data, error, isPending } = useTrace(id);
  if (!data)
    return (
      <>
        <Failed error={error} />
        {isPending && <p className="dim">Loading…</p>}
      </>
    );
  const { what, correct, why, files = [], by, key } = data;
  return (
    <div className="trace-whole">
      {what && <Quoted text={what} />}
      {correct && (
        <>
          <p className="dim">What was right</p>
          <Quoted text={correct} />
        </>
      )}
      {why && (
        <p dir="auto">
          <span className="dim">Why:</span> {plain(why)}
        </p>
      )}
      {files.length > 0 && (
        <p>
          <span className="dim">Files:</span> {files.map(plainLine).join(', ')}
        </p>
      )}
      <p className="dim">
        {by && `by ${plainLine(by.name)}, `}
        {id}
        {key && `, ${plainLine(key)}`}
      </p>
    </div>
  );
}

/** Text of agents and tools: shown as it is, never as markup. */
const Quoted = ({ text }: { text: string }) => (
  <p className="quoted" dir="auto">
    {plain(text)}
  </p>
);
