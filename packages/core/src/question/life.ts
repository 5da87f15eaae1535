import type { AskedQuestion, QuestionType } from '@tidemill/contract';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Not asked again within this time, and put to a person together within that. */
export const ASKED_AGAIN_MS = DAY;
export const BATCH_MS = 5 * MINUTE;
/** As often must the same answer have been given before it becomes a default. */
export const LEARNED_AFTER = 2;

/** What becomes of the others when their time is up: nobody needs to know any more. */
export const TAKES_DEFAULT: readonly QuestionType[] = ['blocking', 'clarifying', 'confirming', 'preference'];

interface Life {
  expiresMs: number | null;
  remindMs: number | null;
  isRepeated: boolean;
}

/** How long a question of each type waits, and when a person is reminded of it. */
const LIFE: Record<QuestionType, Life> = {
  blocking: { expiresMs: null, remindMs: 5 * MINUTE, isRepeated: true },
  clarifying: { expiresMs: 4 * HOUR, remindMs: 30 * MINUTE, isRepeated: false },
  confirming: { expiresMs: DAY, remindMs: null, isRepeated: false },
  educational: { expiresMs: 7 * DAY, remindMs: null, isRepeated: false },
  celebratory: { expiresMs: DAY, remindMs: null, isRepeated: false },
  preference: { expiresMs: DAY, remindMs: null, isRepeated: false },
};

export interface Times {
  expiresAt: number | null;
  remindAt: number | null;
  remindEveryMs: number | null;
}

/** A blocking question never runs out, whatever its asker wished. */
export function timesOf(asked: AskedQuestion, now: number): Times {
  const life = LIFE[asked.type];
  const expiresMs = asked.type === 'blocking' ? null : (asked.expiresAfter ?? life.expiresMs);
  const remindMs = asked.reminderAfter ?? life.remindMs;
  return {
    expiresAt: expiresMs === null ? null : now + expiresMs,
    remindAt: remindMs === null ? null : now + remindMs,
    remindEveryMs: life.isRepeated ? remindMs : null,
  };
}

/** What is taken when nobody answers in time. */
export function defaultOf(asked: AskedQuestion): string | null {
  const recommended = asked.options.find((option) => option.recommended)?.label;
  const given = asked.default ?? asked.defaultOption ?? recommended;
  if (given !== undefined && given !== null) return given;
  return asked.type === 'confirming' ? 'yes' : null;
}
