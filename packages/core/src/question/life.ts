import type { AskedQuestion, QuestionType } from '@tidemill/contract';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The same question is not asked again within the first time. Questions within the second form one batch. */
export const ASKED_AGAIN_MS = DAY;
export const BATCH_MS = 5 * MINUTE;
/** An answer becomes a default after it was given this many times. */
export const LEARNED_AFTER = 2;

/** Questions of other types are dismissed when they expire. */
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

/** A blocking question never expires, whatever the asker requested. */
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

/** The answer that is used when nobody answers in time. */
export function defaultOf(asked: AskedQuestion): string | null {
  const recommended = asked.options.find((option) => option.recommended)?.label;
  const given = asked.default ?? asked.defaultAnswer ?? asked.defaultOption ?? recommended;
  if (given !== undefined && given !== null) return given;
  return asked.type === 'confirming' ? 'yes' : null;
}
