import { z } from 'zod';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import { BLOCKED_BY, type Blocker, Blockers, blockersIn, type RawIssue } from './raw-issue.ts';

const AT_ONCE = 100;

const Nodes = z.object({ nodes: z.array(z.object({ number: z.number().int(), blockedBy: Blockers }).nullable()) });
const QUERY = `query ($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Issue { number ${BLOCKED_BY} }
  }
}`;
const Row = z.object({
  id: z.number(),
  number: z.number().int(),
  state: z.string(),
  repository_url: z.string().nullish(),
});

/** What blocks these issues, by number. Most issues are blocked by nothing and cost nothing. */
export async function blockersOf(client: GithubClient, issues: readonly RawIssue[]): Promise<Map<number, Blocker[]>> {
  const found = new Map<number, Blocker[]>();
  for (const { number, blockedBy } of issues) if (blockedBy !== null) found.set(number, blockedBy);
  const blocked = issues.filter(
    ({ number, blockers, state }) => blockers > 0 && state === 'open' && !found.has(number),
  );
  for (let at = 0; at < blocked.length; at += AT_ONCE) {
    const some = blocked.slice(at, at + AT_ONCE);
    try {
      const { nodes } = await client.graphql(QUERY, { ids: some.map(({ nodeId }) => nodeId) }, Nodes);
      for (const node of nodes) if (node) found.set(node.number, blockersIn(node.blockedBy));
    } catch (error) {
      // An older server, or a token for REST only.
      if (!isGithubError(error, 'missing_scope', 'unprocessable', 'not_found')) throw error;
      for (const { number } of some) found.set(number, await one(client, number));
    }
  }
  return found;
}

async function one(client: GithubClient, issue: number): Promise<Blocker[]> {
  const { owner, name } = await client.place();
  const { items } = await client.list(`/issues/${issue}/dependencies/blocked_by`, Row);
  return items.map(({ number, state, repository_url: url }) => ({
    name: `${/\/repos\/([^/]+\/[^/]+)$/.exec(url ?? '')?.[1] ?? `${owner}/${name}`}#${number}`,
    isDone: state !== 'open',
  }));
}
