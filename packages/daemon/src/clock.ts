import { randomInt } from 'node:crypto';
import type { Clock, Ids } from './ports.ts';

/** setTimeout takes 31 bits; a longer wait is cut into pieces, or it would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wakeAt = performance.now() + ms;
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const wait = () => {
        const left = wakeAt - performance.now();
        if (left <= 0) return end();
        timer = setTimeout(wait, Math.min(Math.ceil(left), LONGEST_TIMEOUT_MS));
      };
      signal?.addEventListener('abort', end, { once: true });
      wait();
    }),
};

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 45 bits of milliseconds: enough until the year 3084. */
const TIME_DIGITS = 9;
const CHANCE_DIGITS = 9;
const CHANCE_HALF = 2 ** 24;

/**
 * `task_` + time + chance, in base 32, so that ids sort by age. Within a millisecond, or when the clock was set back,
 * the last id is counted up instead: ids of one process ascend strictly, those of several do not collide.
 */
export function createIds(clock: Pick<Clock, 'now'>): Ids {
  let time = 0;
  let chance = 0;
  return {
    next(prefix) {
      const now = clock.now();
      if (now > time) {
        time = now;
        // Half of the room (45 bits) stays above the first number, so that counting up never overflows.
        chance = randomInt(CHANCE_HALF) * 2 ** 20 + randomInt(2 ** 20);
      } else {
        chance += 1;
      }
      return `${prefix}_${base32(time, TIME_DIGITS)}${base32(chance, CHANCE_DIGITS)}`;
    },
  };
}

function base32(value: number, digits: number): string {
  let text = '';
  for (let rest = value, i = 0; i < digits; i++, rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}
