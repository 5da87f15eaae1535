import './question.css';
import type { QuestionView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Action, useAct } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';

/** A question's options, its default, and room for words; the same wherever it is asked. */
export function Answer({ question }: { question: QuestionView }) {
  const { project } = useShown();
  const { id, ref, options, allowFreeText, defaultAnswer, isDefaultLearned, expiresAt } = question;
  const now = useNow();
  const about = { project: project.id, question: id, by: 'page' };
  return (
    <div className="answer">
      {options.length > 0 && (
        <ol className="options">
          {options.map(({ label, description }, index) => (
            <li key={label}>
              <Action
                act={() => api.answerQuestion({ ...about, option: index + 1 })}
                done={`${ref}: ${label}`}
                marks={String(index + 1)}
              >
                <kbd>{index + 1}</kbd> {label}
              </Action>
              {description && <span className="dim">{description}</span>}
            </li>
          ))}
        </ol>
      )}
      {defaultAnswer !== null && (
        <p className="row">
          <Action
            act={() => api.answerQuestion({ ...about, useDefault: true })}
            done={`${ref}: ${defaultAnswer}`}
            marks="default"
          >
            <kbd>.</kbd> {defaultAnswer}
          </Action>
          <span className="dim">
            {isDefaultLearned ? 'learned from earlier answers' : 'the default'}
            {expiresAt !== null && `, taken by itself in ${elapsed(expiresAt - now)}`}
          </span>
        </p>
      )}
      {(allowFreeText || options.length === 0) && <Words question={question} />}
    </div>
  );
}

function Words({ question: { id, ref } }: { question: QuestionView }) {
  const { project } = useShown();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const act = useAct();
  const send = async () => {
    if (text.trim() === '' || isBusy) return;
    setBusy(true);
    // What was typed stays when it did not get through.
    if (
      await act(() => api.answerQuestion({ project: project.id, question: id, by: 'page', text }), `${ref} is answered`)
    )
      setText('');
    setBusy(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        rows={2}
        value={text}
        aria-label={`Answer ${ref} in words`}
        placeholder="In your own words"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <button type="submit" disabled={isBusy || text.trim() === ''}>
        Answer
      </button>
    </form>
  );
}
