import type { ChangeAddress } from './address.ts';

/** What a note may have. The daemon refuses more. */
const MOST = 2000;
const MOST_QUOTED = 600;

export interface LineComment extends Pick<ChangeAddress, 'task' | 'path' | 'side'> {
  /** Numbered from 1. */
  from: number;
  to: number;
  code: string;
  text: string;
}

/** What the agent reads: where, the code, and the person's words last and whole. The quote is cut where it is too long. */
export function commentText({ path, side, from, to, code, text }: LineComment): string {
  const lines = from === to ? `line ${from}` : `lines ${from}–${to}`;
  const where = `A person commented on ${path}, ${lines}${side === 'before' ? ' (as it was before this change)' : ''}:`;
  const words = text.trim();
  const room = Math.min(MOST_QUOTED, MOST - where.length - words.length - 10);
  const quote = quoted(code, room);
  return [where, ...(quote === '' ? [] : [quote]), '', words].join('\n');
}

/** Why it cannot be sent; null when it can. */
export function whyNotSent(comment: LineComment): string | null {
  if (comment.text.trim() === '') return 'The comment is empty.';
  const over = commentText(comment).length - MOST;
  return over > 0 ? `The comment is too long for the agent: shorten it by ${over} characters.` : null;
}

function quoted(code: string, room: number): string {
  const lines: string[] = [];
  let left = room;
  for (const line of code.split(/\r?\n/)) {
    const shown = `> ${line}`;
    if (shown.length + 1 > left - 3) {
      lines.push('> …');
      break;
    }
    lines.push(shown);
    left -= shown.length + 1;
  }
  return room < 10 ? '' : lines.join('\n');
}
