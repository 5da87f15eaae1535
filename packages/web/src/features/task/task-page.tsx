import './task.css';
import { useQuery } from '@tanstack/react-query';
import { AppError, type TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { api, isCode, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { complain, tell } from '../../shell/notices.tsx';
import { OnlyLooking } from '../../shell/only-looking.tsx';
import { Empty } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { ActionDialog, type Opened } from './action-dialog.tsx';
import { canRetry, isOver } from './standing.ts';
import { TaskHead } from './task-head.tsx';
import { TaskTabs, tabOf } from './task-tabs.tsx';

/** Where the first open question takes its answer. */
const ANSWER = '.open-question :is(textarea, button)';

export default function TaskPage({ number }: { number: number }) {
  const { project } = useShown();
  const isNumber = Number.isSafeInteger(number) && number > 0;
  const { data, error } = useQuery({
    queryKey: ['task', project.id, number],
    queryFn: ({ signal }) => api.task({ project: project.id, task: number }, soon(signal)),
    enabled: isNumber,
  });
  if (!isNumber || isCode(error, 'not_found')) return <Missing number={number} />;
  if (data) return <Known key={data.task.id} detail={data} />;
  return (
    <div className="waiting-room">{error ? <Failed error={error} /> : <p className="dim">Reading #{number}…</p>}</div>
  );
}

function Missing({ number }: { number: number }) {
  const { project } = useShown();
  return (
    <Empty>
      <p role="alert">
        {Number.isNaN(number)
          ? 'A task has a number, such as #12.'
          : `There is no task #${number} in ${plainLine(project.name)}.`}
      </p>
      <p>
        <PageLink to="/board">All tasks are on the board</PageLink>
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
    if (!first) return tell(`#${detail.task.number} asks nothing right now.`);
    show('talk');
    // Once the tab is drawn.
    requestAnimationFrame(() => document.querySelector<HTMLElement>(ANSWER)?.focus());
  };
  const takeDefault = () => {
    if (!first) return tell(`#${detail.task.number} asks nothing right now.`);
    if (first.defaultAnswer === null) return complain(noDefault(first.ref));
    const { ref, defaultAnswer } = first;
    void run(
      () => api.answerQuestion({ project: detail.task.projectId, question: first.id, useDefault: true }),
      `${ref} answered: ${defaultAnswer}`,
    );
  };
  useKeys([
    { keys: 'a', does: 'Answer the first question', run: answer },
    { keys: '.', does: 'Take its default', run: takeDefault },
    {
      keys: 'e',
      does: 'Edit the task',
      run: () => (isOver(detail) ? tell(`#${detail.task.number} is over: add a new task, or retry it.`) : open('edit')),
    },
    {
      keys: 'r',
      does: 'Retry the task',
      run: () =>
        canRetry(detail) ? open('retry') : tell(`#${detail.task.number} does not stand still: nothing to retry.`),
    },
  ]);
  return (
    <article className="task-page">
      <OnlyLooking what="Steering a task" />
      <TaskHead detail={detail} open={open} answer={answer} show={show} />
      <TaskTabs detail={detail} tab={tab} show={show} />
      {opened && <ActionDialog opened={opened} detail={detail} onClose={() => open(null)} />}
    </article>
  );
}

const noDefault = (ref: string) =>
  new AppError('bad_input', `${ref} has no default`, { hint: 'Choose or write an answer.' });
