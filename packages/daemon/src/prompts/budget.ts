import { evenCap } from '@tidemill/core';

/** An average of the vendors' own counts for English and code, exact enough for a budget. */
const CHARACTERS_PER_TOKEN = 4;
export const DEFAULT_PROMPT_TOKENS = 60_000;

/** Parts of at least this priority are cut to fit, the others left out. */
const CUT_FROM = 0.8;
/** A part that is cut keeps at least this much, even if the budget is used up: an agent repeats a mistake it does not know. */
const LEAST = 200;
const MARK_ROOM = 120;

/** A part of a prompt that may be cut or left out. */
export interface PromptPart {
  /** For the record of what was left out. */
  name: string;
  /** 1 is the task itself. */
  priority: number;
  /** Newest or most important last. */
  pieces: string[];
  /** The pieces with their headings; empty without pieces. */
  shape(pieces: string[]): string;
  /** How often the template shows it. */
  times: number;
  /** Where the agent finds what was cut off. */
  rest?: string;
}

export const tokensIn = (text: string) => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/** Fits the parts into the budget, the most important first, and returns what was cut or left out. */
export function fitParts<P extends string>(
  parts: Record<P, PromptPart>,
  tokens: number,
  /** Characters that are always included. */
  fixed: number,
): { texts: Record<P, string>; dropped: string[] } {
  const entries = Object.entries(parts) as [P, PromptPart][];
  const texts = Object.fromEntries(entries.map(([key]) => [key, ''])) as Record<P, string>;
  const dropped: string[] = [];
  let left = tokens * CHARACTERS_PER_TOKEN - fixed;
  const used = entries.filter(([, part]) => part.times > 0 && part.pieces.length > 0);
  for (const [key, part] of used.sort(([, a], [, b]) => b.priority - a.priority)) {
    const room = Math.floor(Math.min(left, roomFor(part, used, left)) / part.times);
    const fitted = fit(part, room);
    texts[key] = fitted.text;
    left -= fitted.text.length * part.times;
    if (fitted.dropped) dropped.push(`${part.name}: ${fitted.dropped}`);
  }
  return { texts, dropped };
}

/** The task itself may take three quarters, or more if the other important parts do not need a quarter. */
function roomFor(part: PromptPart, used: [string, PromptPart][], left: number): number {
  if (part.priority < 1) return left;
  const others = used.filter(([, other]) => other !== part && other.priority >= CUT_FROM);
  const wanted = others.reduce((sum, [, other]) => sum + other.shape(other.pieces).length * other.times, 0);
  return Math.max(left * 0.75, left - wanted);
}

interface Fitted {
  text: string;
  dropped: string | null;
}

function fit(part: PromptPart, room: number): Fitted {
  const whole = part.shape(part.pieces);
  if (whole.length <= room) return { text: whole, dropped: null };
  return part.priority >= CUT_FROM ? cutPieces(part, room, whole) : leaveOut(part, room);
}

function cutPieces({ pieces, shape, rest }: PromptPart, room: number, whole: string): Fitted {
  const lengths = pieces.map((piece) => piece.length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const around = whole.length - total + MARK_ROOM * pieces.length;
  const most = Math.max(LEAST, evenCap(lengths, room - around));
  const kept = lengths.reduce((sum, length) => sum + Math.min(length, most), 0);
  return {
    text: shape(pieces.map((piece) => cut(piece, most, rest))),
    dropped: kept === total ? null : `${count(total - kept)} of ${count(total)} characters left out`,
  };
}

function leaveOut({ pieces, shape }: PromptPart, room: number): Fitted {
  const first = pieces.findIndex((_, index) => shape(pieces.slice(index)).length <= room);
  const kept = first < 0 ? [] : pieces.slice(first);
  const all = `${pieces.length === 1 ? '' : `all ${pieces.length} `}left out`;
  return {
    text: kept.length === 0 ? '' : shape(kept),
    dropped: kept.length === 0 ? all : `the first ${pieces.length - kept.length} of ${pieces.length} left out`,
  };
}

function cut(text: string, most: number, rest = ''): string {
  if (text.length <= most) return text;
  // Half of a surrogate pair is not valid text.
  const kept = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}\n[cut here: ${count(text.length - kept.length)} more characters${rest === '' ? '' : `; ${rest}`}]`;
}

const count = (value: number) => Math.max(0, Math.round(value)).toLocaleString('en-US');
