import type { FailureClass } from '@tidemill/contract';

// Codex reports a failure as one sentence. These are the sentences of 0.166, each reproduced.

const CLASSES: [FailureClass, RegExp][] = [
  ['context_too_long', /context window|context_length|ran out of room/i],
  ['rate_limit', /usage limit[\s\S]*try again|rate.?limit|429 Too Many/i],
  ['credit', /quota|billing|insufficient|out of credits?|usage limit/i],
  [
    'auth',
    /\b40[13]\b|unauthori[sz]ed|forbidden|api key|not logged in|log in again|refresh token|env(ironment)? variable/i,
  ],
  ['overloaded', /high demand|at capacity|overloaded|\b50[0234]\b|\b529\b|internal server error/i],
  ['network', /stream disconnected|error sending request|connection|timed out|timeout|dns|reset by peer|unreachable/i],
  ['refused', /content policy|policy violation|cyber_policy|flagged/i],
];

/** The failure class of Codex's message, or null if unknown. */
export function classify(message: string): FailureClass | null {
  return CLASSES.find(([, words]) => words.test(message))?.[0] ?? null;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * `try again in 1m30.5s`, `try again at Nov 16th, 2026 12:46 AM`, `try again at 12:46 AM`: local time, as Codex prints
 * it.
 */
export function retryAtIn(message: string, now: number): number | undefined {
  const wait = /try again in ((?:\d+(?:\.\d+)?\s?(?:ms|[smhd])[a-z]*\s?)+)/i.exec(message)?.[1];
  if (wait) {
    const parts = wait.matchAll(/(\d+(?:\.\d+)?)\s?(ms|[smhd])/gi);
    return (
      now + [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit!.toLowerCase()] ?? 0), 0)
    );
  }
  const moment = /try again at ([^.]+?[AP]M)/i.exec(message)?.[1]?.replace(/(\d)(st|nd|rd|th)\b/i, '$1');
  if (!moment) return undefined;
  const dated = Date.parse(moment);
  if (!Number.isNaN(dated)) return dated;
  const today = Date.parse(`${new Date(now).toDateString()} ${moment}`);
  if (Number.isNaN(today)) return undefined;
  return today > now ? today : today + UNIT_MS.d!;
}
