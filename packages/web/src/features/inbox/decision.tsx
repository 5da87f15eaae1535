import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { plain } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';

/** Yes or no to a task that waits for a person; or another try for one that is stuck. */
export function Decision({ number, isApproval }: { number: number; isApproval: boolean }) {
  const project = useProject();
  const [note, setNote] = useState('');
  const about = { project: project.id, task: number, note: note.trim() || undefined };
  const { data } = useQuery({
    queryKey: ['task', project.id, number],
    queryFn: ({ signal }) => api.task({ project: project.id, task: number }, soon(signal)),
    enabled: isApproval,
  });
  const may = useMay('operator');
  const plan = data?.task.plan;
  return (
    <div className="decision">
      {plan && (
        <details open>
          <summary>The plan</summary>
          <pre>{plain(plan)}</pre>
        </details>
      )}
      <textarea
        rows={1}
        value={note}
        disabled={!may}
        aria-label={isApproval ? `What is wrong with #${number}, or a note` : `A note for the next try of #${number}`}
        placeholder={isApproval ? 'What is wrong, or a note' : 'A note for the next try'}
        onChange={(event) => setNote(event.target.value)}
      />
      <p className="row">
        {isApproval ? (
          <>
            <Action className="primary" act={() => api.approveTask(about)} done={`#${number} is approved`} marks="yes">
              <kbd>y</kbd> Approve
            </Action>
            <Action
              act={() => api.rejectTask({ ...about, note: note.trim() })}
              done={`#${number} goes back`}
              disabled={note.trim() === ''}
            >
              Send back
            </Action>
          </>
        ) : (
          <Action className="primary" act={() => api.retryTask(about)} done={`#${number} is tried again`} marks="yes">
            <kbd>y</kbd> Try again
          </Action>
        )}
        <PageLink to={`/tasks/${number}`}>Look at it</PageLink>
      </p>
    </div>
  );
}
