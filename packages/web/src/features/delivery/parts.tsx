import { useQuery } from '@tanstack/react-query';
import type { DeliveredTask, DeliveryView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { short } from './status.tsx';

/** The tasks of a delivery, behind their number. */
export function Tasks({ tasks, count, isOpen = false }: { tasks: DeliveredTask[]; count: number; isOpen?: boolean }) {
  if (count === 0) return <p className="dim">No tasks. It brings commits without a task, or none.</p>;
  return (
    <details className="delivered" open={isOpen}>
      <summary>{plural(count, 'task')}</summary>
      <ul>
        {tasks.map(({ taskId, number, title }) => (
          <li key={taskId} dir="auto">
            <TaskLink number={number} /> {plainLine(title)}
          </li>
        ))}
        {count > tasks.length && <li className="dim">and {count - tasks.length} more</li>}
      </ul>
    </details>
  );
}

/** Approval by one button. It is for the commit that is shown here. */
export function Approval({ delivery }: { delivery: DeliveryView }) {
  const project = useProject();
  const { ref, id, commit, environment } = delivery;
  const about = { project: project.id, delivery: id, commit, by: 'page' };
  if (delivery.status !== 'waiting') return null;
  return (
    <p className="row">
      <Action
        act={() => api.approveDelivery({ ...about, approved: true })}
        done={`${ref} approved: ${environment}`}
        className="primary"
        marks="yes"
      >
        Approve {short(commit)}
      </Action>
      <Action act={() => api.approveDelivery({ ...about, approved: false })} done={`${ref} declined`}>
        Decline
      </Action>
    </p>
  );
}

/** What a person must decide after a crash or a failed rollback, with the exact commands. */
export function OpenQuestion({ delivery }: { delivery: DeliveryView }) {
  const project = useProject();
  const isAsking = delivery.status === 'asking' || (delivery.status === 'rollback_failed' && delivery.endedAt === null);
  const { data } = useQuery({
    queryKey: ['questions', project.id],
    queryFn: ({ signal }) => api.questions({ project: project.id }, withTimeout(signal)),
    enabled: isAsking,
  });
  const question = data?.find(({ subject, status }) => subject?.ref === delivery.ref && status === 'open');
  if (!isAsking || !question) return null;
  return (
    <section className="open-question" aria-label={`Question ${question.ref}`}>
      <Asked text={question.text} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      {question.context && <pre tabIndex={0}>{plain(question.context)}</pre>}
      <Answer question={question} />
    </section>
  );
}
