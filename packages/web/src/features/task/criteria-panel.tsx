import type { Criterion, TaskDetail } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { Markdown, MarkdownLine } from '../../shell/markdown.tsx';

const VERDICT = { met: ['working', 'met'], not: ['crashed', 'not met'], none: ['paused', 'not reviewed'] } as const;

/** The task's description and criteria, with verdicts. */
export function CriteriaPanel({ task }: { task: TaskDetail['task'] }) {
  return (
    <div className="criteria">
      <section aria-labelledby="criteria-head">
        <h3 id="criteria-head">Acceptance criteria</h3>
        {task.criteria.length === 0 && (
          <p className="dim">
            No criteria. A reviewer derives them from title and description. Press e to add your own.
          </p>
        )}
        <ol className="criteria-list">
          {task.criteria.map((criterion) => (
            <CriterionItem key={criterion.id} criterion={criterion} />
          ))}
        </ol>
      </section>
      <section aria-labelledby="wanted-head">
        <h3 id="wanted-head">Description</h3>
        {task.body.trim() === '' ? <p className="dim">No description.</p> : <Markdown text={task.body} level={4} />}
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
        {task.plan.trim() === '' ? <p className="dim">No plan.</p> : <Markdown text={task.plan} level={4} />}
        {task.subtasks.length > 0 && (
          <>
            <h4>Subtasks</h4>
            <ol className="subtasks">
              {task.subtasks.map((subtask) => (
                <li key={subtask}>
                  <MarkdownLine text={subtask} />
                </li>
              ))}
            </ol>
          </>
        )}
      </section>
    </div>
  );
}

function CriterionItem({ criterion: { id, text, met, evidence, isDerived } }: { criterion: Criterion }) {
  const [look, word] = VERDICT[met === null ? 'none' : met ? 'met' : 'not'];
  return (
    <li data-item tabIndex={-1}>
      <span className={look}>{word}</span>
      <div>
        <p>
          <span className="dim">{id}</span> <MarkdownLine text={text} />
          {isDerived && <span className="dim"> (derived by the reviewer)</span>}
        </p>
        {evidence && <Markdown text={evidence} level={4} className="dim" isFolded />}
      </div>
    </li>
  );
}
