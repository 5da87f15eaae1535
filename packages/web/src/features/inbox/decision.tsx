import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { Markdown } from '../../shell/markdown.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { ScrollBox } from '../../shell/scroll-box.tsx';

/** Approve or send back a task that waits for a person, or retry a stuck one. */
export function Decision({ number, isApproval }: { number: number; isApproval: boolean }) {
  const project = useProject();
  const [note, setNote] = useState('');
  const about = { project: project.id, task: number, note: note.trim() || undefined };
  const { data } = useQuery({
    queryKey: ['task', project.id, number],
    queryFn: ({ signal }) => api.task({ project: project.id, task: number }, withTimeout(signal)),
    enabled: isApproval,
  });
  const may = useMay('operator');
  const plan = data?.task.plan;
  return (
    <div className="decision">
      {plan && (
        <details open>
          <summary>Plan</summary>
          <ScrollBox label={`Plan of #${number}`} className="plan">
            <Markdown text={plan} level={4} />
          </ScrollBox>
        </details>
      )}
      <textarea
        rows={1}
        value={note}
        disabled={!may}
        aria-label={
          isApproval ? `What should change in #${number}, or a note` : `A note for the next attempt at #${number}`
        }
        placeholder={isApproval ? 'What should change, or a note' : 'A note for the next attempt'}
        onChange={(event) => setNote(event.target.value)}
      />
      <p className="row">
        {isApproval ? (
          <>
            <Action className="primary" act={() => api.approveTask(about)} done={`#${number} approved`} marks="yes">
              <kbd>y</kbd> Approve
            </Action>
            <Action
              act={() => api.rejectTask({ ...about, note: note.trim() })}
              done={`Requested changes to #${number}`}
              disabled={note.trim() === ''}
            >
              Request changes
            </Action>
          </>
        ) : (
          <Action className="primary" act={() => api.retryTask(about)} done={`#${number} restarted`} marks="yes">
            <kbd>y</kbd> Retry
          </Action>
        )}
        <PageLink to={`/tasks/${number}`}>Open task</PageLink>
      </p>
    </div>
  );
}
