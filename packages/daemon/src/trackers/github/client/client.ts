import type { GithubConfig } from '@tidemill/contract';
import type { z } from 'zod';
import type { Clock } from '../../../ports.ts';
import type { Allowance } from './allowance.ts';
import { AnswerCache } from './answer-cache.ts';
import { GithubConnection, type RawRequest } from './connection.ts';
import { readCredentials } from './credentials.ts';
import { GithubError } from './github-error.ts';
import { type GithubPlace, placeOf } from './place.ts';

export type GithubQuery = Record<string, string | number | boolean | undefined>;

export interface Listed<T> {
  items: T[];
  /** Every page was the same as the last time. */
  isUnchanged: boolean;
}

export interface GithubClientOptions {
  config: GithubConfig;
  root: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  /** The address of the remote, read when it is first needed. */
  remote(): Promise<string | null>;
}

/** Pages shift while they are read; then they are read again. */
const MOST_ROUNDS = 3;

/** GitHub's API for one repository. Paths begin after `/repos/OWNER/NAME`, unless they begin with `//`. */
export class GithubClient {
  readonly #connection: () => Promise<GithubConnection>;
  /** Which repository it is, and where. */
  readonly place: () => Promise<GithubPlace>;
  readonly #cache = new AnswerCache();

  constructor({ config, root, env, clock, remote }: GithubClientOptions) {
    this.place = lazily(async () => placeOf(config, config.repository && config.api ? null : await remote()));
    this.#connection = lazily(async () => {
      const { api, host } = await this.place();
      const read = () => readCredentials({ auth: config.auth, root, env, host });
      return new GithubConnection({ api, perHour: config.requestsPerHour, clock, read });
    });
  }

  async kind(): Promise<'token' | 'app'> {
    return (await this.#connection()).kind();
  }

  async source(): Promise<string> {
    return (await this.#connection()).source();
  }

  async allowance(): Promise<ReturnType<Allowance['view']>> {
    return (await this.#connection()).allowance.view();
  }

  /** Unchanged answers cost no request of the hour. */
  async get<T>(path: string, schema: z.ZodType<T>, query: GithubQuery = {}): Promise<T> {
    const { data } = await this.#page(await this.#address(path, query));
    return parsed(schema, data, path);
  }

  /**
   * All pages, each thing once. When an earlier page has changed by the end, a thing may have moved between two pages, so
   * the pages are read again; unchanged ones cost nothing.
   */
  async list<T extends { id: number }>(path: string, item: z.ZodType<T>, query: GithubQuery = {}): Promise<Listed<T>> {
    const first = await this.#address(path, { per_page: 100, ...query });
    const items = new Map<number, T>();
    let isUnchanged = true;
    for (let round = 1; ; round += 1) {
      let url: string | null = first;
      let pages = 0;
      let isSame = true;
      while (url !== null) {
        const { data, next, isKept } = await this.#page(url);
        const rows = parsed(item.array(), data, path);
        if (round > 1 && pages === 0 && !isKept) items.clear();
        for (const row of rows) items.set(row.id, row);
        isSame &&= isKept;
        pages += 1;
        url = next;
      }
      isUnchanged &&= isSame;
      if (pages <= 1 || isSame || round === MOST_ROUNDS) return { items: [...items.values()], isUnchanged };
    }
  }

  async send<T>(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body: unknown,
    schema: z.ZodType<T>,
  ): Promise<T> {
    const { data } = await (await this.#connection()).send({ method, url: await this.#address(path, {}), body });
    return parsed(schema, data, path);
  }

  async graphql<T>(query: string, variables: Record<string, unknown>, schema: z.ZodType<T>): Promise<T> {
    const connection = await this.#connection();
    const { api } = await this.place();
    const url = `${api.replace(/\/api\/v3$/, '/api')}/graphql`;
    const request: RawRequest = { method: 'POST', url, body: { query, variables } };
    const { data } = (await connection.send(request)) as {
      data: { data?: unknown; errors?: { type?: string; message: string }[] };
    };
    const [fault] = data.errors ?? [];
    if (fault) throw graphqlError(fault.type ?? '', connection.hide(fault.message));
    return parsed(schema, data.data, 'graphql');
  }

  async #address(path: string, query: GithubQuery): Promise<string> {
    const { api, owner, name } = await this.place();
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
    const base = path.startsWith('//') ? `${api}${path.slice(1)}` : `${api}/repos/${owner}/${name}${path}`;
    return search.size ? `${base}?${search}` : base;
  }

  async #page(url: string): Promise<{ data: unknown; next: string | null; isKept: boolean }> {
    const kept = this.#cache.get(url);
    const { api } = await this.place();
    const answer = await (await this.#connection()).send({ method: 'GET', url, ...(kept ? { etag: kept.etag } : {}) });
    if (answer.status === 304 && kept) return { data: kept.data, next: kept.next, isKept: true };
    const next = nextOf(String(answer.headers.link ?? ''), api);
    const etag = answer.headers.etag;
    if (typeof etag === 'string') this.#cache.put(url, { etag, data: answer.data, next });
    return { data: answer.data, next, isKept: false };
  }
}

/** The next page, if it is on the same API: the token goes nowhere else. */
function nextOf(link: string, api: string): string | null {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link)?.[1];
  if (next === undefined) return null;
  if (!next.startsWith(`${api}/`)) throw new GithubError('bad_answer', `GitHub named a next page at another address`);
  return next;
}

function parsed<T>(schema: z.ZodType<T>, data: unknown, path: string): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join('.') || 'the answer';
  throw new GithubError(
    'bad_answer',
    `GitHub's answer to ${path} is not what it documents: ${where}: ${issue?.message ?? ''}`,
  );
}

function graphqlError(type: string, message: string): GithubError {
  if (type === 'NOT_FOUND') return new GithubError('not_found', `GitHub: ${message}`);
  if (type === 'INSUFFICIENT_SCOPES')
    return new GithubError('missing_scope', `GitHub: ${message}`, { hint: 'Projects need the scope `project`.' });
  if (type === 'FORBIDDEN') return new GithubError('missing_scope', `GitHub: ${message}`);
  if (type === 'RATE_LIMITED')
    return new GithubError('rate_limited', `GitHub: ${message}`, { hint: 'Tidemill goes on by itself later.' });
  return new GithubError('unprocessable', `GitHub: ${message}`);
}

/** Started by the first use, and again after a failure. */
function lazily<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => {
    started ??= start().catch((error: unknown) => {
      started = null;
      throw error;
    });
    return started;
  };
}
