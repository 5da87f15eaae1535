import type { SpecDetail, SpecTaskView } from '@tidemill/contract';
import { lazy, Suspense, useMemo } from 'react';
import { plainLine } from '../../plain.ts';
import { Markdown } from '../../shell/markdown.tsx';
import { TaskLink, useTo } from '../../shell/page-link.tsx';
import { stageText } from '../../words.ts';
import { lookOfStage } from './standing.ts';

const Graph = lazy(() => import('../../graph/graph.tsx'));

/** A graph with more nodes is not readable; the list below has all tasks. */
const MOST_DRAWN = 150;

/** The tasks as a graph, and each with what it needs. */
export function TasksPanel({ detail: { spec, tasks } }: { detail: SpecDetail }) {
  if (tasks.length === 0) return <p className="empty">This version has no tasks yet.</p>;
  return (
    <>
      <Suspense fallback={<p className="dim">Drawing…</p>}>
        <Drawing name={`S${spec.number}`} tasks={tasks.slice(0, MOST_DRAWN)} />
      </Suspense>
      {tasks.length > MOST_DRAWN && (
        <p className="dim">
          The graph shows {MOST_DRAWN} of {tasks.length} tasks.
        </p>
      )}
      <ol className="spec-tasks">
        {tasks.map((task) => (
          <Task key={task.id} task={task} />
        ))}
      </ol>
    </>
  );
}

function Drawing({ name, tasks }: { name: string; tasks: SpecTaskView[] }) {
  const to = useTo();
  // Every load returns new objects. Compute the layout only when their content changes.
  const key = JSON.stringify(
    tasks.map(({ id, title, stage, number, dependsOn }) => [id, title, stage, number, dependsOn]),
  );
  const { nodes, edges } = useMemo(() => graphOf(tasks, to), [key]);
  return <Graph label={`Tasks of ${name}, in the order of building`} nodes={nodes} edges={edges} />;
}

function graphOf(tasks: SpecTaskView[], to: (address: string) => string) {
  return {
    nodes: tasks.map(({ id, title, phase, stage, number }) => ({
      id,
      label: `${id} ${stage ? stageText(stage) : phase}`,
      about: plainLine(title),
      look: lookOfStage(stage),
      ...(number === null ? {} : { href: to(`/tasks/${number}`) }),
    })),
    edges: tasks.flatMap(({ id, dependsOn }) => dependsOn.map((before) => ({ from: before, to: id }))),
  };
}

function Task({ task }: { task: SpecTaskView }) {
  const { id, title, phase, action, files, dependsOn, readiness, gotchas, accept, validate, number, stage, detail } =
    task;
  return (
    <li className="card">
      <h3>
        <span className="dim">{id}</span> {plainLine(title)}
      </h3>
      {number !== null && (
        <p>
          <TaskLink number={number} data-item />
        </p>
      )}
      <p className="row dim">
        {stage && <span className={lookOfStage(stage)}>{stageText(stage)}</span>}
        <span>
          {phase}, {action}
        </span>
        <span className={readiness.isReady ? '' : 'waiting'}>readiness {readiness.score}</span>
        {dependsOn.length > 0 && <span>after {dependsOn.join(', ')}</span>}
        {files.length > 0 && <code>{files.map(plainLine).join(', ')}</code>}
      </p>
      {!readiness.isReady && (
        <p className="waiting">Not ready to be built: {readiness.missing.map(({ advice }) => advice).join('; ')}.</p>
      )}
      {detail && <Markdown text={detail} level={4} isFolded />}
      {accept.length > 0 && (
        <ul className="criteria" aria-label={`Acceptance criteria of ${id}`}>
          {accept.map((text) => (
            <li key={text}>{plainLine(text)}</li>
          ))}
        </ul>
      )}
      {validate && (
        <p className="dim">
          Shown by <code>{plainLine(validate)}</code>
        </p>
      )}
      {gotchas.map(({ text }) => (
        <p key={text} className="dim">
          Known problem: {plainLine(text)}
        </p>
      ))}
    </li>
  );
}
