import { type IdeaDetail, type IdeaMessage, ideaRef, type QuestionView } from '@tidemill/contract';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Markdown } from '../../shell/markdown.tsx';
import { useProject } from '../../shell/project.tsx';
import { timeOf } from '../../words.ts';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';
import { Composer } from './composer.tsx';
import { useReply } from './use-idea.ts';

const NEAR_PX = 48;
const STEP = 100;

/** The conversation: messages, the reply that is being written, open questions, and the field for the next message. */
export function Chat({ detail }: { detail: IdeaDetail }) {
  const project = useProject();
  const { idea, messages, questions } = detail;
  const reply = useReply(detail);
  const about = { project: project.id, idea: String(idea.number), by: 'page' };
  const [earlier, setEarlier] = useState<IdeaMessage[]>([]);
  // A new message moves the beginning of what was fetched.
  const first = messages[0]?.number ?? 1;
  const all = [...earlier.filter(({ number }) => number < first), ...messages];
  const left = (all[0]?.number ?? 1) - 1;
  const showEarlier = async () => {
    const after = Math.max(0, left - STEP);
    const found = await api.ideaMessages({
      project: project.id,
      idea: String(idea.number),
      after,
      limit: left - after,
    });
    setEarlier([...found, ...all]);
  };
  return (
    <section className="chat" aria-label="Conversation">
      <Pane size={idea.messageCount + (reply?.length ?? 0)}>
        {left > 0 && (
          <Action className="quiet" act={showEarlier}>
            Show {Math.min(left, STEP)} of {left.toLocaleString('en-US')} earlier messages
          </Action>
        )}
        <ol className="messages">
          {all.map((message) => (
            <Message key={message.id} message={message} />
          ))}
          {reply !== null && <Writing text={reply} />}
        </ol>
      </Pane>
      {idea.failure && (
        <p className="row" role="alert">
          <span className="failed">No reply: {plainLine(idea.failure)}</span>
          <Action act={() => api.steerIdea({ ...about, to: 'resume' })}>Retry</Action>
        </p>
      )}
      {questions.map((question) => (
        <OpenQuestion key={question.id} question={question} />
      ))}
      {idea.status === 'active' ? (
        <Composer
          id="message"
          draftKey={`idea/${idea.id}`}
          label={`Message about ${ideaRef(idea.number)}`}
          yes="Send"
          note={reply === null ? undefined : 'A message sent now is answered in the next reply.'}
          send={(text) => api.sayToIdea({ ...about, text })}
        />
      ) : (
        <p className="dim">
          {idea.status === 'complete'
            ? 'This idea is complete and its brief is ready. Fork it to go on talking.'
            : `This idea is ${idea.status}. Resume it to go on.`}
        </p>
      )}
    </section>
  );
}

/** Scrolls with what is added until the reader scrolls up. */
function Pane({ size, children }: { size: number; children: ReactNode }) {
  const pane = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const toEnd = () => {
    const element = pane.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(toEnd, [size]);
  // Markdown is rendered after its part of the page is loaded.
  useEffect(() => {
    const watcher = new ResizeObserver(toEnd);
    if (pane.current?.lastElementChild) watcher.observe(pane.current.lastElementChild);
    return () => watcher.disconnect();
  }, []);
  return (
    <div
      ref={pane}
      className="chat-pane"
      role="log"
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
      tabIndex={0}
      onScroll={() => {
        const { scrollTop, scrollHeight, clientHeight } = pane.current!;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      {children}
    </div>
  );
}

/** The page's own token has no name. */
const nameOf = ({ kind, name }: IdeaMessage['by']) => (kind === 'person' && name === 'page' ? 'You' : plainLine(name));

function Message({ message: { role, by, text, at } }: { message: IdeaMessage }) {
  return (
    <li className={`message ${role}`}>
      <p className="row">
        <strong>{nameOf(by)}</strong>
        <time className="dim" dateTime={new Date(at).toISOString()}>
          {timeOf(at)}
        </time>
      </p>
      <Markdown text={text} isFolded />
    </li>
  );
}

/** Shown as it is written: it is rendered as Markdown when it is complete. */
function Writing({ text }: { text: string }) {
  return (
    <li className="message agent writing" aria-busy="true">
      <p className="row">
        <span className="working">replying</span>
      </p>
      <p className="as-written" dir="auto" data-writing>
        {text}
      </p>
    </li>
  );
}

function OpenQuestion({ question }: { question: QuestionView }) {
  const { ref, text, context, holds, type } = question;
  return (
    <section className="card open-question" aria-label={`Question ${ref}`} data-item tabIndex={-1}>
      <p className="row">
        <span className="waiting">{holds ? 'keeps the idea in its phase' : `can wait, ${type}`}</span>
        <span className="dim">{ref}</span>
      </p>
      <Asked text={text} />
      {context && <Markdown text={context} level={4} className="dim" isFolded />}
      <Answer question={question} />
    </section>
  );
}
