import type { Octokit } from '@octokit/core';
import type { Clock } from '../../../ports.ts';
import { Allowance } from './allowance.ts';
import type { Credentials } from './credentials.ts';
import { errorOf, GithubError, isGithubError } from './github-error.ts';

const ANSWER_WITHIN_MS = 30_000;

export interface RawRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** A path, or a whole address of the same API. */
  url: string;
  body?: unknown;
  etag?: string;
}

export interface RawAnswer {
  status: number;
  data: unknown;
  headers: Record<string, string | number | undefined>;
}

/** Sends requests with the credentials, within the limits, and turns every failure into a GithubError without secrets. */
export class GithubConnection {
  readonly #api: string;
  readonly #read: () => Promise<Credentials>;
  readonly #clock: Clock;
  readonly allowance: Allowance;
  #opened: Promise<{ octokit: Octokit; credentials: Credentials }> | null = null;
  #secrets: string[] = [];

  constructor(about: { api: string; perHour: number; clock: Clock; read: () => Promise<Credentials> }) {
    this.#api = about.api;
    this.#read = about.read;
    this.#clock = about.clock;
    this.allowance = new Allowance(about.perHour, about.clock);
  }

  async kind(): Promise<Credentials['kind']> {
    return (await this.#open()).credentials.kind;
  }

  /** Where the credentials come from, for people. */
  async source(): Promise<string> {
    return (await this.#open()).credentials.from;
  }

  async send(request: RawRequest): Promise<RawAnswer> {
    try {
      return await this.#try(request);
    } catch (error) {
      if (!isGithubError(error, 'unauthorized')) throw error;
      // The login of gh, or the App's token, may be a newer one by now.
      const before = this.#secrets.at(-1);
      this.#opened = null;
      const { credentials } = await this.#open();
      if (credentials.kind === 'token' && credentials.token === before) throw error;
      return this.#try(request);
    }
  }

  async #try({ method, url, body, etag }: RawRequest): Promise<RawAnswer> {
    this.allowance.check(method !== 'GET');
    const { octokit } = await this.#open();
    const what = `${method} ${url.replace(this.#api, '').replace(/\?.*$/, '')}`;
    try {
      const answer = await octokit.request({
        method,
        url,
        ...(body === undefined ? {} : { data: body }),
        headers: { 'x-github-api-version': '2022-11-28', ...(etag ? { 'if-none-match': etag } : {}) },
        request: { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), redirect: 'manual' },
      });
      this.allowance.count();
      this.allowance.follow(answer.headers);
      // The library takes a redirect that it must not follow for a success.
      if (answer.status >= 300)
        throw errorOf(
          { status: answer.status, message: 'it has moved', headers: answer.headers },
          what,
          this.#clock.now(),
        );
      // Of an answer that ends in the middle the library returns the text as far as it came.
      if (typeof answer.data === 'string' && /json/.test(answer.headers['content-type'] ?? ''))
        throw new GithubError('bad_answer', `GitHub's answer to ${what} was incomplete`, {
          hint: 'Nothing is lost. Tidemill tries again by itself.',
        });
      return { status: answer.status, data: answer.data, headers: answer.headers };
    } catch (error) {
      return this.#failed(error, what);
    }
  }

  #failed(error: unknown, what: string): RawAnswer {
    if (isGithubError(error)) throw error;
    const { status, response } = error as {
      status?: number;
      response?: { headers: RawAnswer['headers']; data: unknown };
    };
    if (status === 304 && response) {
      this.allowance.follow(response.headers);
      return { status, data: null, headers: response.headers };
    }
    if (!(error instanceof Error) || typeof status !== 'number' || !response || status < 300) {
      const why = this.hide(reasonOf(error));
      throw new GithubError('unreachable', `GitHub does not answer ${what}: ${why}`, {
        hint: 'Nothing is lost. Tidemill tries again by itself.',
      });
    }
    this.allowance.count();
    const said = messageOf(response.data, error.message);
    const refused = { status, message: this.hide(said), headers: response.headers };
    const failure = errorOf(refused, what, this.#clock.now());
    if (failure.kind !== 'rate_limited') throw failure;
    const retryAt = this.allowance.close(failure.retryAt!);
    throw new GithubError('rate_limited', failure.message, { hint: failure.hint, retryAt });
  }

  /** Also removes the forms in which a secret could be repeated. */
  hide(text: string): string {
    return this.#secrets.reduce(
      (rest, secret) => rest.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***'),
      text,
    );
  }

  #open(): Promise<{ octokit: Octokit; credentials: Credentials }> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      // The next request reads the credentials again.
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async #connect(): Promise<{ octokit: Octokit; credentials: Credentials }> {
    const credentials = await this.#read();
    this.#secrets.push(credentials.kind === 'token' ? credentials.token : credentials.key);
    // A Tidemill without GitHub never loads the library.
    const { Octokit } = await import('@octokit/core');
    const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const options = { baseUrl: this.#api, userAgent: 'tidemill', log: quiet };
    // Limits and repetitions are decided here and by the callers, who know what may be repeated.
    if (credentials.kind === 'token')
      return { octokit: new Octokit({ ...options, auth: credentials.token }), credentials };
    const { createAppAuth } = await import('@octokit/auth-app');
    const { id: appId, key: privateKey, installation: installationId } = credentials;
    const app = { authStrategy: createAppAuth, auth: { appId, privateKey, installationId } };
    return { octokit: new Octokit({ ...options, ...app }), credentials };
  }
}

function messageOf(data: unknown, otherwise: string): string {
  if (typeof data !== 'object' || data === null || !('message' in data)) return otherwise.slice(0, 200);
  const errors = 'errors' in data && Array.isArray(data.errors) ? data.errors : [];
  const details = errors
    .map((one: unknown) =>
      typeof one === 'string'
        ? one
        : ((one as { message?: string; field?: string }).message ?? (one as { field?: string }).field),
    )
    .filter(Boolean);
  return [String(data.message), ...details].join(': ').slice(0, 500);
}

/** `fetch failed` does not explain the failure; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause === undefined ? '' : reasonOf(error.cause);
  return [error.message || error.name, inner].filter(Boolean).join(': ').slice(0, 300);
}
