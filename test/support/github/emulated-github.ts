import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Accounts, tokenOf } from './accounts.ts';
import { Actions } from './actions.ts';
import { Checks } from './checks.ts';
import { type Answer, type Asked, answer, Faults, type LoggedRequest, notFound } from './exchange.ts';
import { git, serveGit } from './git-backend.ts';
import { Graphql } from './graphql.ts';
import { Issues } from './issues.ts';
import { Person } from './person.ts';
import { Project } from './projects.ts';
import { Pulls } from './pulls.ts';
import { type Seed, Upstream } from './upstream.ts';

const HOURLY = 5000;

export interface GithubOptions {
  /** Where its bare repository is created. */
  folder: string;
  /** Default: ada administers, bob may push, eve may not, and `mill-bot`, whose token Tidemill uses, may push. */
  users?: Seed['users'];
  owner?: string;
  name?: string;
  app?: Seed['app'];
  /** Requests per hour and token. */
  hourly?: number;
}

const USERS: Seed['users'] = [
  { login: 'ada', token: 'ghp_ada', access: 'admin' },
  { login: 'bob', token: 'ghp_bob', access: 'push' },
  { login: 'eve', token: 'ghp_eve', access: 'none' },
  { login: 'mill-bot', token: 'ghp_mill', access: 'push' },
];

/**
 * GitHub on loopback: issues, comments and reviews by an emulator; pull requests, merges, checks and dependencies as they
 * really are in a real bare repository, to which git really pushes; `/graphql` against GitHub's schema.
 */
export class EmulatedGithub {
  url = '';
  readonly owner: string;
  readonly name: string;
  /** The bare repository. */
  readonly repository: string;
  readonly accounts = new Accounts();
  readonly checks = new Checks();
  readonly actions: Actions;
  readonly faults = new Faults();
  readonly log: LoggedRequest[] = [];
  readonly projects: Project[] = [];
  pulls!: Pulls;
  issues!: Issues;
  /** Requests that each token has left. */
  readonly #left = new Map<string, number>();
  readonly #resetAt = Math.ceil(Date.now() / 1000) + 3600;
  readonly #hourly: number;
  readonly #server: Server;
  readonly #users: Seed['users'];
  readonly #root: string;
  #upstream!: Upstream;
  #graphql!: Graphql;

