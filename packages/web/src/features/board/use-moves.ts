import { AppError, type TaskMove, type TaskSummary } from '@tidemill/contract';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { useAct } from '../../shell/action.tsx';
import { complain } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { stageText } from '../../words.ts';
import type { BoardStore } from './board-store.ts';
import type { DropView } from './column.tsx';

export type Perform = (task: TaskSummary, move: TaskMove, note?: string) => void;

/** A move that is being prepared in a dialog; without `move` it is yet to be chosen. */
interface AskedMove {
  task: TaskSummary;
  move: TaskMove | null;
}

interface Dragged {
  task: TaskSummary;
  moves: TaskMove[] | null;
}

/** Some moves are not made by letting go of a mouse alone. */
export const needsWords = ({ via, needsNote }: TaskMove) => needsNote || via === 'cancel';

/** Moves of tasks between stages: by dragging, by dialog, shown at once and taken back when the daemon says no. */
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
    void act(work, `#${task.number} is in ${stageText(to)} now`);
  };

  const drag = (task: TaskSummary) => {
    const moves = api.task({ project: project.id, task: task.number }).then((detail) => detail.moves);
    const mine = { task, moves };
    held.current = mine;
    // Chromium gives a drag up when the page changes while it begins.
    setTimeout(() => held.current === mine && setDragged({ task, moves: null }));
    moves.then(
      (known) => held.current === mine && setDragged({ task, moves: known }),
      (error) => complain(error),
    );
  };
  const letGo = () => {
    held.current = null;
    setDragged(null);
  };
  const drop = async (stage: string) => {
    const mine = held.current;
    letGo();
    if (!mine || mine.task.stage === stage) return;
    // What went wrong with them was told when they were asked for.
    const moves = await mine.moves.catch(() => null);
    if (!moves) return;
    const move = moveTo(moves, stage);
    if (move.via === null) complain(forbidden(mine.task, move));
    else if (needsWords(move)) ask({ task: mine.task, move });
    else perform(mine.task, move);
  };
  useLostDrag(dragged !== null, letGo);

  const latest = useRef({ drag, letGo, drop });
  latest.current = { drag, letGo, drop };
  /** The same functions for all time: cards are drawn anew only for their own sake. */
  const stable = useMemo(
    () => ({
      drag: (task: TaskSummary) => latest.current.drag(task),
      letGo: () => latest.current.letGo(),
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
  needs_info: 'a question brings a task here, not a person',
  blocked: 'trouble brings a task here, not a person',
};

function moveTo(moves: TaskMove[], to: string): TaskMove {
  const why = ASIDE[to] ?? 'its pipeline has no such stage';
  return moves.find((move) => move.to === to) ?? { to, via: null, why, needsNote: false };
}

const forbidden = ({ number }: TaskSummary, { to, why }: TaskMove) =>
  new AppError('wrong_stage', `#${number} cannot go to ${stageText(to)}: ${why}`);

/** The card that was dragged may be gone, and with it the news that the drag is over: a mouse that moves freely tells. */
function useLostDrag(isDragging: boolean, letGo: () => void): void {
  useEffect(() => {
    if (!isDragging) return;
    addEventListener('mousemove', letGo);
    return () => removeEventListener('mousemove', letGo);
  });
}
