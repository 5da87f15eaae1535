import { AppError } from '@tidemill/contract';

/**
 *   unauthorized   the token is unknown, expired or revoked; a person must act
 *   missing_scope  the token may not do this; a person must act
 *   not_found      no such thing, or the token may not see it
 *   gone           deleted or moved for good
 *   unprocessable  GitHub refuses the content
 *   refused        GitHub refuses the action now: protected, not mergeable
 *   conflict       somebody else was faster
 *   rate_limited   until `retryAt`, or our own limit per hour
 *   unreachable    offline, no answer in time
 *   bad_answer     GitHub failed, or sent something else than it documents
 *   no_credentials nothing is configured, or it cannot be read
 */
export type GithubErrorKind =
  | 'unauthorized'
  | 'missing_scope'
  | 'not_found'
  | 'gone'
  | 'unprocessable'
  | 'refused'
  | 'conflict'
  | 'rate_limited'
  | 'unreachable'
  | 'bad_answer'
  | 'no_credentials';

/** They pass by themselves: the same request may succeed later. */
const PASSING: readonly GithubErrorKind[] = ['rate_limited', 'unreachable', 'bad_answer'];

export class GithubError extends AppError {
  readonly kind: GithubErrorKind;
  /** When to try again, if GitHub said so. */
  readonly retryAt: number | null;

  constructor(kind: GithubErrorKind, message: string, more: { hint?: string; retryAt?: number | null } = {}) {
    super('github_failed', message, { hint: more.hint ?? '', retriable: PASSING.includes(kind) });
    this.name = 'GithubError';
    this.kind = kind;
    this.retryAt = more.retryAt ?? null;
  }
}

export const isGithubError = (error: unknown, ...kinds: GithubErrorKind[]): error is GithubError =>
  error instanceof GithubError && (kinds.length === 0 || kinds.includes(error.kind));

/** What GitHub said about a request that it did not fulfil. */
export interface Refused {
  status: number;
  message: string;
  headers: Record<string, string | number | undefined>;
}

const clock = (at: number) => new Date(at).toISOString().slice(11, 16);

/** The error for an answer. `what` is the request for people: `GET /repos/a/b/issues`. */
export function errorOf({ status, message, headers }: Refused, what: string, now: number): GithubError {
  const said = `GitHub answered ${status} to ${what}: ${message}`;
  const limited = limitOf({ status, message, headers }, now);
  if (limited !== null)
    return new GithubError('rate_limited', `GitHub's limit is reached (${what}). It ends at ${clock(limited)} UTC.`, {
      hint: 'Nothing is lost. Tidemill goes on by itself then.',
      retryAt: limited,
    });
  if (status === 401)
    return new GithubError('unauthorized', `GitHub does not accept the token: it expired or was revoked (${what}).`, {
      hint: 'Create a new token, or run `gh auth login`, and start the daemon again.',
    });
  if (status === 403)
    return new GithubError('missing_scope', said, {
      hint: 'The token needs to read and write contents, issues and pull requests of this repository (classic: the scope repo).',
    });
  if (status === 404)
    return new GithubError('not_found', said, {
      hint: 'Check `github.repository`. GitHub says the same when the token may not see it.',
    });
  if (status === 410 || status === 301) return new GithubError('gone', said);
  if (status === 409) return new GithubError('conflict', said);
  if (status === 405) return new GithubError('refused', said);
  if (status === 400 || status === 422) return new GithubError('unprocessable', said);
  return new GithubError('bad_answer', said, { hint: 'Tidemill tries again later. See https://www.githubstatus.com.' });
}

/** Until when GitHub wants no request: its hourly limit, or the secondary limit on bursts. Null: it is another refusal. */
function limitOf({ status, message, headers }: Refused, now: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after) && after > 0) return now + after * 1000;
  if (String(headers['x-ratelimit-remaining']) === '0') {
    const reset = Number(headers['x-ratelimit-reset']) * 1000;
    // The limit is one of an hour: a later end is a clock of this machine that is behind.
    return Number.isFinite(reset) && reset > now ? Math.min(reset, now + HOUR_MS) : now + UNSAID_MS;
  }
  return status === 429 || /rate limit|abuse detection/i.test(message) ? now + UNSAID_MS : null;
}

/** GitHub asks for at least a minute when it names no time. */
export const UNSAID_MS = 60_000;
export const HOUR_MS = 3_600_000;
