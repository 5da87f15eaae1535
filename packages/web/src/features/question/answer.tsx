import './question.css';
import type { QuestionView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action, useAct, useMay } from '../../shell/action.tsx';
import { MarkdownLine } from '../../shell/markdown.tsx';
import { useProject } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';

/** A question's options, its default and a text field. `hasKeys`: options also have keys. */
export function Answer({ question, hasKeys = false }: { question: QuestionView; hasKeys?: boolean }) {
  const project = useProject();
  const { id, ref, type, options, allowFreeText, defaultAnswer } = question;
  const about = { project: project.id, question: id, by: 'page' };
  const isOption = options.some(({ label }) => label === defaultAnswer);
  return (
    <div className="answer">
      {options.length > 0 && (
        <ol className="options">
          {options.map(({ label, description, implications }, index) => {
            const isDefault = label === defaultAnswer;
            return (
              <li key={label}>
                <Action
                  act={() => api.answerQuestion({ ...about, option: index + 1 })}
                  done={`${ref}: ${plainLine(label)}`}
                  marks={isDefault ? `${index + 1} default` : String(index + 1)}
                >
                  {hasKeys && index < 9 && <kbd>{index + 1}</kbd>} {hasKeys && isDefault && <kbd>.</kbd>}{' '}
                  {plainLine(label)}
                </Action>
                {description && (
                  <span className="dim">
                    <MarkdownLine text={description} />
                  </span>
                )}
                {implications && (
                  <span className="dim">
                    <MarkdownLine text={implications} />
                  </span>
                )}
                {isDefault && <TakenBy question={question} />}
              </li>
            );
          })}
        </ol>
      )}
      {defaultAnswer !== null && !isOption && (
        <p className="row">
          <Action
            act={() => api.answerQuestion({ ...about, useDefault: true })}
            done={`${ref}: ${plainLine(defaultAnswer)}`}
            marks="default"
          >
            {hasKeys && <kbd>.</kbd>} {plainLine(defaultAnswer)}
          </Action>
          <TakenBy question={question} />
        </p>
      )}
      {(options.length === 0 || (allowFreeText && type !== 'celebratory')) && <Words question={question} />}
    </div>
  );
}

/** Where the default comes from, and when it is used. */
function TakenBy({ question: { isDefaultLearned, expiresAt } }: { question: QuestionView }) {
  const now = useNow();
  return (
    <span className="dim">
      {isDefaultLearned ? 'learned from earlier answers' : 'default'}
      {expiresAt !== null && `, used automatically in ${elapsed(expiresAt - now)}`}
    </span>
  );
}

function Words({ question: { id, ref } }: { question: QuestionView }) {
  const project = useProject();
  const may = useMay('operator');
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const act = useAct();
  const send = async () => {
    if (text.trim() === '' || isBusy) return;
    setBusy(true);
    // Keep the text if the request failed.
    if (await act(() => api.answerQuestion({ project: project.id, question: id, by: 'page', text }), `${ref} answered`))
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
        rows={1}
        value={text}
        aria-label={`Your answer to ${ref}`}
        disabled={!may}
        placeholder="Your answer; Enter sends it"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <button type="submit" disabled={!may || text.trim() === ''} aria-busy={isBusy}>
        Answer <span className="unseen">{ref}</span>
      </button>
    </form>
  );
}
