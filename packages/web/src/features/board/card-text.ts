import { HELD_REASONS, type TaskSummary } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';

const isOver = (stage: string) => stage === 'done' || stage === 'cancelled';

/** Why the task waits; null if it does not. */
export function heldBy(task: TaskSummary): string | null {
  if (isOver(task.stage)) return null;
  if (task.openQuestions[0]) return plainLine(task.openQuestions[0].text);
  if (task.stage === 'blocked' && task.blocked) {
    const text = plainLine(task.blocked.text);
    return text === '' ? HELD_REASONS[task.blocked.reason] : `${HELD_REASONS[task.blocked.reason]}: ${text}`;
  }
  return task.waiting === null ? null : plainLine(task.waiting);
}

const AFTER_SHOWN = 4;

export function afterText({ stage, after, unmet }: TaskSummary): string | null {
  if (unmet === 0 || after.length === 0 || isOver(stage)) return null;
  const numbers = after.slice(0, AFTER_SHOWN).map((number) => `#${number}`);
  const more = after.length - numbers.length;
  return `after ${numbers.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function conflictText({ stage, conflictsWith }: TaskSummary): string | null {
  if (conflictsWith.length === 0 || isOver(stage)) return null;
  const names = conflictsWith.slice(0, AFTER_SHOWN).map((number) => (number === null ? 'the target' : `#${number}`));
  const more = conflictsWith.length - names.length;
  return `will conflict with ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const LINE = 20;
/** Padding, border and the line with the number. */
const AROUND = 38;
export const CARD_GAP = 8;
const TITLE_LINES = 3;
const HELD_LINES = 2;
/** The average width of a character at 14 px, including the space lost to word breaks. */
const CHARACTER = 7.3;
/** The waiting reason is set in 13 px. */
const SMALLER = 13 / 14;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/gu;

interface CardShape {
  titleLines: number;
  heldLines: number;
  height: number;
}

const widths = new WeakMap<TaskSummary, { title: number; held: number }>();

/**
 * Computes a card's height from its text, so that thousands of cards have a position before they are rendered and the
 * list does not jump or measure while it scrolls.
 */
export function shapeOf(task: TaskSummary, width: number): CardShape {
  let known = widths.get(task);
  if (!known) {
    known = { title: widthOf(task.title), held: widthOf(heldBy(task) ?? '') * SMALLER };
    widths.set(task, known);
  }
  const titleLines = linesOf(known.title, width, TITLE_LINES);
  const heldLines = known.held === 0 ? 0 : linesOf(known.held, width, HELD_LINES);
  const others = [task.worker, afterText(task), conflictText(task)].filter((line) => line !== null).length;
  return { titleLines, heldLines, height: AROUND + LINE * (titleLines + heldLines + others) };
}

const widthOf = (text: string) => (text.length + (text.match(WIDE)?.length ?? 0)) * CHARACTER;

const linesOf = (textWidth: number, width: number, most: number) =>
  Math.min(most, Math.max(1, Math.ceil(textWidth / Math.max(1, width))));
