import { useQuery } from '@tanstack/react-query';
import type { TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { DiffView } from '../diff/diff-view.tsx';
import { GateList } from './gate-list.tsx';

const MEGABYTE = 1_000_000;
const MOST = 10 * MEGABYTE;

const sourceText = (of: 'worktree' | 'landed', target: string) =>
  of === 'worktree' ? `Working copy vs ${target}` : 'The landed change';

/** The change and its gate results. */
export function ChangePanel({ detail }: { detail: TaskDetail }) {
  const { project } = useShown();
  const { task, evidence } = detail;
  const [maxBytes, setMaxBytes] = useState(MEGABYTE);
  const { data, error, isFetching } = useQuery({
    queryKey: ['diff', project.id, task.number, maxBytes],
    queryFn: ({ signal }) => api.taskDiff({ project: project.id, task: task.number, maxBytes }, signal),
    placeholderData: (before) => before,
    // A large diff is not loaded again on every event.
    staleTime: 30_000,
  });
  return (
    <div className="change">
      <section aria-label="Change" className="change-diff">
        {error && <p role="alert">{errorText(error)}</p>}
        {!data && !error && <p className="dim">Loading the change…</p>}
        {data?.of === 'nothing' && <p className="empty">No change yet.</p>}
        {data && data.of !== 'nothing' && (
          <>
            <p className="dim">{sourceText(data.of, project.rules.target)}</p>
            <DiffView text={data.text} isCut={data.isCut} />
          </>
        )}
        {data?.isCut && (
          <p className="row">
            <span className="waiting">Cut at {Math.round(maxBytes / MEGABYTE)} MB.</span>
            {maxBytes < MOST ? (
              <button type="button" onClick={() => setMaxBytes(MOST)} disabled={isFetching} aria-busy={isFetching}>
                {isFetching ? 'Loading…' : 'Load more'}
              </button>
            ) : (
              <span>
                See the rest with git:{' '}
                <code>
                  git diff {project.rules.target}...{task.branch}
                </code>
              </span>
            )}
          </p>
        )}
      </section>
      <GateList evidence={evidence} tree={task.head?.tree ?? null} />
    </div>
  );
}
