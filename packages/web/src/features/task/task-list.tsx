import type { TaskSummary } from '@tidemill/contract';
import { useEffect, useRef } from 'react';
import { useAddress } from '../../address.ts';
import { elapsed, useNow } from '../../time.ts';
import { stageText } from '../stage/mill.tsx';
import { Command } from './needs-you.tsx';

/** More rows would only slow the page down: the filter finds the rest. */
const ROWS = 200;

export function TaskList({ tasks, total }: { tasks: TaskSummary[]; total: number }) {
  const [filter, setFilter] = useAddress('filter');
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const found = tasks.filter((task) => fits(task, filter));
  return (
    <section className="tasks" aria-labelledby="tasks">
      <header>
        <h2 id="tasks">Tasks</h2>
        <input
          ref={box}
          type="search"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          placeholder="Filter: number, title, stage, worker"
          aria-label="Filter tasks by number, title, stage or worker"
          aria-keyshortcuts="/"
        />
        <p className="dim" role="status">
          {Math.min(found.length, ROWS).toLocaleString('en-US')} of {total.toLocaleString('en-US')}
        </p>
      </header>
      {total === 0 && (
        <>
          <p>No tasks yet. Put the first one in:</p>
          <Command text={'tidemill task add "What should be done"'} />
        </>
      )}
      {total > 0 && found.length === 0 && <p className="dim">No task fits “{filter}”.</p>}
      <Rows tasks={found.slice(0, ROWS)} />
      {found.length > ROWS && <p className="dim">The first {ROWS} are shown. Filter to see others.</p>}
      {total > tasks.length && (
        <p className="dim">
          The filter knows the {tasks.length.toLocaleString('en-US')} tasks that are next or newest. All of them:
          tidemill task list
        </p>
      )}
    </section>
  );
}

function Rows({ tasks }: { tasks: TaskSummary[] }) {
  const now = useNow();
  return (
    <ul>
      {tasks.map((task) => (
        <li key={task.id} data-task={task.number}>
          <span className="number">#{task.number}</span>
          <span className="title">{task.title}</span>
          <span className={look(task)}>{stageText(task.stage)}</span>
          <span className="dim">{task.worker ?? (task.unmet > 0 ? `after ${numbers(task)}` : '')}</span>
          <span className="dim since">{elapsed(now - task.stageSince)}</span>
        </li>
      ))}
    </ul>
  );
}

const numbers = ({ after }: TaskSummary) => after.map((number) => `#${number}`).join(', ');

function fits({ number, title, stage, worker }: TaskSummary, filter: string): boolean {
  const text = `#${number} ${title} ${stageText(stage)} ${stage} ${worker ?? ''}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The class that colours a task's stage; the words say the same. */
function look({ stage, worker, waiting }: TaskSummary): string {
  if (stage === 'blocked' || stage === 'needs_info' || waiting !== null) return 'waiting';
  if (stage === 'done') return 'landed';
  if (worker !== null) return stage === 'review' ? 'reviewing' : 'working';
  return 'paused';
}
