import type { InboxItem, QuestionView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { stageText } from '../../words.ts';
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
        <span className="dim">{ref}</span>
        {kind === 'alert' && <span className="dim">{severity}</span>}
        <span className="dim">{elapsed(now - at)} ago</span>
        {question && <span className="dim">by {question.agent}</span>}
      </p>
      {task && (
        <p className="clamp">
          <TaskLink number={task.number} /> <span className="title">{task.title}</span>
        </p>
      )}
      <h3>{stageText(title)}</h3>
      {text && <p className="reason">{text}</p>}
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
          Acknowledge
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
