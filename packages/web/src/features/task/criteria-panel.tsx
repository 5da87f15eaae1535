import type { Criterion, TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { plain, plainLine } from '../../plain.ts';

const VERDICT = { met: ['working', 'met'], not: ['crashed', 'not met'], none: ['paused', 'not reviewed'] } as const;

/** The task's description and criteria, with verdicts. */
export function CriteriaPanel({ task }: { task: TaskDetail['task'] }) {
  return (
    <div className="criteria">
      <section aria-labelledby="criteria-head">
        <h3 id="criteria-head">Acceptance criteria</h3>
        {task.criteria.length === 0 && (
          <p className="dim">No criteria. Without them a person must review the change. Press e to add some.</p>
        )}
        <ol className="criteria-list">
          {task.criteria.map((criterion) => (
            <CriterionItem key={criterion.id} criterion={criterion} />
          ))}
        </ol>
      </section>
      <section aria-labelledby="wanted-head">
        <h3 id="wanted-head">Description</h3>
        {task.body.trim() === '' ? <p className="dim">No description.</p> : <LongText text={task.body} />}
        {task.files.length > 0 && (
          <p>
            Files it may touch:{' '}
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
        {task.plan.trim() === '' ? <p className="dim">No plan.</p> : <LongText text={task.plan} />}
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

/** Unformatted text; a long one is cut until the person shows more. */
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
      {isWhole && text.length > MOST && <p className="dim">The rest is not shown.</p>}
    </>
  );
}