  private constructor({ folder, owner = 'ada', name = 'mill', users = USERS, hourly = HOURLY }: GithubOptions) {
    this.owner = owner;
    this.name = name;
    this.#users = users;
    this.#hourly = hourly;
    this.#root = folder;
    this.repository = join(folder, owner, `${name}.git`);
    this.actions = new Actions(this.repository);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      });
    });
  }

  static async start(options: GithubOptions): Promise<EmulatedGithub> {
    const github = new EmulatedGithub(options);
    await github.#open(options.app);
    return github;
  }

  async #open(app: Seed['app']): Promise<void> {
    mkdirSync(join(this.#root, this.owner), { recursive: true });
    await git(this.#root, 'init', '-q', '--bare', '-b', 'main', this.repository);
    await git(this.repository, 'config', 'http.receivepack', 'true');
    await git(this.repository, 'config', 'core.logAllRefUpdates', 'true');
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    for (const { login, token } of this.#users) this.accounts.add(login, token);
    const seed: Seed = { owner: this.owner, name: this.name, users: this.#users, ...(app ? { app } : {}) };
    this.#upstream = await Upstream.start(seed, this.url);
    this.pulls = new Pulls(this.#upstream, this.repository, this.checks, this.accounts);
    this.issues = new Issues(this.#upstream, new Set(this.#users.map(({ login }) => login)));
    this.#graphql = new Graphql(this.#upstream, this.pulls, this.projects, this, this.issues.blockersOf);
  }

  /** For `git clone` and `git push` as this person. */
  cloneUrl(login: string): string {
    return `${this.url.replace('://', `://${login}:${this.accounts.tokenOf(login)}@`)}/${this.owner}/${this.name}.git`;
  }

  /** Somebody who uses GitHub's pages. Their requests are not in the log. */
  as(login: string): Person {
    return new Person(this, login);
  }

  addProject(number: number, title: string, fields: Record<string, string[]>): Project {
    const project = new Project(number, title, fields);
    this.projects.push(project);
    return project;
  }

  /** Requests that changed something, of one person if given. */
  writes(login?: string): LoggedRequest[] {
    return this.log.filter(
      (one) => one.method !== 'GET' && one.status < 300 && (login === undefined || one.login === login),
    );
  }

  /** Answers a request as the server does, without faults and without the log. */
  async handle(asked: Asked): Promise<Answer> {
    const refused = this.accounts.refusal(asked);
    if (refused) return refused;
    if (asked.path === '/graphql') return answer(200, await this.#graphql.answer(asked.body, asked.login));
    const prefix = `/repos/${this.owner}/${this.name}`;
    if (asked.path.startsWith('/repos/') && asked.path !== prefix && !asked.path.startsWith(`${prefix}/`))
      return notFound();
    const inside = asked.path.slice(prefix.length);
    const mayPush = this.#mayPush(asked);
    const own = asked.path.startsWith(`${prefix}/`)
      ? (this.checks.answer(asked, inside, this.accounts.of(asked.token), mayPush) ??
        (await this.actions.answer(asked, inside, mayPush)) ??
        (await this.pulls.answer(asked, inside, mayPush)) ??
        (await this.issues.answer(asked, inside, mayPush)))
      : null;
    const result = own ?? (await this.#upstream.pass(asked));
    const granted = result.body as { token?: string };
    if (asked.path.endsWith('/access_tokens') && granted.token)
      this.accounts.add('tidemill[bot]', granted.token, [], 'app');
    if (asked.method !== 'GET') await this.pulls.settle();
    return result;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    await this.#upstream.close();
  }

  #mayPush({ login, token }: Asked): boolean {
    if (this.accounts.of(token)?.kind === 'app') return true;
    return this.#users.some((user) => user.login === login && user.access !== 'none');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const token = tokenOf(request.headers.authorization);
    const login = this.accounts.of(token)?.login ?? null;
    if (url.pathname.startsWith(`/${this.owner}/${this.name}.git/`)) return this.#transport(request, response, url);
    let body = '';
    request.setEncoding('utf8');
    for await (const chunk of request) body += chunk;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const asked: Asked = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers,
      body,
      login,
      token,
    };
    const trouble = this.faults.next(asked);
    if (trouble?.kind === 'hang') return;
    if (trouble?.kind === 'cut') return void request.socket.destroy();
    if (trouble?.kind === 'first') await trouble.act();
    const real = trouble?.kind === 'answer' ? trouble.answer : await this.handle(asked);
    if (trouble?.kind === 'lost') return void request.socket.destroy();
    this.#send(response, asked, real, trouble?.kind === 'half');
  }

  #send(response: ServerResponse, asked: Asked, { status, headers = {}, body }: Answer, isHalf: boolean): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const etag = `W/"${createHash('sha1').update(`${asked.token}${text}`).digest('hex')}"`;
    const isSame = asked.method === 'GET' && status === 200 && asked.headers['if-none-match'] === etag;
    const key = asked.token ?? '';
    const left = (this.#left.get(key) ?? this.#hourly) - (isSame ? 0 : 1);
    this.#left.set(key, left);
    const { method, path, query, login } = asked;
    const final = isSame ? 304 : left < 0 ? 403 : status;
    this.log.push({
      method,
      path,
      query: query.toString(),
      login,
      status: final,
      isCounted: !isSame,
      body: asked.body,
    });
    response.writeHead(final, {
      'content-type': typeof body === 'string' ? 'text/html' : 'application/json; charset=utf-8',
      'x-ratelimit-limit': String(this.#hourly),
      'x-ratelimit-remaining': String(Math.max(0, left)),
      'x-ratelimit-used': String(this.#hourly - left),
      'x-ratelimit-reset': String(this.#resetAt),
      'x-ratelimit-resource': 'core',
      'x-oauth-scopes': this.accounts.of(asked.token)?.scopes.join(', ') ?? '',
      ...(method === 'GET' && status === 200 ? { etag } : {}),
      ...headers,
    });
    if (isSame) return void response.end();
    if (left < 0) return void response.end(JSON.stringify({ message: 'API rate limit exceeded for user ID 3.' }));
    if (!isHalf) return void response.end(status === 204 ? undefined : text);
    response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy());
  }

  #transport(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const token = tokenOf(request.headers.authorization);
    const account = this.accounts.of(token);
    const isPush = url.pathname.endsWith('/git-receive-pack') || url.searchParams.get('service') === 'git-receive-pack';
    const may =
      account?.isValid &&
      (account.kind === 'app' || this.#users.some((user) => user.login === account.login && user.access !== 'none'));
    if (isPush && !may) {
      response.writeHead(account?.isValid ? 403 : 401, { 'www-authenticate': 'Basic realm="GitHub"' });
      return void response.end('Write access to repository not granted.\n');
    }
    response.on('finish', () => {
      if (isPush) void this.pulls.settle();
    });
    serveGit(this.#root, url.pathname, url.search.slice(1), account?.login ?? null)(request, response);
  }
}
