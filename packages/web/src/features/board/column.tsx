import { useVirtualizer } from '@tanstack/react-virtual';
import { RESERVED_STAGES, type TaskMove, type TaskSummary, type WorkerStatus } from '@tidemill/contract';
import { type CSSProperties, memo, useCallback, useEffect, useMemo, useRef } from 'react';
import { useWidth } from '../../graph/width.ts';
import { errorText } from '../../shell/toasts.tsx';
import { stageText } from '../../words.ts';
import type { BoardStore } from './board-store.ts';
import { Card, type CardActions } from './card.tsx';
import { CARD_GAP, shapeOf } from './card-text.ts';
import { type Filters, fitsFilters, isNarrowed } from './filters.tsx';
import { useColumn } from './use-board.ts';

const OVERSCAN = 6;
/** The next page is requested this many cards before the end. */
const AHEAD = 40;
/** Padding and border, left and right, of the list and of a card. */
const CARD_INSET = 16 + 22;

export const NEEDS_YOU = ['needs_info', 'blocked'];

/** Whether the dragged card may be dropped here; null while nothing is dragged. */
export type DropView = Pick<TaskMove, 'via' | 'why'> | 'asking' | null;

interface ColumnProps {
  store: BoardStore;
  stage: string;
  /** The daemon's count of tasks in the stage. */
  count: number;
  filters: Filters;
  workers: ReadonlyMap<string, WorkerStatus>;
  selected: ReadonlySet<number>;
  drop: DropView;
  mayAct: boolean;
  actions: CardActions;
  onDrop: (stage: string) => void;
  onSelectRange: (tasks: readonly TaskSummary[], task: TaskSummary) => void;
  /** For columns that can be hidden. */
  onFold?: () => void;
}

export const StageColumn = memo(function StageColumn(props: ColumnProps) {
  const { store, stage, count, filters, drop, actions, onDrop, onSelectRange, onFold } = props;
  const view = useColumn(store, stage);
  const { tasks, isRead, isReading, hasMore, error } = view;
  const isFiltered = isNarrowed(filters) || filters.filter !== '';
  // Tasks in these stages have no worker, so a worker filter needs no request for them.
  const isIdle = filters.worker !== '' && RESERVED_STAGES.some((name) => name === stage);
  const isWanted = !isIdle && (count > 0 || tasks.length > 0);
  useEffect(() => {
    if (isWanted && !isRead && !isReading && error === null) void store.more(stage);
  }, [store, stage, isWanted, isRead, isReading, error]);
  const shown = useMemo(
    () => (isNarrowed(filters) ? tasks.filter((task) => fitsFilters(task, filters)) : tasks),
    [tasks, filters],
  );
  // Load more if the filters leave few cards of a page.
  const isShort = isRead && hasMore && shown.length < AHEAD;
  useEffect(() => {
    if (isShort && !isReading && error === null) void store.more(stage, isNarrowed(filters));
  }, [store, stage, filters, isShort, isReading, error]);
  const latest = useRef(shown);
  latest.current = shown;
  const own = useMemo(
    (): CardActions => ({
      ...actions,
      select: (task, isRange) => (isRange ? onSelectRange(latest.current, task) : actions.select(task, false)),
    }),
    [actions, onSelectRange],
  );
  const isOpen = hasMore && isRead;
  const total = isFiltered ? `${shown.length.toLocaleString('en-US')}${isOpen ? '+' : ''} of ` : '';
  const all = !isFiltered && isRead && !hasMore ? tasks.length : count;
  const id = `stage-${stage}`;
  return (
    <section
      className={['column', dropClass(drop), NEEDS_YOU.includes(stage) && 'needs', all === 0 && 'void']
        .filter(Boolean)
        .join(' ')}
      aria-labelledby={id}
      data-column={stage}
      onDragOver={(event) => {
        if (drop !== null) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(stage);
      }}
    >
      <header>
        <h3 id={id}>
          {stageText(stage)} <span className="column-count">{total + all.toLocaleString('en-US')}</span>
        </h3>
        {onFold && (
          <button
            type="button"
            className="quiet"
            aria-expanded="true"
            aria-label="Hide cancelled tasks"
            onClick={onFold}
          >
            Hide
          </button>
        )}
      </header>
      {drop !== null && drop !== 'asking' && <p className="drop-reason">{drop.why}</p>}
      {error !== null && (
        <p className="column-note">
          {errorText(error)}{' '}
          <button type="button" onClick={() => void store.more(stage)}>
            Retry
          </button>
        </p>
      )}
      {shown.length > 0 ? (
        <CardList {...props} actions={own} shown={shown} onEnd={() => error === null && void store.more(stage)} />
      ) : isReading || isShort ? (
        <p className="column-note dim">Loading…</p>
      ) : (
        isFiltered && all > 0 && <p className="column-note dim">No task matches the filter.</p>
      )}
    </section>
  );
});

function dropClass(drop: DropView): string {
  if (drop === null) return '';
  return drop === 'asking' ? 'drop-asking' : drop.via === null ? 'drop-not' : 'drop-may';
}

function CardList(props: ColumnProps & { shown: readonly TaskSummary[]; onEnd: () => void }) {
  const { stage, shown, workers, selected, mayAct, actions, onEnd } = props;
  const [scroller, room] = useWidth<HTMLDivElement>();
  const width = room - CARD_INSET;
  const list = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback((index: number) => shapeOf(shown[index]!, width).height + CARD_GAP, [shown, width]),
    // A new function for new tasks makes the list compute their heights again.
    getItemKey: useCallback((index: number) => shown[index]!.number, [shown]),
    overscan: OVERSCAN,
    paddingStart: 2,
  });
  useEffect(() => list.measure(), [list, width]);
  const items = list.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= shown.length - AHEAD) onEnd();
  });
  return (
    <div className="column-scroll" ref={scroller}>
      <ol aria-label={stageText(stage)} style={{ '--length': `${list.getTotalSize()}px` } as CSSProperties}>
        {items.map(({ index, key, start }) => {
          const task = shown[index];
          if (!task) return null;
          return (
            <Card
              key={key}
              task={task}
              {...shapeOf(task, width)}
              index={index}
              size={shown.length}
              top={start}
              workerStatus={task.worker === null ? undefined : workers.get(task.worker)}
              isSelected={selected.has(task.number)}
              mayAct={mayAct}
              actions={actions}
            />
          );
        })}
      </ol>
    </div>
  );
}

interface FoldedProps {
  count: number;
  drop: DropView;
  onDrop: (stage: string) => void;
  onOpen: () => void;
}

/** Cancelled tasks are hidden until the person opens them. Cards can still be dropped there. */
export function FoldedCancelled({ count, drop, onDrop, onOpen }: FoldedProps) {
  return (
    <section
      className={`column void ${dropClass(drop)}`}
      aria-labelledby="stage-cancelled"
      data-column="cancelled"
      onDragOver={(event) => {
        if (drop !== null) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop('cancelled');
      }}
    >
      <header>
        <h3 id="stage-cancelled">
          cancelled <span className="column-count">{count.toLocaleString('en-US')}</span>
        </h3>
      </header>
      {drop !== null && drop !== 'asking' && <p className="drop-reason">{drop.why}</p>}
      {count > 0 && (
        <p className="column-note">
          <button type="button" aria-expanded="false" aria-label="Show cancelled tasks" onClick={onOpen}>
            Show
          </button>
        </p>
      )}
    </section>
  );
}
