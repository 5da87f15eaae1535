import './board.css';
import { stageOrder, type TaskSummary, type WorkerStatus } from '@tidemill/contract';
import { useMemo } from 'react';
import { useAddress } from '../../address.ts';
import { useMay } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { plural, stageText } from '../../words.ts';
import { humanStages } from '../stage/flow.ts';
import { AddTask } from './add-task.tsx';
import { BulkBar } from './bulk.tsx';
import type { CardActions } from './card.tsx';
import { FoldedCancelled, NEEDS_YOU, StageColumn } from './column.tsx';
import { FilterBar, type Filters, useFilters } from './filters.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { showColumn, toNeighbour, useFocused, useIsNarrow, useRoom, useShownColumn } from './room.ts';
import { useBoard } from './use-board.ts';
import { useMoves } from './use-moves.ts';
import { useSelection } from './use-selection.ts';

export default function BoardPage() {
  const { project, status } = useShown();
  const [adding, setAdding] = useAddress('new');
  const filter = useFilters();
  const store = useBoard(filter.filters.filter);
  const mayAct = useMay('operator');
  const [, choose] = useAddress('stage');
  const waiting = [...humanStages(project), ...NEEDS_YOU].filter((stage) => status.tasks[stage]);
  const needs = waiting.reduce((sum, stage) => sum + (status.tasks[stage] ?? 0), 0);
  const toNeedsYou = () => {
    const stage = waiting[0] ?? 'blocked';
    if (!showColumn(stage)) choose(stage);
  };
  const add = () => mayAct && setAdding('1');
  useKeys([{ keys: 'n', does: 'Add a task', run: add }]);
  return (
    <div className="board-page">
      <PageHead title="Board" about={status.total === 0 ? undefined : plural(status.total, 'task')}>
        {needs > 0 && (
          <button type="button" className="needs-you" onClick={toNeedsYou}>
            {needs.toLocaleString('en-US')} {needs === 1 ? 'needs' : 'need'} you
          </button>
        )}
        <button type="button" className="primary" disabled={!mayAct} onClick={add} aria-keyshortcuts="n">
          Add a task <kbd>n</kbd>
        </button>
      </PageHead>
      <RoleNote what="Adding and moving tasks" />
      {status.total === 0 ? (
        <Empty>
          <p>No tasks yet. Press n to add one, or run this in a terminal:</p>
          <Command text='tidemill task add "What should be done" --accept "How you know it is done"' />
        </Empty>
      ) : (
        <>
          <FilterBar {...filter} />
          <Board store={store} filters={filter.filters} mayAct={mayAct} />
        </>
      )}
      {adding !== '' && <AddTask onAdded={(task) => store.take([task])} onClose={() => setAdding('')} />}
    </div>
  );
}

interface BoardProps {
  store: ReturnType<typeof useBoard>;
  filters: Filters;
  mayAct: boolean;
}

function Board({ store, filters: given, mayAct }: BoardProps) {
  const { project, status } = useShown();
  const { selected, toggle, selectRange, clear } = useSelection();
  const moves = useMoves(store);
  const { ask, drag, endDrag } = moves;
  const [isCancelledShown, showCancelled] = useAddress('cancelled');
  const room = useRoom();
  const isNarrow = useIsNarrow();
  const [chosen, choose] = useAddress('stage');
  const filters = useSame(given);
  const workers = useSame(Object.fromEntries(status.workers.map(({ name, status: doing }) => [name, doing])));
  const workerStatus = useMemo(() => new Map<string, WorkerStatus>(Object.entries(workers)), [workers]);
  const actions = useMemo(
    (): CardActions => ({ select: toggle, move: (task) => ask({ task, move: null }), drag, drop: endDrag }),
    [toggle, ask, drag, endDrag],
  );
  const focused = useFocused(store);
  const withFocused = (work: (task: TaskSummary) => void) => () => {
    const task = focused();
    if (task && mayAct) work(task);
  };
  useKeys([
    { keys: 'x', does: 'Select the task', run: withFocused(toggle) },
    { keys: 'm', does: 'Move the task', run: withFocused((task) => ask({ task, move: null })) },
    { keys: 'h', does: 'Previous column', repeats: true, run: () => toNeighbour(-1) },
    { keys: 'l', does: 'Next column', repeats: true, run: () => toNeighbour(1) },
    ...(selected.size > 0 ? [{ keys: 'Escape', does: 'Clear the selection', run: clear }] : []),
  ]);
  const stages = ['open', ...stageOrder(project, status.tasks), ...NEEDS_YOU, 'done', 'cancelled'];
  const here = stages.includes(chosen) ? chosen : (stages.find((stage) => status.tasks[stage]) ?? 'open');
  const shown = isNarrow ? [here] : stages;
  useShownColumn(isNarrow ? '' : chosen);
  return (
    <>
      {isNarrow && (
        <select
          className="stage-choice"
          aria-label="Stage"
          value={here}
          onChange={(event) => choose(event.target.value)}
        >
          {stages.map((stage) => (
            <option key={stage} value={stage}>
              {stageText(stage)} ({(status.tasks[stage] ?? 0).toLocaleString('en-US')})
              {NEEDS_YOU.includes(stage) && status.tasks[stage] ? ': needs you' : ''}
            </option>
          ))}
        </select>
      )}
      <div className="board" ref={room}>
        {shown.map((stage) =>
          stage === 'cancelled' && !isNarrow && isCancelledShown === '' ? (
            <FoldedCancelled
              key={stage}
              count={status.tasks[stage] ?? 0}
              drop={moves.dropView(stage)}
              onDrop={moves.drop}
              onOpen={() => showCancelled('shown')}
            />
          ) : (
            <StageColumn
              key={stage}
              {...{ store, stage, filters, selected, mayAct, actions }}
              count={status.tasks[stage] ?? 0}
              workers={workerStatus}
              drop={moves.dropView(stage)}
              onDrop={moves.drop}
              onSelectRange={selectRange}
              onFold={stage === 'cancelled' && !isNarrow ? () => showCancelled('') : undefined}
            />
          ),
        )}
      </div>
      <BulkBar store={store} selected={selected} clear={clear} />
      {moves.asked && <MoveDialog {...moves.asked} perform={moves.perform} onClose={() => ask(null)} />}
    </>
  );
}

/** Returns the same object while its content is the same. */
function useSame<T>(value: T): T {
  const text = JSON.stringify(value);
  return useMemo(() => value, [text]);
}
