import type { RequirementView, SpecDetail, SpecTaskView } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { Markdown } from '../../shell/markdown.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { plural, stageText } from '../../words.ts';
import { lookOfStage } from './standing.ts';

/** Each requirement with its tasks, their evidence, and the judge's verdict. */
export function RequirementsPanel({ detail: { requirements, tasks, spec } }: { detail: SpecDetail }) {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return (
    <ol className="requirements">
      {requirements.map((requirement) => (
        <li key={requirement.id} className="card">
          <h3>
            {requirement.id} <Verdict requirement={requirement} isBuilt={spec.tasks.length > 0} />
          </h3>
          {requirement.kind === 'non_functional' && <p className="dim">non-functional</p>}
          <Markdown text={requirement.text} level={4} />
          {requirement.evidence && <Markdown text={requirement.evidence} level={4} className="dim" />}
          <ul>
            {requirement.tasks.map((id) => {
              const task = byId.get(id);
              return task ? <TaskRow key={id} task={task} /> : null;
            })}
          </ul>
        </li>
      ))}
    </ol>
  );
}

function Verdict({ requirement: { met, done, total }, isBuilt }: { requirement: RequirementView; isBuilt: boolean }) {
  if (met !== null) return <span className={met ? 'landed' : 'crashed'}>{met ? 'met' : 'not met'}</span>;
  return <span className="dim">{isBuilt ? `${done} of ${plural(total, 'task')} done` : plural(total, 'task')}</span>;
}

function TaskRow({ task: { id, number, title, stage, landedCommit, gates, accept, met } }: { task: SpecTaskView }) {
  return (
    <li className="row">
      <span className="dim">{id}</span>
      {number === null ? null : <TaskLink number={number} data-item />}
      <span className="title">{plainLine(title)}</span>
      {stage && <span className={lookOfStage(stage)}>{stageText(stage)}</span>}
      {landedCommit && <code>{landedCommit.slice(0, 10)}</code>}
      {gates.length > 0 && <span className="dim">gates passed: {gates.join(', ')}</span>}
      {met > 0 && (
        <span className="dim">
          {met} of {accept.length} criteria met
        </span>
      )}
    </li>
  );
}
