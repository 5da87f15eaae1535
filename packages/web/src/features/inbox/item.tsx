import type { InboxItem, QuestionView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { stageText, withTimes } from '../../words.ts';
import { Answer } from '../question/answer.tsx';
import { Decision } from './decision.tsx';

/** One thing a person has to decide or should know, with what settles it right here. */
export function Item({ item, question }: { item: InboxItem; question: QuestionView | undefined }) {
  const now = useNow();
  const { ref, kind, severity, isBlocking, at, title, text, task } = item;
  return (
    <li className={isBlocking ? 'card item urgent' : 'card item'} data-item data-ref={ref} tabIndex={-1}>
      <p className="row">
        <span className={isBlocking ? 'waiting' : severity === 'critical' || severity === 'error' ? 'crashed' : 'idle'}>
          {kind}
          {isBlocking ? ', holds work up' : ''}
        </span>
        <span className="dim">{kind === 'alert' ? severity : ref}</span>
        <span className="dim">{elapsed(now - at)} ago</span>
        {question && <span className="dim">by {plainLine(question.agent)}</span>}
      </p>
      {task && (
        <p className="clamp">
          <TaskLink number={task.number} /> <span className="title">{plainLine(task.title)}</span>
        </p>
      )}
      <h3>{plain(stageText(title))}</h3>
      {text && <p className="reason">{plain(withTimes(text))}</p>}
      <Settle item={item} question={question} />
    </li>
  );
}

function Settle({ item, question }: { item: InboxItem; question: QuestionView | undefined }) {
  const { project } = useShown();
  const { kind, ref, task, title } = item;
  if (question) return <Answer question={question} />;
  if (kind === 'alert')
    return (
      <p>
        <Action act={() => api.acknowledge({ project: project.id, ref, by: 'page' })} marks="yes">
          Acknowledge <span className="unseen">{title}</span>
        </Action>
      </p>
    );
  if (task && title.includes('conflict'))
    return (
      <p>
        <PageLink to={`/conflicts/${task.number}`}>Resolve the conflict</PageLink>
      </p>
    );
  return task ? <Decision number={task.number} isApproval={item.command.includes('approve')} /> : null;
}
