import { useQuery } from '@tanstack/react-query';
import type { FeedbackDetail, QuestionView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Markdown } from '../../shell/markdown.tsx';
import { isRecordNumber, OneRecord } from '../../shell/one-record.tsx';
import { PageHead } from '../../shell/page-head.tsx';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { useElapsed } from '../../time.ts';
import { stageText } from '../../words.ts';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { State } from './state.tsx';

/** One piece of feedback: what was said, asked and made of it. */
export function FeedbackView({ number }: { number: number }) {
  const { project } = useShown();
  const query = useQuery({
    queryKey: ['feedback', project.id, number],
    queryFn: ({ signal }) => api.feedback({ project: project.id, feedback: number }, withTimeout(signal)),
    enabled: isRecordNumber(number),
  });
  return (
    <OneRecord number={number} query={query} words={WORDS}>
      {(detail) => <Known detail={detail} />}
    </OneRecord>
  );
}

const WORDS = {
  letter: 'F',
  name: 'Feedback',
  bad: 'This is not a number of feedback.',
  to: '/feedback',
  all: 'Show all feedback',
};

function Known({ detail: { feedback, questions, task } }: { detail: FeedbackDetail }) {
  const { number, text, by, at, analysis, why, linkedTask, linkedSpec, status } = feedback;
  const age = useElapsed(at);
  return (
    <article className="feedback">
      <PageHead
        title={
          <span dir="auto">
            F{number} {plainLine(analysis?.title ?? 'Feedback')}
          </span>
        }
        about={
          <>
            <State item={feedback} /> {plainLine(by.name)}, {age} ago
          </>
        }
      >
        <Decisions feedback={feedback} />
      </PageHead>
      <RoleNote what="Deciding about feedback" />
      <blockquote className="card">
        <Markdown text={text} isFolded />
      </blockquote>
      {why !== '' && <p className={status === 'failed' ? 'failed' : 'dim'}>{plainLine(why)}</p>}
      {questions.map((question) => (
        <Question key={question.id} question={question} />
      ))}
      {analysis && (
        <section aria-labelledby="feedback-result">
          <h3 id="feedback-result">Filed as {analysis.kind}</h3>
          {analysis.answer && <Markdown text={analysis.answer} level={4} />}
          {analysis.body && <Markdown text={analysis.body} level={4} isFolded />}
          {linkedTask !== null && (
            <p>
              About <TaskLink number={linkedTask} />
            </p>
          )}
          {linkedSpec !== null && (
            <p>
              About <PageLink to={`/specs/${linkedSpec}`}>S{linkedSpec}</PageLink>
            </p>
          )}
          {task && (
            <p className="row">
              <TaskLink number={task.number} /> <span dir="auto">{plainLine(task.title)}</span>
              <span className="dim">{stageText(task.stage)}</span>
            </p>
          )}
        </section>
      )}
    </article>
  );
}

function Question({ question }: { question: QuestionView }) {
  const { ref, text, status, answer } = question;
  return (
    <section className="card open-question" aria-labelledby={`question-${ref}`}>
      <Asked id={`question-${ref}`} text={text} />
      {status === 'open' && <Answer question={question} />}
      {answer && (
        <p dir="auto">
          {plainLine(answer.by.name)}: <strong>{plainLine(answer.text)}</strong>
        </p>
      )}
      {status !== 'open' && !answer && <p className="dim">No answer is needed any more.</p>}
    </section>
  );
}

function Decisions({ feedback: { number, status, jobId } }: Pick<FeedbackDetail, 'feedback'>) {
  const { project } = useShown();
  const about = { project: project.id, feedback: number, by: 'page' };
  if (status === 'filed' || status === 'dismissed') return null;
  const isIdle = status === 'failed' || (status === 'open' && jobId === null);
  return (
    <>
      {isIdle && (
        <Action act={() => api.analyseFeedback(about)} done={`F${number} is being analysed`} className="primary">
          {status === 'failed' ? 'Retry' : 'Analyse'}
        </Action>
      )}
      <Action
        act={() => api.dismissFeedback(about)}
        done={`F${number} dismissed`}
        confirm={{
          title: `Dismiss F${number}?`,
          text: 'No task is made of it, and its question is withdrawn. This cannot be undone; you can send it again.',
          yes: 'Dismiss',
        }}
      >
        Dismiss
      </Action>
    </>
  );
}
