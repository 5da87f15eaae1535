import { z } from 'zod';
import type { GithubClient, GithubQuery } from '../client/client.ts';
import { isPull, RestIssue } from './raw-issue.ts';

const PER_PAGE = 100;
/** Of open issues, for comparing: older ones are seldom proposed again. */
const MOST_PAGES = 5;

/**
 * All rows of a list, in the order of their last change. The next page begins at the last change that was read, and not at a place
 * in the list: a row that changes while the pages are read comes again at the end, and none is missed.
 */
export async function listByChange<T extends { id: number; updated_at: string }>(
  client: GithubClient,
  path: string,
  schema: z.ZodType<T>,
  query: GithubQuery,
  from: string | null,
): Promise<T[]> {
  const found = new Map<number, T>();
  let since = from;
  let page = 1;
  for (;;) {
    const rows = await client.get(path, z.array(schema), {
      ...query,
      ...{ sort: 'updated', direction: 'asc', per_page: PER_PAGE },
      ...(since === null ? {} : { since }),
      ...(page === 1 ? {} : { page }),
    });
    for (const row of rows) {
      // The newest state is the last one.
      found.delete(row.id);
      found.set(row.id, row);
    }
    const last = rows.at(-1)?.updated_at;
    if (rows.length < PER_PAGE || last === undefined) return [...found.values()];
    // More than a page changed in the same second.
    if (last === since) page += 1;
    else [since, page] = [last, 1];
  }
}

/** Issues and pull requests. */
export const listIssues = (client: GithubClient, query: GithubQuery, from: string | null): Promise<RestIssue[]> =>
  listByChange(client, '/issues', RestIssue, query, from);

/** When something last changed in the repository, by GitHub's own clock. */
export async function newestChange(client: GithubClient): Promise<string> {
  const query = { state: 'all', sort: 'updated', direction: 'desc', per_page: 1 };
  const [newest] = await client.get('/issues', z.array(RestIssue), query);
  return newest?.updated_at ?? '1970-01-01T00:00:00Z';
}

/** Open issues, the last changed first, at most 500 rows with the pull requests among them. */
export async function newestOpen(client: GithubClient): Promise<RestIssue[]> {
  const found = new Map<number, RestIssue>();
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const query = { state: 'open', sort: 'updated', direction: 'desc', per_page: PER_PAGE, page };
    const rows = await client.get('/issues', z.array(RestIssue), query);
    for (const row of rows) if (!isPull(row)) found.set(row.number, row);
    if (rows.length < PER_PAGE) break;
  }
  return [...found.values()];
}
