import type { TaskDetail } from '@tidemill/contract';
import { lazy, Suspense, useMemo, useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { TaskLink, useTo } from '../../shell/page-link.tsx';
import { stageText } from '../../words.ts';

const Graph = lazy(() => import('../../graph/graph.tsx'));

/** A graph with more nodes is not readable; the list below has all tasks. */
const MOST_DRAWN = 150;

type Neighbour = TaskDetail['related'][number];

/** Tasks that this task waits for, and tasks that wait for it. */
export function DependenciesPanel({ detail }: { detail: TaskDetail }) {
  const { task, related } = detail;
  const self: Neighbour = { number: task.number, title: task.title, stage: task.stage, after: task.after };
  const all = [self, ...related.filter(({ number }) => number !== task.number)];
  const next = all.filter(({ after }) => after.includes(task.number));
  return (
    <div className="dependencies">
      {task.stage === 'open' ? (
        <EditAfter key={task.after.join()} task={task} />
      ) : (
        <p className="dim">The task has started. Dependencies can be changed only while it is open.</p>
      )}
      {all.length === 1 ? (
        <p className="dim">No dependencies.</p>
      ) : (
        <Suspense fallback={<p className="dim">Drawing…</p>}>
          <Drawing self={task.number} tasks={all.slice(0, MOST_DRAWN)} />
        </Suspense>
      )}
      {all.length > MOST_DRAWN && (
        <p className="dim">
          Showing {MOST_DRAWN} of {all.length.toLocaleString('en-US')} tasks.
        </p>
      )}
      <Neighbours title="Waits for" tasks={all.filter(({ number }) => task.after.includes(number))} />
      <Neighbours title="Tasks that wait for it" tasks={next} />
    </div>
  );
}

function Drawing({ self, tasks }: { self: number; tasks: Neighbour[] }) {
  const to = useTo();
  // Every load returns new objects. Compute the layout only when their content changes.
  const key = JSON.stringify(tasks.map(({ number, title, stage, after }) => [number, title, stage, after]));
  const { nodes, edges } = useMemo(() => graphOf(self, tasks, to), [key, self]);
  return <Graph label={`What #${self} waits for, and what waits for it`} nodes={nodes} edges={edges} />;
}

function graphOf(self: number, tasks: Neighbour[], to: (address: string) => string) {
  const known = new Set(tasks.map(({ number }) => number));
  return {
    nodes: tasks.map(({ number, title, stage }) => ({
      id: `#${number}`,
      label: `#${number} ${stageText(stage)}${number === self ? ' (this)' : ''}`,
      about: plainLine(title),
      look: lookOf(stage),
      href: to(`/tasks/${number}`),
    })),
    edges: tasks.flatMap(({ number, after }) =>
      after.filter((before) => known.has(before)).map((before) => ({ from: `#${before}`, to: `#${number}` })),
    ),
  };
}

function lookOf(stage: string): string {
  if (stage === 'done') return 'landed';
  if (stage === 'cancelled') return 'paused';
  if (stage === 'needs_info' || stage === 'blocked') return 'waiting';
  return stage === 'open' ? 'idle' : 'working';
}

const SHOWN = 100;

function Neighbours({ title, tasks }: { title: string; tasks: Neighbour[] }) {
  if (tasks.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className="neighbours">
        {tasks.slice(0, SHOWN).map(({ number, title: name, stage }) => (
          <li key={number}>
            <TaskLink number={number} data-item /> <span className="title">{plainLine(name)}</span>{' '}
            <span className={lookOf(stage)}>{stageText(stage)}</span>
          </li>
        ))}
      </ul>
      {tasks.length > SHOWN && <p className="dim">and {(tasks.length - SHOWN).toLocaleString('en-US')} more</p>}
    </section>
  );
}

function EditAfter({ task }: { task: TaskDetail['task'] }) {
  const [text, setText] = useState(task.after.join(', '));
  const [isBusy, setBusy] = useState(false);
  const run = useAct();
  const may = useMay('operator');
  const words = text.split(/[\s,#]+/).filter((word) => word !== '');
  const wrong = words.find((word) => !/^[1-9]\d{0,14}$/.test(word));
  const numbers = [...new Set(words.map(Number))];
  const isChanged = numbers.join() !== task.after.join();
  const save = async () => {
    setBusy(true);
    const done = numbers.length === 0 ? 'waits for no task' : `waits for ${numbers.map((one) => `#${one}`).join(', ')}`;
    await run(
      () => api.setDependencies({ project: task.projectId, task: task.number, after: numbers }),
      `#${task.number} ${done}`,
    );
    setBusy(false);
  };
  return (
    <form
      className="form after-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && wrong === undefined && !isBusy) void save();
      }}
    >
      <label>
        Starts after
        <input
          value={text}
          placeholder="Task numbers, such as 3, 7"
          disabled={!may}
          aria-invalid={wrong !== undefined}
          aria-describedby="after-wrong"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit" disabled={!isChanged || wrong !== undefined} aria-busy={isBusy}>
        Save
      </button>
      <p id="after-wrong" className={wrong === undefined ? 'dim' : 'crashed'} role="status">
        {wrong !== undefined && `"${wrong.slice(0, 40)}" is not a task number. Write numbers such as 3, 7`}
      </p>
    </form>
  );
}
