import type { FailureClass } from '@tidemill/contract';

export interface ClassifiedFailure {
  failure: FailureClass;
  retryAt?: number;
}

const AUTH_REQUIRED = -32000;
const HOUR = 3_600_000;

/** The first match counts: messages about credit often mention limits too, and overload often has a number. */
const SIGNS: [FailureClass, RegExp][] = [
  ['credit', /credit balance|insufficient[_ ](quota|credit|funds|balance)|billing|payment required|out of credit/i],
  [
    'context_too_long',
    /(prompt|context|input|request|session)\s+(is\s+)?too (long|large)|context.?(overflow|length|window)|maximum context/i,
  ],
  ['rate_limit', /rate.?limit|too many requests|\b429\b|usage limit|quota|resource.?exhausted/i],
  [
    'overloaded',
    /overloaded|\b(500|502|503|504|529)\b|internal server error|service unavailable|server.?error|at capacity/i,
  ],
  [
    'auth',
    /\b401\b|unauthori[sz]ed|invalid.{0,12}api.?key|authenticat|not logged in|log ?in (again|to)|auth method|permission_denied/i,
  ],
  [
    'network',
    /ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|socket hang up|fetch failed|network|connection (error|refused|reset|closed)|unable to connect|cannot connect/i,
  ],
  ['refused', /content.?(policy|filter)|safety|refus(al|ed) to answer/i],
];

/** The failure class of an agent's error, by its code and text. Null if unknown. */
export function classify(
  error: { code?: unknown; message: string; data?: unknown },
  now: number,
): ClassifiedFailure | null {
  if (error.code === AUTH_REQUIRED) return { failure: 'auth' };
  // Every internal error of the protocol begins with this text. It has no information.
  const said = error.message.replace(/^Internal error:?\s*/i, '');
  const text = `${said} ${error.data === undefined ? '' : JSON.stringify(error.data)}`;
  const failure = SIGNS.find(([, sign]) => sign.test(text))?.[0];
  if (!failure) return null;
  const retryAt = failure === 'rate_limit' || failure === 'overloaded' ? retryTime(text, now) : undefined;
  return retryAt === undefined ? { failure } : { failure, retryAt };
}

/** Claude Code's words: `resets Jan 16, 2030, 10:34am (UTC)`. */
const RESET = /resets? ([a-z]{3,9} \d{1,2}, \d{4}),? (\d{1,2})(?::(\d\d))? ?([ap]m) \(UTC\)/i;
/** A number of seconds or of a unit, not a part of a date or of a time of day. */
const WAIT = /(?:retry|try again|resets?)[\s\S]{0,24}?(\d+(?:\.\d+)?)(?!\d|:\d|,\s*\d|\s*[ap]m\b)\s*(s|m|h)?/i;
const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: HOUR };

function retryTime(text: string, now: number): number | undefined {
  const date = /\b(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/.exec(text)?.[1];
  if (date && Date.parse(date) > now) return Date.parse(date);
  const [, day, hour, minute = '00', half] = RESET.exec(text) ?? [];
  if (day) return Date.parse(`${day} ${hour}:${minute} ${half} UTC`);
  const [, amount, unit = 's'] = WAIT.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit.toLowerCase()] ?? 1000);
  return amount !== undefined && ms > 0 && ms <= 24 * HOUR ? now + ms : undefined;
}
