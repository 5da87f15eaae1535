import type { TaskSummary, WorkerStatus } from '@tidemill/contract';
import { type CSSProperties, type MouseEvent, memo } from 'react';
import { plainLine } from '../../plain.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { useElapsed } from '../../time.ts';
import { PRIORITY, stageText, timeOf } from '../../words.ts';
import { afterText, conflictText, heldBy } from './card-text.ts';

/** What a card can ask of the board. One stable object for all cards, so that it causes no redraw. */
export interface CardActions {
  select(task: TaskSummary, isRange: boolean): void;
  move(task: TaskSummary): void;
  drag(task: TaskSummary): void;
  drop(): void;
}

interface CardProps {
  task: TaskSummary;
  titleLines: number;
  heldLines: number;
  height: number;
  /** Its position in the list, from 0, and the length of the list. */
  index: number;
  size: number;
  top: number;
  workerStatus: WorkerStatus | undefined;
  isSelected: boolean;
  mayAct: boolean;
  actions: CardActions;
}

export const Card = memo(function Card(props: CardProps) {
  const { task, titleLines, heldLines, height, index, size, top, workerStatus, isSelected, mayAct, actions } = props;
  const { number, stage, priority, kind, worker } = task;
  const held = heldBy(task);
  const after = afterText(task);
  const conflict = conflictText(task);
  const about = `about-${number}`;
  const onClick = (event: MouseEvent) => {
    if (!event.shiftKey || !mayAct) return;
    event.preventDefault();
    actions.select(task, true);
  };
  return (
    <li
      className={isSelected ? 'board-card chosen' : 'board-card'}
      style={{ '--top': `${top}px`, '--height': `${height}px` } as CSSProperties}
      aria-setsize={size}
      aria-posinset={index + 1}
      data-task={number}
      draggable={mayAct}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', `#${number} ${task.title}`);
        actions.drag(task);
      }}
      onDragEnd={() => actions.drop()}
    >
      <p className="card-head">
        {mayAct && (
          <input
            type="checkbox"
            aria-label={`Select #${number}`}
            checked={isSelected}
            onChange={() => undefined}
            onClick={(event) => actions.select(task, event.shiftKey)}
          />
        )}
        <span className="number">#{number}</span>
        {priority !== 2 && <span className={`priority p${priority}`}>{PRIORITY[priority]}</span>}
        {/* Like the priority, the default kind is not shown. */}
        <span className={kind === 'feature' ? 'unseen' : 'dim'}>{kind}</span>
        <Since at={task.stageSince} stage={stage} />
        {/* The keyboard shortcut is m. */}
        {mayAct && (
          <button type="button" className="card-move" tabIndex={-1} onClick={() => actions.move(task)}>
            Move<span className="unseen"> #{number}</span>
          </button>
        )}
      </p>
      <PageLink
        to={`/tasks/${number}`}
        className="card-title"
        data-item
        draggable={false}
        aria-describedby={about}
        style={{ '--lines': titleLines } as CSSProperties}
        title={task.title.length > 60 ? plainLine(task.title) : undefined}
        onClick={onClick}
      >
        <span className="unseen">#{number} </span>
        <bdi>{plainLine(task.title)}</bdi>
      </PageLink>
      <div id={about}>
        {worker !== null && <p className={`card-line ${workerStatus ?? 'working'}`}>{worker}</p>}
        {after !== null && <p className="card-line dim">{after}</p>}
        {conflict !== null && (
          <p className="card-line dim" title={conflict}>
            {conflict}
          </p>
        )}
        {held !== null && (
          <p className="card-held" style={{ '--lines': heldLines } as CSSProperties} title={held}>
            {held}
          </p>
        )}
      </div>
    </li>
  );
});

function Since({ at, stage }: { at: number; stage: string }) {
  const text = useElapsed(at);
  return (
    <time className="since" dateTime={new Date(at).toISOString()} title={`In ${stageText(stage)} since ${timeOf(at)}`}>
      {text}
    </time>
  );
}
