/** How a chart rounds and shows its values. */
export interface Scale {
  words: (value: number) => string;
  /** A round number that is at least `most` and can be halved. */
  top: (most: number) => number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DURATIONS = [
  2_000,
  10_000,
  20_000,
  MINUTE,
  2 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
].concat([8 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 10 * DAY, 20 * DAY, 60 * DAY]);

export function roundTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= most * 0.999_999) ?? 10) * power;
}

/** An even number, so that half of it is a whole number. */
export const countTop = (most: number) => Math.max(2, 2 * Math.ceil(roundTop(most) / 2));

export const durationTop = (most: number) => DURATIONS.find((each) => each >= most) ?? roundTop(most / DAY) * DAY;

export function stepText(at: number, stepMs: number): string {
  const date = new Date(at);
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return stepMs >= DAY ? day : stepMs >= 3 * HOUR ? `${day} ${time}` : time;
}

/** There is room for dates or times under a chart, not for both. */
export function tickText(at: number, stepMs: number): string {
  const date = new Date(at);
  return stepMs >= 3 * HOUR
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
