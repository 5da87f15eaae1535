import { z } from 'zod';
import type { OutsideComment } from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import type { GithubPeople } from '../client/people.ts';

const Comment = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
  author_association: z.string().default('NONE'),
});
type Comment = z.infer<typeof Comment>;

/** The last line of each comment of a Tidemill. Marks before it are quoted. */
const MARK = /<!-- tidemill:([0-9a-z-]{1,64}):(active|ended) -->\s*$/;
export const isOfTidemill = (text: string): boolean => MARK.test(text);

/**
 * The one comment of this Tidemill on an issue. Its last line says whose it is. Of two Tidemills that begin at the same
 * time, the one with the earlier comment goes on.
 */
export class OneComment {
  readonly #client: GithubClient;
  readonly #people: GithubPeople;

  constructor(client: GithubClient, people: GithubPeople) {
    this.#client = client;
    this.#people = people;
  }

  async write(issue: number, comment: OutsideComment): Promise<{ id: string } | { takenBy: string }> {
    const body = `${comment.text}\n\n<!-- tidemill:${comment.instance}:${comment.isActive ? 'active' : 'ended'} -->`;
    if (comment.id !== null && (await this.#edit(comment.id, body))) return { id: comment.id };
    const before = await this.#list(issue);
    const rival = comment.isTakenOver ? null : await this.#rivalIn(before, comment.instance, Number.POSITIVE_INFINITY);
    if (rival !== null) return { takenBy: rival };
    const own = await this.#ownIn(before, comment.instance);
    if (own && (await this.#edit(String(own.id), body))) return { id: String(own.id) };
    const { id } = await this.#client.send('POST', `/issues/${issue}/comments`, { body }, Comment);
    if (comment.isTakenOver) return { id: String(id) };
    const first = await this.#rivalIn(await this.#list(issue), comment.instance, id);
    if (first === null) return { id: String(id) };
    await this.#client.send('DELETE', `/issues/comments/${id}`, undefined, z.unknown());
    return { takenBy: first };
  }

  /** False when somebody has deleted it. */
  async #edit(id: string, body: string): Promise<boolean> {
    try {
      await this.#client.send('PATCH', `/issues/comments/${id}`, { body }, Comment);
      return true;
    } catch (error) {
      if (isGithubError(error, 'not_found', 'gone')) return false;
      throw error;
    }
  }

  async #list(issue: number): Promise<Comment[]> {
    return (await this.#client.list(`/issues/${issue}/comments`, Comment)).items;
  }

  /** A stranger can copy a mark, but not write as us. */
  async #ownIn(comments: Comment[], instance: string): Promise<Comment | null> {
    for (const comment of comments)
      if (MARK.exec(comment.body ?? '')?.[1] === instance && (await this.#people.isSelf(comment.user?.login ?? '')))
        return comment;
    return null;
  }

  /** Another Tidemill that is at work, if its comment came before this one. */
  async #rivalIn(comments: Comment[], instance: string, before: number): Promise<string | null> {
    for (const { id, body, user, author_association: association } of comments) {
      const [, other, state] = MARK.exec(body ?? '') ?? [];
      if (other === undefined || other === instance || state !== 'active' || id >= before) continue;
      const login = user?.login ?? '';
      // Only who may push can have a Tidemill here; a mark of others would stop the work.
      const mayPush = await this.#people.mayPush(login, association.toUpperCase());
      if (mayPush || (await this.#people.isSelf(login))) return `${other} (${login})`;
    }
    return null;
  }
}
