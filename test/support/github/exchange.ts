/** A request as the emulated GitHub sees it, and its answer. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: string;
  /** Who asks. Null without a token. */
  login: string | null;
  token: string | null;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

export interface LoggedRequest {
  method: string;
  path: string;
  query: string;
  login: string | null;
  status: number;
  /** It cost one of the requests of the hour. */
  isCounted: boolean;
  body: string;
}

export type Pattern = { method?: string; path?: RegExp };

/** What goes wrong: an answer instead of the real one, half of the real one, none at all, or something that happens first. */
export type Trouble =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'half' }
  | { kind: 'hang' }
  | { kind: 'cut' }
  /** The write happens, but its answer never arrives. */
  | { kind: 'lost' }
  | { kind: 'first'; act: () => Promise<unknown> };

interface Planned {
  pattern: Pattern;
  trouble: Trouble;
  times: number;
}

export const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  body,
  headers,
});
export const notFound = (): Answer => answer(404, { message: 'Not Found' });

/** The faults that a test planned. Each is used as often as it was planned, in order. */
export class Faults {
  #planned: Planned[] = [];

  plan(pattern: Pattern, trouble: Trouble, times = 1): void {
    this.#planned.push({ pattern, trouble, times });
  }

  clear(): void {
    this.#planned = [];
  }

  next({ method, path }: Asked): Trouble | null {
    const found = this.#planned.find(
      ({ pattern, times }) => times > 0 && (pattern.method ?? method) === method && (pattern.path?.test(path) ?? true),
    );
    if (!found) return null;
    found.times -= 1;
    return found.trouble;
  }
}

const text = (status: number, message: string, headers: Record<string, string> = {}): Trouble => ({
  kind: 'answer',
  answer: answer(status, { message, documentation_url: 'https://docs.github.com/rest' }, headers),
});

/** Answers as GitHub words them. */
export const TROUBLES = {
  expired: text(401, 'Bad credentials'),
  forbidden: text(403, 'Resource not accessible by personal access token'),
  rateLimited: (resetInSeconds: number) =>
    text(403, 'API rate limit exceeded for user ID 3.', {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + resetInSeconds),
    }),
  secondary: (retryAfterSeconds?: number) =>
    text(
      429,
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    ),
  missing: text(404, 'Not Found'),
  unprocessable: text(422, 'Validation Failed'),
  broken: { kind: 'answer', answer: { status: 502, body: '<html><body>Unicorn!</body></html>' } } as Trouble,
};
