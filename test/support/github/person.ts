import type { EmulatedGithub } from './emulated-github.ts';
import type { Asked } from './exchange.ts';

type Json = Record<string, unknown> & { number: number; id: number };

/** A person in front of GitHub's pages. */
export class Person {
  readonly #github: EmulatedGithub;
  readonly #login: string;

  constructor(github: EmulatedGithub, login: string) {
    this.#github = github;
    this.#login = login;
  }

  /** Any request, for a path inside the repository; fails if GitHub refuses. */
  async ask<T = Json>(method: string, inside: string, body?: unknown): Promise<T> {
    const { owner, name, accounts } = this.#github;
    const [path = '', query = ''] = `/repos/${owner}/${name}${inside}`.split('?');
    const asked: Asked = {
      method,
      path,
      query: new URLSearchParams(query),
      headers: {},
      body: body === undefined ? '' : JSON.stringify(body),
      login: this.#login,
      token: accounts.tokenOf(this.#login),
    };
    const answer = await this.#github.handle(asked);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as T;
  }

  async openIssue(title: string, body: string, more: { labels?: string[]; milestone?: number } = {}): Promise<number> {
    return (await this.ask('POST', '/issues', { title, body, ...more })).number;
  }

  editIssue(number: number, change: object): Promise<Json> {
    return this.ask('PATCH', `/issues/${number}`, change);
  }

  label(number: number, ...labels: string[]): Promise<Json[]> {
    return this.ask('POST', `/issues/${number}/labels`, { labels });
  }

  comment(number: number, body: string): Promise<Json> {
    return this.ask('POST', `/issues/${number}/comments`, { body });
  }

  comments(number: number): Promise<{ id: number; body: string; user: { login: string } }[]> {
    return this.ask('GET', `/issues/${number}/comments?per_page=100`);
  }

  /** `event`: APPROVE, REQUEST_CHANGES or COMMENT. */
  review(pull: number, event: string, body: string): Promise<Json> {
    return this.ask('POST', `/pulls/${pull}/reviews`, { event, body });
  }

  commentOnLine(pull: number, path: string, line: number, body: string, commit: string): Promise<Json> {
    return this.ask('POST', `/pulls/${pull}/comments`, { path, line, body, commit_id: commit, side: 'RIGHT' });
  }

  closePull(pull: number): Promise<Json> {
    return this.ask('PATCH', `/pulls/${pull}`, { state: 'closed' });
  }
}
