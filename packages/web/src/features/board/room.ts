import type { TaskSummary } from '@tidemill/contract';
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { whenThere } from '../../shell/focus.ts';
import type { BoardStore } from './board-store.ts';

const NARROW = matchMedia('(max-width: 760px)');

/** A narrow window shows one column at a time. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener('change', listener);
      return () => NARROW.removeEventListener('change', listener);
    },
    () => NARROW.matches,
  );
}

/** Sets the board's height to the rest of the window, so that each column scrolls on its own. */
export function useRoom() {
  const board = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const fit = () => {
      const element = board.current!;
      const top = Math.round(element.getBoundingClientRect().top + scrollY);
      element.style.setProperty('--board-top', `${top}px`);
    };
    const observer = new ResizeObserver(fit);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  return board;
}

const columnOf = (element: Element | null) => element?.closest<HTMLElement>('[data-column]') ?? null;

/** The task whose card has the focus. */
export function useFocused(store: BoardStore): () => TaskSummary | undefined {
  return useCallback(() => {
    const card = document.activeElement?.closest<HTMLElement>('[data-task]');
    return card ? store.task(Number(card.dataset.task)) : undefined;
  }, [store]);
}

/** Focuses the card at the same height in the next column. */
export function toNeighbour(step: 1 | -1): void {
  const columns = [...document.querySelectorAll<HTMLElement>('[data-column]')].filter((column) =>
    column.querySelector('[data-item]'),
  );
  const from = document.activeElement;
  const at = columns.indexOf(columnOf(from)!);
  const next = columns[at < 0 ? (step === 1 ? 0 : columns.length - 1) : at + step];
  if (!next) return;
  const height = from && at >= 0 ? from.getBoundingClientRect().top : 0;
  const cards = [...next.querySelectorAll<HTMLElement>('[data-item]')];
  const distance = (card: HTMLElement) => Math.abs(card.getBoundingClientRect().top - height);
  const nearest = cards.reduce((best, card) => (distance(card) < distance(best) ? card : best));
  nearest.focus();
  nearest.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Scrolls to a column and focuses its first card; false if the column is not rendered. */
export function showColumn(stage: string): boolean {
  const column = document.querySelector<HTMLElement>(`[data-column="${CSS.escape(stage)}"]`);
  column?.scrollIntoView({ block: 'nearest', inline: 'start' });
  column?.querySelector<HTMLElement>('[data-item]')?.focus({ preventScroll: true });
  return column !== null;
}

/** Scrolls to the column in the address and focuses its first card when it is rendered. */
export function useShownColumn(stage: string): void {
  useEffect(() => {
    if (stage === '') return;
    showColumn(stage);
    const first = `[data-column="${CSS.escape(stage)}"] [data-item]`;
    return whenThere(document.getElementById('content')!, () => document.querySelector<HTMLElement>(first));
  }, [stage]);
}
