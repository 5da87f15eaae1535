import type { TrackerProject } from '@tidemill/contract';
import type { OutsideStatus } from '@tidemill/core';
import { z } from 'zod';
import type { Clock } from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { GithubError, isGithubError } from '../client/github-error.ts';
import { BLOCKED_BY, fromGraph, GraphIssue, ISSUE_FIELDS, type RawIssue } from './raw-issue.ts';

/** A board is read as a whole at least this often, whatever it says about its last change. */
const WHOLE_MS = 300_000;

const Field = z.object({ id: z.string(), options: z.array(z.object({ id: z.string(), name: z.string() })) });
const Value = z.object({ name: z.string().nullish() }).nullish();
const Item = z.object({
  id: z.string(),
  isArchived: z.boolean(),
  status: Value,
  priority: Value,
  content: z.union([GraphIssue, z.object({}).transform(() => null), z.null()]),
});
const owned = <T extends z.ZodType>(project: T) =>
  z.object({ repositoryOwner: z.object({ projectV2: project.nullable() }).nullable() });
const Head = owned(z.object({ updatedAt: z.string() }));
const Page = owned(
  z.object({
    id: z.string(),
    updatedAt: z.string(),
    field: Field.partial().nullish(),
    items: z.object({
      nodes: z.array(Item.nullable()),
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
    }),
  }),
);

const inOwner = (selection: string) =>
  `repositoryOwner(login: $owner) { ... on ProjectV2Owner { projectV2(number: $number) { ${selection} } } }`;
const HEAD = `query ($owner: String!, $number: Int!) { ${inOwner('updatedAt')} }`;
const page = (fields: string) =>
  `query ($owner: String!, $number: Int!, $status: String!, $priority: String!, $after: String) { ${inOwner(`
  id updatedAt
  field(name: $status) { ... on ProjectV2SingleSelectField { id options { id name } } }
  items(first: 100, after: $after) {
    nodes {
      id isArchived
      status: fieldValueByName(name: $status) { ... on ProjectV2ItemFieldSingleSelectValue { name } }
      priority: fieldValueByName(name: $priority) { ... on ProjectV2ItemFieldSingleSelectValue { name } }
      content { ... on Issue { ${fields} } }
    }
    pageInfo { hasNextPage endCursor }
  }`)} }`;
const SET = `mutation ($project: ID!, $item: ID!, $field: ID!, $option: String!) {
  updateProjectV2ItemFieldValue(
    input: { projectId: $project, itemId: $item, fieldId: $field, value: { singleSelectOptionId: $option } }
  ) { projectV2Item { id } }
}`;

interface Card {
  itemId: string;
  status: string | null;
  priority: string | null;
}

/** A Projects v2 board: which issues are on it, with which status and priority. */
export class Board {
  readonly #client: GithubClient;
  readonly #clock: Clock;
  readonly #config: TrackerProject;
  #cards = new Map<number, Card>();
  #project: { id: string; field: z.infer<typeof Field> | null } | null = null;
  #updatedAt = '';
  #dependencies = BLOCKED_BY;
  #readAt = 0;

  constructor(client: GithubClient, clock: Clock, config: TrackerProject) {
    this.#client = client;
    this.#clock = clock;
    this.#config = config;
  }

  cardOf(issue: number): Card | null {
    return this.#cards.get(issue) ?? null;
  }

  isSelected(issue: number): boolean {
    const card = this.#cards.get(issue);
    if (!card) return false;
    const { statuses } = this.#config;
    return statuses.length === 0 || statuses.some((status) => isSame(status, card.status));
  }

  /** All issues on it that are in this repository. */
  async whole(): Promise<RawIssue[]> {
    const { nameWithOwner, variables } = await this.#about();
    const cards = new Map<number, Card>();
    const issues: RawIssue[] = [];
    let after: string | null = null;
    do {
      const { field: status, priorityField: priority } = this.#config;
      const read = await this.#page({ ...variables, status, priority, after });
      const project = read.repositoryOwner?.projectV2 ?? this.#missing();
      const field = Field.safeParse(project.field);
      this.#project = { id: project.id, field: field.success ? field.data : null };
      if (after === null) this.#updatedAt = project.updatedAt;
      for (const item of project.items.nodes) {
        const issue = item?.content;
        if (!item || !issue || item.isArchived || !isSame(issue.repository.nameWithOwner, nameWithOwner)) continue;
        cards.set(issue.number, {
          itemId: item.id,
          status: item.status?.name ?? null,
          priority: item.priority?.name ?? null,
        });
        issues.push(fromGraph(issue));
      }
      const { hasNextPage, endCursor } = project.items.pageInfo;
      after = hasNextPage ? (endCursor ?? null) : null;
    } while (after !== null);
    this.#cards = cards;
    this.#readAt = this.#clock.now();
    return issues;
  }

  /** The issues whose card was added, changed or removed since the last call. */
  async changed(): Promise<number[]> {
    const { variables } = await this.#about();
    if (this.#clock.now() - this.#readAt < WHOLE_MS) {
      const head = await this.#client.graphql(HEAD, variables, Head);
      if ((head.repositoryOwner?.projectV2 ?? this.#missing()).updatedAt === this.#updatedAt) return [];
    }
    const before = this.#cards;
    await this.whole();
    const all = new Set([...before.keys(), ...this.#cards.keys()]);
    return [...all].filter((issue) => JSON.stringify(before.get(issue)) !== JSON.stringify(this.#cards.get(issue)));
  }

  /** Does nothing for an issue that is not on it, and for an option that it does not have. */
  async setStatus(issue: number, status: OutsideStatus): Promise<void> {
    if (!this.#project) await this.whole();
    const card = this.#cards.get(issue);
    const field = this.#project?.field;
    const option = field?.options.find(({ name }) => isSame(name, this.#config.options[status]));
    if (!this.#project || !card || !field || !option || isSame(card.status ?? '', option.name)) return;
    const target = { project: this.#project.id, item: card.itemId, field: field.id, option: option.id };
    await this.#client.graphql(SET, target, z.unknown());
    card.status = option.name;
  }

  async #page(variables: Record<string, unknown>): Promise<z.infer<typeof Page>> {
    try {
      return await this.#client.graphql(page(`${ISSUE_FIELDS} ${this.#dependencies}`), variables, Page);
    } catch (error) {
      if (!isGithubError(error, 'unprocessable') || !error.message.includes('blockedBy')) throw error;
      this.#dependencies = '';
      return this.#client.graphql(page(ISSUE_FIELDS), variables, Page);
    }
  }

  async #about() {
    const { owner, name } = await this.#client.place();
    const variables = { owner: this.#config.owner ?? owner, number: this.#config.number };
    return { nameWithOwner: `${owner}/${name}`, variables };
  }

  #missing(): never {
    const { owner, number } = this.#config;
    const whose = owner ?? "the repository's owner";
    throw new GithubError('not_found', `${whose} has no project ${number}, or the token may not see it`, {
      hint: 'Check `tracker.project`. A classic token needs the scope `project`.',
    });
  }
}

const isSame = (a: string, b: string | null) => b !== null && a.toLowerCase() === b.toLowerCase();
