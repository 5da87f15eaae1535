import './progress.css';
import { progressWords, type TodoItem, type WorkerView } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { elapsed } from '../../time.ts';

/** The progress that an agent shows, if any. A bar only where the percent is known. */
export function Progress({ worker, agoMs, list }: { worker: WorkerView; agoMs: number; list?: 'open' | 'folded' }) {
  const { name, progress, runMs, usualMs } = worker;
  const time = runMs !== null && usualMs !== null ? `${elapsed(runMs + agoMs)}, usually ${elapsed(usualMs)}` : '';
  if (!progress) return time === '' ? null : <p className="dim">{time}</p>;
  const { percent, text, tools, todo } = progress;
  const now = plainLine(text || tools?.current || '');
  // The percent is beside the bar.
  const words = [progressWords({ ...progress, percent: null }), time].filter((part) => part !== '').join(' · ');
  return (
    <>
      {(percent !== null || now !== '') && (
        <p className={percent === null ? 'progress unknown' : 'progress'}>
          {percent !== null && (
            <>
              <progress value={percent} max={100} aria-label={`${name}: progress`} />{' '}
              <span>{Math.round(percent)} %</span>{' '}
            </>
          )}
          <span className="dim clamp">{now}</span>
        </p>
      )}
      {words !== '' && <p className="dim progress-words">{words}</p>}
      {list && <Todo todo={todo} isOpen={list === 'open'} />}
    </>
  );
}

/** An agent's own to-do list. */
export function Todo({ todo, isOpen }: { todo: TodoItem[]; isOpen: boolean }) {
  if (todo.length === 0) return null;
  const done = todo.filter(({ status }) => status === 'done').length;
  return (
    <details className="todo" open={isOpen}>
      <summary>
        To do: {done} of {todo.length} done
      </summary>
      <ol>
        {todo.map(({ text, status }, index) => (
          // A step has no other identity than its place.
          <li key={index} className={status} aria-current={status === 'active' ? 'step' : undefined}>
            <span aria-hidden="true">{MARK[status]}</span> <span className="unseen">{SAID[status]}</span>{' '}
            {plainLine(text)}
          </li>
        ))}
      </ol>
    </details>
  );
}

const MARK: Record<TodoItem['status'], string> = { done: '✓', active: '▸', pending: '○' };
const SAID: Record<TodoItem['status'], string> = { done: 'done:', active: 'in progress:', pending: 'to do:' };
