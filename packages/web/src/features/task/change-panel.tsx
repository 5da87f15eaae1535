import { useQuery } from '@tanstack/react-query';
import type { TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { errorText } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { DiffView } from '../diff/diff-view.tsx';
import { GateList } from './gate-list.tsx';

const MEGABYTE = 1_000_000;
const MOST = 10 * MEGABYTE;

const OF = {
  worktree: 'As it lies in the worktree, against the target.',
  landed: 'As it landed.',
  nothing: '',
};

/** The change, and beside it what proves it. */
export function ChangePanel({ detail }: { detail: TaskDetail }) {
  const { project } = useShown();
  const { task, evidence } = detail;
  const [maxBytes, setMaxBytes] = useState(MEGABYTE);
  const { data, error, isFetching } = useQuery({
    queryKey: ['diff', project.id, task.number, maxBytes],
    queryFn: ({ signal }) => api.taskDiff({ project: project.id, task: task.number, maxBytes }, signal),
    placeholderData: (before) => before,
    // A large one is not read again and again: work that is committed makes it old.
    staleTime: 30_000,
  });
  return (
    <div className="change">
      <section aria-label="Change" className="change-diff">
        {error && <p role="alert">{errorText(error)}</p>}
        {!data && !error && <p className="dim">Reading the change…</p>}
        {data?.of === 'nothing' && <p className="empty">No change yet.</p>}
        {data && data.of !== 'nothing' && (
          <>
            <p className="dim">{OF[data.of]}</p>
            <DiffView text={data.text} isCut={data.isCut} />
          </>
        )}
        {data?.isCut && (
          <p className="row">
            <span className="waiting">Cut at {Math.round(maxBytes / MEGABYTE)} MB.</span>
            {maxBytes < MOST ? (
              <button type="button" onClick={() => setMaxBytes(MOST)} disabled={isFetching} aria-busy={isFetching}>
                {isFetching ? 'Reading…' : 'Load more'}
              </button>
            ) : (
              <span>
                The rest is for git:{' '}
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
