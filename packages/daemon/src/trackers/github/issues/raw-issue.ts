import { z } from 'zod';

export interface Blocker {
  /** `owner/name#12`. */
  name: string;
  isDone: boolean;
}

/** An issue as GitHub's two APIs describe it, in one form. */
export interface RawIssue {
  number: number;
  nodeId: string;
  title: string;
  body: string;
  labels: string[];
  author: string;
  association: string;
  state: 'open' | 'closed';
  reason: string;
  url: string;
  updatedAt: string;
  milestone: string | null;
  /** How many open issues block it. */
  blockers: number;
  /** Which, if that is known. */
  blockedBy: Blocker[] | null;
}

const Login = z.object({ login: z.string() }).nullish();

/** A row of the REST API. Pull requests are issues there. */
export const RestIssue = z.object({
  id: z.number(),
  number: z.number().int(),
  node_id: z.string().default(''),
  title: z.string(),
  body: z.string().nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])).default([]),
  user: Login,
  author_association: z.string().default('NONE'),
  state: z.string(),
  state_reason: z.string().nullish(),
  html_url: z.string(),
  updated_at: z.string(),
  milestone: z.object({ title: z.string() }).nullish(),
  pull_request: z.unknown().optional(),
  issue_dependencies_summary: z.object({ blocked_by: z.number().default(0) }).nullish(),
});
export type RestIssue = z.infer<typeof RestIssue>;

export const isPull = ({ pull_request: pull }: RestIssue) => pull !== undefined && pull !== null;

/** Somebody whose account is deleted. */
const GHOST = 'ghost';

export function fromRest(row: RestIssue): RawIssue {
  return {
    number: row.number,
    nodeId: row.node_id,
    title: row.title,
    body: row.body ?? '',
    labels: row.labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? []))),
    author: row.user?.login ?? GHOST,
    association: row.author_association.toUpperCase(),
    state: row.state === 'closed' ? 'closed' : 'open',
    reason: (row.state_reason ?? '').toLowerCase(),
    url: row.html_url,
    updatedAt: row.updated_at,
    milestone: row.milestone?.title ?? null,
    blockers: row.issue_dependencies_summary?.blocked_by ?? 0,
    blockedBy: null,
  };
}

/** The same of GraphQL, for issues on a board. */
export const ISSUE_FIELDS = `
  number id title body state stateReason url updatedAt authorAssociation
  author { login }
  repository { nameWithOwner }
  labels(first: 50) { nodes { name } }
  milestone { title }
`;
/** Not known to older servers. */
export const BLOCKED_BY = 'blockedBy(first: 50) { nodes { number state repository { nameWithOwner } } }';

export const Blockers = z.object({
  nodes: z.array(
    z.object({ number: z.number().int(), state: z.string(), repository: z.object({ nameWithOwner: z.string() }) }),
  ),
});

export const blockersIn = ({ nodes }: z.infer<typeof Blockers>): Blocker[] =>
  nodes.map(({ number, state, repository }) => ({
    name: `${repository.nameWithOwner}#${number}`,
    isDone: state !== 'OPEN',
  }));

export const GraphIssue = z.object({
  number: z.number().int(),
  id: z.string(),
  title: z.string(),
  body: z.string(),
  state: z.string(),
  stateReason: z.string().nullish(),
  url: z.string(),
  updatedAt: z.string(),
  authorAssociation: z.string(),
  author: Login,
  repository: z.object({ nameWithOwner: z.string() }),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }).nullish(),
  milestone: z.object({ title: z.string() }).nullish(),
  blockedBy: Blockers.nullish(),
});
export type GraphIssue = z.infer<typeof GraphIssue>;

export function fromGraph(node: GraphIssue): RawIssue {
  return {
    number: node.number,
    nodeId: node.id,
    title: node.title,
    body: node.body,
    labels: node.labels?.nodes.map(({ name }) => name) ?? [],
    author: node.author?.login ?? GHOST,
    association: node.authorAssociation.toUpperCase(),
    state: node.state === 'CLOSED' ? 'closed' : 'open',
    reason: (node.stateReason ?? '').toLowerCase(),
    url: node.url,
    updatedAt: node.updatedAt,
    milestone: node.milestone?.title ?? null,
    blockers: node.blockedBy?.nodes.filter(({ state }) => state === 'OPEN').length ?? 0,
    blockedBy: node.blockedBy ? blockersIn(node.blockedBy) : null,
  };
}
