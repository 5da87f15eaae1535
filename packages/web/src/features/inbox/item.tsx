import { type InboxItem, inboxTitle, type QuestionView } from '@tidemill/contract';
import { memo } from 'react';
import { api } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Markdown } from '../../shell/markdown.tsx';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { ScrollBox } from '../../shell/scroll-box.tsx';
import { useElapsed } from '../../time.ts';
import { withTimes } from '../../words.ts';
import { ProposalDecision } from '../loop/proposal-decision.tsx';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { Decision } from './decision.tsx';

interface ItemProps {
  item: InboxItem;
  question: QuestionView | undefined;
}

/** Whether the item is a task itself, not a question about one. */
const isTask = ({ ref }: InboxItem) => ref.startsWith('#');
/** A proposal of the loop: `p7`. */
const proposalOf = ({ ref, kind }: InboxItem) => (kind === 'approval' ? /^p(\d+)$/.exec(ref)?.[1] : undefined);
const isQuestion = (item: InboxItem) => item.kind !== 'alert' && !isTask(item) && proposalOf(item) === undefined;
/** Whether an agent or a person wrote its text. Others may be the output of a program. */
const isWritten = (item: InboxItem) =>
  isQuestion(item) || proposalOf(item) !== undefined || item.title.endsWith('review_escalation');

/** One item for a person, with the controls to deal with it. */
export const Item = memo(function Item({ item, question }: ItemProps) {
  const { ref, kind, severity, isBlocking, at, text, task } = item;
  const ago = useElapsed(at);
  const id = `item-${ref}`;
  return (
    <li
      className={isBlocking ? 'card item urgent' : 'card item'}
      data-item
      data-ref={ref}
      tabIndex={-1}
      aria-labelledby={id}
    >
      <p className="row">
        <span className={isBlocking ? 'waiting' : severity === 'critical' || severity === 'error' ? 'crashed' : 'idle'}>
          {kind}
          {isBlocking ? ', blocks work' : ''}
        </span>
        <span className="dim">{kind === 'alert' ? severity : ref}</span>
        <span className="dim">{ago} ago</span>
        {question && <span className="dim">by {plainLine(question.agent)}</span>}
      </p>
      {task && (
        <p className="clamp">
          <TaskLink number={task.number} /> <span className="title">{plainLine(task.title)}</span>
        </p>
      )}
      {question?.subject && (
        <p className="clamp">
          <PageLink to={question.subject.page} className="number">
            {question.subject.ref}
          </PageLink>{' '}
          <span className="title" dir="auto">
            {plainLine(question.subject.title)}
          </span>
        </p>
      )}
      {isQuestion(item) ? <Asked id={id} text={item.title} /> : <h3 id={id}>{plain(inboxTitle(item))}</h3>}
      {text && (
        <ScrollBox label={`About ${ref}`} className="reason">
          {isWritten(item) ? (
            <Markdown text={withTimes(text)} level={4} isFolded />
          ) : (
            <p className="as-written">{plain(withTimes(text))}</p>
          )}
        </ScrollBox>
      )}
      <Settle item={item} question={question} />
    </li>
  );
});

function Settle({ item, question }: ItemProps) {
  const project = useProject();
  const { kind, ref, task, title, command } = item;
  if (question) return <Answer question={question} hasKeys />;
  if (kind === 'alert')
    return (
      <p className="row">
        {item.actions.map(({ id, label }) => (
          <Action
            key={id}
            className="primary"
            act={() => api.actOnAlert({ project: project.id, ref, action: id, by: 'page' })}
            done={`${label}: done`}
          >
            {label}
          </Action>
        ))}
        <Action act={() => api.acknowledge({ project: project.id, ref, by: 'page' })} marks="yes">
          <kbd>y</kbd> Acknowledge <span className="unseen">{title}</span>
        </Action>
      </p>
    );
  const proposal = proposalOf(item);
  if (proposal !== undefined)
    return (
      <>
        <ProposalDecision number={Number(proposal)} />
        <p>
          <PageLink to="/loop">All proposals</PageLink>
        </p>
      </>
    );
  if (!task || !isTask(item)) return <p className="dim">Loading the answers…</p>;
  if (title.endsWith('conflict'))
    return (
      <p>
        <PageLink to={`/conflicts/${task.number}`}>Resolve the conflict</PageLink>
      </p>
    );
  return <Decision number={task.number} isApproval={command.includes('approve')} />;
}
