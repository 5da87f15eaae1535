import { type ContextEntry, type QuestionView, type TaskDetail, workerName } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plain } from '../../plain.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Markdown } from '../../shell/markdown.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { stageText, timeOf } from '../../words.ts';
import { Answer } from '../question/answer.tsx';
import { Asked } from '../question/asked.tsx';

const LONGEST_NOTE = 2000;

type Said = { at: number; key: string } & (
  | { kind: 'asked'; question: QuestionView }
  | { kind: 'entry'; entry: ContextEntry }
);

/** Questions, answers and notes of the task as one conversation; open questions come first. */
export function ConversationPanel({ detail }: { detail: TaskDetail }) {
  const { task, questions } = detail;
  const open = questions.filter(({ status }) => status === 'open');
  const past: Said[] = [
    ...questions
      .filter(({ status }) => status !== 'open')
      .map((question) => ({ kind: 'asked' as const, at: question.askedAt, key: question.id, question })),
    ...task.context.map((entry, index) => ({ kind: 'entry' as const, at: entry.at, key: `entry-${index}`, entry })),
  ].sort((a, b) => a.at - b.at);
  return (
    <div className="conversation">
      {open.map((question) => (
        <OpenQuestion key={question.id} question={question} />
      ))}
      {open.length === 0 && past.length === 0 && <p className="dim">No messages yet.</p>}
      <ol className="said-list">
        {past.map((said) => (
          <li key={said.key}>
            {said.kind === 'asked' ? <Settled question={said.question} /> : <Entry entry={said.entry} />}
          </li>
        ))}
      </ol>
      <NoteBox detail={detail} />
    </div>
  );
}

function OpenQuestion({ question }: { question: QuestionView }) {
  const now = useNow();
  const { ref, agent, text, context, holds, type, askedAt } = question;
  return (
    <section className="card open-question" aria-label={`Question ${ref}`} data-item tabIndex={-1}>
      <p className="row">
        <span className="waiting">{holds ? 'blocks the task' : `can wait, ${type}`}</span>
        <span className="dim">
          {ref}, asked by {plain(agent)} {elapsed(now - askedAt)} ago
        </span>
      </p>
      <Asked text={text} />
      {context && <Markdown text={context} level={4} className="dim" isFolded />}
      <Answer question={question} />
    </section>
  );
}

const SOURCE = { user: '', default: ', default', timeout: ', after a timeout', learned: ', learned' };

function Settled({ question: { ref, agent, text, askedAt, answer, status } }: { question: QuestionView }) {
  return (
    <>
      <Speaker who={plain(agent)} what={`asked ${ref}`} at={askedAt} />
      <Markdown text={text} isFolded />
      {answer ? (
        <div className="reply">
          <Speaker who={plain(answer.by.name)} what={`answered${SOURCE[answer.source]}`} at={answer.at} />
          <Markdown text={answer.text} isFolded />
        </div>
      ) : (
        <p className="dim">{status}</p>
      )}
    </>
  );
}

function Entry({ entry: { source, entryType, summary, at, by } }: { entry: ContextEntry }) {
  return (
    <>
      <Speaker who={by ? plain(by.name) : source} what={stageText(entryType)} at={at} />
      {source === 'engine' ? <p className="as-written">{plain(summary)}</p> : <Markdown text={summary} isFolded />}
    </>
  );
}

function Speaker({ who, what, at }: { who: string; what: string; at: number }) {
  return (
    <p className="row">
      <strong>{who}</strong>
      <span className="dim">
        {what}, <time dateTime={new Date(at).toISOString()}>{timeOf(at)}</time>
      </span>
    </p>
  );
}

/** A message to the next agent. */
function NoteBox({ detail: { task } }: { detail: TaskDetail }) {
  const { connection } = useShown();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = useAct();
  const may = useMay('operator');
  if (task.stage === 'done') return <p className="dim">The task has landed. Add a new task instead.</p>;
  const send = async () => {
    setBusy(true);
    // Keep the text if the request failed.
    if (
      await run(
        () => api.noteTask({ project: task.projectId, task: task.number, text }),
        'Message saved for the next run',
      )
    )
      setText('');
    setBusy(false);
  };
  const isLost = connection === 'offline' || connection === 'signed_out';
  return (
    <form
      className="form note-box"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !isBusy) void send();
      }}
    >
      <label>
        Message the next agent
        <textarea
          rows={3}
          maxLength={LONGEST_NOTE}
          disabled={!may}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <p className="row">
        <button type="submit" className="primary" disabled={text.trim() === '' || isLost} aria-busy={isBusy}>
          Send
        </button>
        <span className="dim">
          {task.lease
            ? `The next run reads it. ${workerName(task.lease.workerId)}, which works on it now, does not see it.`
            : 'The next run reads it as part of its prompt.'}
        </span>
      </p>
    </form>
  );
}
