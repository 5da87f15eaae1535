import { AppError, type TaskMove, type TaskSummary } from '@tidemill/contract';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { useAct } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { showError } from '../../shell/toasts.tsx';
import { stageText } from '../../words.ts';
import type { BoardStore } from './board-store.ts';
import type { DropView } from './column.tsx';

export type Perform = (task: TaskSummary, move: TaskMove, note?: string) => void;

/** A move in a dialog; `move` is null until it is chosen. */
interface AskedMove {
  task: TaskSummary;
  move: TaskMove | null;
}

interface Dragged {
  task: TaskSummary;
  moves: TaskMove[] | null;
}

/** Some moves need more than a drop: a note or a confirmation. */
export const needsWords = ({ via, needsNote }: TaskMove) => needsNote || via === 'cancel';

/** Moves tasks between stages by drag or dialog. A move is shown at once and undone if the daemon refuses. */
export function useMoves(store: BoardStore) {
  const { project } = useShown();
  const act = useAct();
  const [asked, ask] = useState<AskedMove | null>(null);
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const held = useRef<{ task: TaskSummary; moves: Promise<TaskMove[]> } | null>(null);

  const perform: Perform = (task, { to }, note) => {
    ask(null);
    const pending = store.move(store.task(task.number) ?? task, to);
    const work = async () => {
      try {
        pending.confirm(await api.moveTask({ project: project.id, task: task.number, to, from: task.stage, note }));
      } catch (error) {
        pending.undo();
        throw error;
      }
    };
    void act(work, `#${task.number} moved to ${stageText(to)}`);
  };

  const drag = (task: TaskSummary) => {
    const moves = api.task({ project: project.id, task: task.number }).then((detail) => detail.moves);
    const mine = { task, moves };
    held.current = mine;
    // Chromium cancels a drag if the page changes while it starts.
    setTimeout(() => held.current === mine && setDragged({ task, moves: null }));
    moves.then(
      (known) => held.current === mine && setDragged({ task, moves: known }),
      (error) => showError(error),
    );
  };
  const endDrag = () => {
    held.current = null;
    setDragged(null);
  };
  const drop = async (stage: string) => {
    const mine = held.current;
    endDrag();
    if (!mine || mine.task.stage === stage) return;
    // The error was shown when the request failed.
    const moves = await mine.moves.catch(() => null);
    if (!moves) return;
    const move = moveTo(moves, stage);
    if (move.via === null) showError(forbidden(mine.task, move));
    else if (needsWords(move)) ask({ task: mine.task, move });
    else perform(mine.task, move);
  };
  useLostDrag(dragged !== null, endDrag);

  const latest = useRef({ drag, endDrag, drop });
  latest.current = { drag, endDrag, drop };
  /** Stable functions, so that they cause no redraw of cards. */
  const stable = useMemo(
    () => ({
      drag: (task: TaskSummary) => latest.current.drag(task),
      endDrag: () => latest.current.endDrag(),
      drop: (stage: string) => void latest.current.drop(stage),
    }),
    [],
  );
  const dropViews = useMemo(() => new Map<string, DropView>(), [dragged]);
  const dropView = (stage: string): DropView => {
    if (!dragged || dragged.task.stage === stage) return null;
    const known = dropViews.get(stage) ?? (dragged.moves ? moveTo(dragged.moves, stage) : 'asking');
    dropViews.set(stage, known);
    return known;
  };
  return { asked, ask, perform, dropView, ...stable };
}

const ASIDE: Record<string, string> = {
  needs_info: 'tasks come here only when an agent asks a question',
  blocked: 'tasks come here only when they are blocked',
};

function moveTo(moves: TaskMove[], to: string): TaskMove {
  const why = ASIDE[to] ?? 'its pipeline does not have this stage';
  return moves.find((move) => move.to === to) ?? { to, via: null, why, needsNote: false };
}

const forbidden = ({ number }: TaskSummary, { to, why }: TaskMove) =>
  new AppError('wrong_stage', `#${number} cannot move to ${stageText(to)}: ${why}`);

/** If the dragged card disappears, the browser sends no dragend event. A free mouse move means that the drag is over. */
function useLostDrag(isDragging: boolean, endDrag: () => void): void {
  useEffect(() => {
    if (!isDragging) return;
    addEventListener('mousemove', endDrag);
    return () => removeEventListener('mousemove', endDrag);
  });
}
