import { z } from 'zod';
import type { ItemComment } from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import type { GithubPeople } from '../client/people.ts';
import { freshIn, type ListPosition, seenOf } from './issue-cursor.ts';
import { listByChange } from './issue-list.ts';
import { isOfTidemill } from './one-comment.ts';

const Row = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user: z.object({ login: z.string(), type: z.string().default('User') }).nullish(),
  author_association: z.string().default('NONE'),
  issue_url: z.string(),
  updated_at: z.string(),
});
type Row = z.infer<typeof Row>;

/** What people write below issues. */
export class IssueComments {
  readonly #client: GithubClient;
  readonly #people: GithubPeople;
  readonly #keyOf: (issue: number) => string;

  constructor(client: GithubClient, people: GithubPeople, keyOf: (issue: number) => string) {
    this.#client = client;
    this.#people = people;
    this.#keyOf = keyOf;
  }

  /** One request for the whole repository while little changes. */
  async since(before: ListPosition): Promise<{ comments: ItemComment[]; next: ListPosition }> {
    const rows = await listByChange(this.#client, '/issues/comments', Row, {}, before.since);
    const fresh = freshIn(before, rows);
    const next = fresh.length === 0 ? before : seenOf(before.since, rows);
    return { comments: await this.#ofPeople(fresh), next };
  }

  async of(issue: number): Promise<ItemComment[]> {
    try {
      const { items } = await this.#client.list(`/issues/${issue}/comments`, Row);
      return await this.#ofPeople(items);
    } catch (error) {
      // The list of issues says what became of it.
      if (isGithubError(error, 'not_found', 'gone')) return [];
      throw error;
    }
  }

  async #ofPeople(rows: readonly Row[]): Promise<ItemComment[]> {
    const comments: ItemComment[] = [];
    for (const { id, body, user, author_association: association, issue_url: url } of rows) {
      const text = body ?? '';
      const isProgram = user?.type === 'Bot' || user?.login.endsWith('[bot]');
      if (!user || isProgram || isOfTidemill(text)) continue;
      const key = this.#keyOf(Number(url.slice(url.lastIndexOf('/') + 1)));
      const mayPush = await this.#people.mayPush(user.login, association.toUpperCase());
      comments.push({ key, id: String(id), author: user.login, mayPush, text });
    }
    return comments;
  }
}
