import './task.css';
import { useQuery } from '@tanstack/react-query';
import { AppError, type TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { api, isCode, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { showError, showToast } from '../../shell/toasts.tsx';
import { ActionDialog, type Opened } from './action-dialog.tsx';
import { canRetry, isOver } from './standing.ts';
import { TaskHead } from './task-head.tsx';
import { TaskTabs, tabOf } from './task-tabs.tsx';

/** The answer field of the first open question. */
const ANSWER = '.open-question :is(textarea, button)';

export default function TaskPage({ number }: { number: number }) {
  const { project } = useShown();
  const isNumber = Number.isSafeInteger(number) && number > 0;
  const { data, error } = useQuery({
    queryKey: ['task', project.id, number],
    queryFn: ({ signal }) => api.task({ project: project.id, task: number }, withTimeout(signal)),
    enabled: isNumber,
  });
  if (!isNumber || isCode(error, 'not_found')) return <Missing number={number} />;
  if (data) return <Known key={data.task.id} detail={data} />;
  return (
    <div className="waiting-room">{error ? <Failed error={error} /> : <p className="dim">Loading #{number}…</p>}</div>
  );
}

function Missing({ number }: { number: number }) {
  const { project } = useShown();
  return (
    <Empty>
      <p role="alert">
        {Number.isNaN(number)
          ? 'This is not a task number. Use one such as #12.'
          : `Task #${number} does not exist in ${plainLine(project.name)}.`}
      </p>
      <p>
        <PageLink to="/board">Open the board</PageLink>
      </p>
    </Empty>
  );
}

function Known({ detail }: { detail: TaskDetail }) {
  const [opened, open] = useState<Opened | null>(null);
  const [wanted, show] = useAddress('tab');
  const tab = tabOf(wanted);
  const first = detail.questions.find(({ status }) => status === 'open');
  const run = useAct();
  const answer = () => {
    if (!first) return showToast(`#${detail.task.number} has no open question.`);
    show('conversation');
    // After the tab is rendered.
    requestAnimationFrame(() => document.querySelector<HTMLElement>(ANSWER)?.focus());
  };
  const takeDefault = () => {
    if (!first) return showToast(`#${detail.task.number} has no open question.`);
    if (first.defaultAnswer === null) return showError(noDefault(first.ref));
    const { ref, defaultAnswer } = first;
    void run(
      () => api.answerQuestion({ project: detail.task.projectId, question: first.id, useDefault: true }),
      `${ref} answered: ${defaultAnswer}`,
    );
  };
  useKeys([
    { keys: 'a', does: 'Answer the first question', run: answer },
    { keys: '.', does: 'Choose its default', run: takeDefault },
    {
      keys: 'e',
      does: 'Edit the task',
      run: () =>
        isOver(detail) ? showToast(`#${detail.task.number} is finished. Add a new task, or retry it.`) : open('edit'),
    },
    {
      keys: 'r',
      does: 'Retry the task',
      run: () => (canRetry(detail) ? open('retry') : showToast(`#${detail.task.number} cannot be retried now.`)),
    },
  ]);
  return (
    <article className="task-page">
      <RoleNote what="Managing tasks" />
      <TaskHead detail={detail} open={open} answer={answer} show={show} />
      <TaskTabs detail={detail} tab={tab} show={show} />
      {opened && <ActionDialog opened={opened} detail={detail} onClose={() => open(null)} />}
    </article>
  );
}

const noDefault = (ref: string) =>
  new AppError('bad_input', `${ref} has no default`, { hint: 'Choose an option or write an answer.' });
