import type { Criterion, TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { plain, plainLine } from '../../plain.ts';

const VERDICT = { met: ['working', 'met'], not: ['crashed', 'not met'], none: ['paused', 'not judged'] } as const;

/** What is wanted, and how it was judged. */
export function CriteriaPanel({ task }: { task: TaskDetail['task'] }) {
  return (
    <div className="criteria">
      <section aria-labelledby="criteria-head">
        <h3 id="criteria-head">Acceptance criteria</h3>
        {task.criteria.length === 0 && (
          <p className="dim">
            None. Without them no agent can judge the change, and a person is asked. Press e to add some.
          </p>
        )}
        <ol className="criteria-list">
          {task.criteria.map((criterion) => (
            <CriterionItem key={criterion.id} criterion={criterion} />
          ))}
        </ol>
      </section>
      <section aria-labelledby="wanted-head">
        <h3 id="wanted-head">What is wanted</h3>
        {task.body.trim() === '' ? <p className="dim">The title says it all.</p> : <LongText text={task.body} />}
        {task.files.length > 0 && (
          <p>
            May touch{' '}
            {task.files.map((file) => (
              <code key={file} className="chip">
                {plainLine(file)}
              </code>
            ))}
          </p>
        )}
      </section>
      <section aria-labelledby="plan-head">
        <h3 id="plan-head">Plan</h3>
        {task.plan.trim() === '' ? <p className="dim">There is none.</p> : <LongText text={task.plan} />}
        {task.subtasks.length > 0 && (
          <>
            <h4>Subtasks</h4>
            <ol className="subtasks">
              {task.subtasks.map((subtask) => (
                <li key={subtask}>{plain(subtask)}</li>
              ))}
            </ol>
          </>
        )}
      </section>
    </div>
  );
}

function CriterionItem({ criterion: { id, text, met, evidence } }: { criterion: Criterion }) {
  const [look, word] = VERDICT[met === null ? 'none' : met ? 'met' : 'not'];
  return (
    <li data-item tabIndex={-1}>
      <span className={look}>{word}</span>
      <div>
        <p>
          <span className="dim">{id}</span> {plain(text)}
        </p>
        {evidence && <LongText text={evidence} className="dim" />}
      </div>
    </li>
  );
}

const SHORT = 3000;
const MOST = 100_000;

/** Text as it was written; a long one shows its beginning first. */
export function LongText({ text, className = '' }: { text: string; className?: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = plain(isWhole ? text.slice(0, MOST) : text.slice(0, SHORT));
  return (
    <>
      <p className={`as-written ${className}`}>
        {shown}
        {!isWhole && text.length > SHORT && '…'}
      </p>
      {!isWhole && text.length > SHORT && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show {(Math.min(text.length, MOST) - SHORT).toLocaleString('en-US')} more characters
        </button>
      )}
      {isWhole && text.length > MOST && <p className="dim">The rest is left out.</p>}
    </>
  );
}
