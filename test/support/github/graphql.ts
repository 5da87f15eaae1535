import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import type { MergeMethod } from './git-backend.ts';
import type { Item, Project } from './projects.ts';
import type { Pulls } from './pulls.ts';
import type { Upstream } from './upstream.ts';

let githubSchema: Promise<GraphQLSchema> | null = null;

/** GitHub's own schema, so that a query that GitHub would refuse is refused here too. Large: loaded when first needed. */
function loadSchema(): Promise<GraphQLSchema> {
  githubSchema ??= import('@octokit/graphql-schema').then(({ schema }) =>
    // Issue dependencies are newer than the published schema.
    buildSchema(`${schema.idl}\nextend type Issue { blockedBy(first: Int, after: String): IssueConnection! }`, {
      assumeValid: true,
    }),
  );
  return githubSchema;
}

type Rest = Record<string, unknown> & { number: number; node_id: string; user: { login: string } | null };
type Page = { first?: number; last?: number; after?: string | null };

/** A page of a list. A cursor is the place in the list. */
function connection<T>(all: T[], { first, after }: Page) {
  const start = after ? Number(after) : 0;
  const end = first === undefined ? all.length : start + first;
  const nodes = all.slice(start, end);
  return {
    nodes,
    edges: nodes.map((node, index) => ({ node, cursor: String(start + index + 1) })),
    totalCount: all.length,
    pageInfo: {
      hasNextPage: end < all.length,
      hasPreviousPage: start > 0,
      startCursor: String(start + 1),
      endCursor: String(Math.min(end, all.length)),
    },
  };
}

/** `/graphql`: Projects v2, issues, and the merging of pull requests by GitHub. */
export class Graphql {
  readonly #upstream: Upstream;
  readonly #pulls: Pulls;
  readonly #projects: Project[];
  readonly #repository: { owner: string; name: string; id: string };
  readonly #blockers: (issue: number) => number[];

  constructor(
    upstream: Upstream,
    pulls: Pulls,
    projects: Project[],
    repository: { owner: string; name: string },
    blockers: (issue: number) => number[],
  ) {
    this.#upstream = upstream;
    this.#pulls = pulls;
    this.#projects = projects;
    this.#repository = { ...repository, id: 'R_1' };
    this.#blockers = blockers;
  }

  async answer(body: string, login: string | null): Promise<unknown> {
    const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
    const document = parse(query);
    const schema = await loadSchema();
    const faults = validate(schema, document);
    if (faults.length) return { errors: faults.map(({ message }) => ({ message })) };
    const result = await execute({
      schema,
      document,
      rootValue: this.#root(login ?? ''),
      ...(variables ? { variableValues: variables } : {}),
    });
    return {
      ...(result.data === undefined ? {} : { data: result.data }),
      ...(result.errors
        ? { errors: result.errors.map(({ message, path, extensions }) => ({ message, path, type: extensions.type })) }
        : {}),
    };
  }

  #root(login: string) {
    const owner = ({ login: name }: { login: string }) =>
      name === this.#repository.owner
        ? this.#owner(name)
        : missing(`Could not resolve to a User with the login of '${name}'.`);
    return {
      viewer: { login, __typename: 'User' },
      rateLimit: {
        limit: 5000,
        cost: 1,
        remaining: 4999,
        used: 1,
        nodeCount: 1,
        resetAt: new Date(Date.now() + 3_600_000).toISOString(),
      },
      repository: ({ owner: name, name: repo }: { owner: string; name: string }) =>
        name === this.#repository.owner && repo === this.#repository.name
          ? this.#repo()
          : missing(`Could not resolve to a Repository with the name '${name}/${repo}'.`),
      user: owner,
      organization: owner,
      repositoryOwner: owner,
      node: ({ id }: { id: string }) => this.#node(id),
      nodes: ({ ids }: { ids: string[] }) => Promise.all(ids.map((id) => this.#node(id))),
      addProjectV2ItemById: ({ input }: { input: { projectId: string; contentId: string } }) => this.#addItem(input),
      updateProjectV2ItemFieldValue: ({ input }: { input: FieldInput }) =>
        this.#setField(input, input.value.singleSelectOptionId ?? null),
      clearProjectV2ItemFieldValue: ({ input }: { input: Omit<FieldInput, 'value'> }) => this.#setField(input, null),
      enablePullRequestAutoMerge: ({ input }: { input: MergeInput & { mergeMethod?: string } }) =>
        this.#wait(input, (number) => this.#pulls.enableAutoMerge(number, methodOf(input.mergeMethod), login)),
      disablePullRequestAutoMerge: ({ input }: { input: MergeInput }) =>
        this.#wait(input, async (number) => this.#pulls.disableAutoMerge(number)),
      dequeuePullRequest: ({ input }: { input: { id: string } }) =>
        this.#wait({ pullRequestId: input.id }, (number) => this.#pulls.dequeue(number)),
      enqueuePullRequest: ({ input }: { input: MergeInput }) =>
        this.#wait(input, (number) => this.#pulls.enqueue(number, login)),
    };
  }

  #owner(login: string) {
    return {
      __typename: 'User',
      login,
      projectV2: ({ number }: { number: number }) =>
        this.#projects.some((one) => one.number === number)
          ? this.#project(number)
          : missing(`Could not resolve to a ProjectV2 with the number ${number}.`),
      projectsV2: (page: Page) =>
        connection(
          this.#projects.map(({ number }) => this.#project(number)),
          page,
        ),
    };
  }

  #repo() {
    return {
      __typename: 'Repository',
      id: this.#repository.id,
      name: this.#repository.name,
      nameWithOwner: `${this.#repository.owner}/${this.#repository.name}`,
      owner: this.#owner(this.#repository.owner),
      projectV2: ({ number }: { number: number }) => this.#project(number),
      projectsV2: (page: Page) =>
        connection(
          this.#projects.map(({ number }) => this.#project(number)),
          page,
        ),
      issue: ({ number }: { number: number }) => this.#issueAt(number),
      issues: async (page: Page & { states?: string[] }) => {
        const all = await this.#issues();
        return connection(page.states ? all.filter(({ state }) => page.states!.includes(state)) : all, page);
      },
      pullRequest: async ({ number }: { number: number }) => this.#pull(number),
    };
  }

  async #node(id: string): Promise<unknown> {
    for (const project of this.#projects) {
      if (project.id === id) return this.#project(project.number);
      const item = project.items.find((one) => one.id === id);
      if (item) return this.#item(project, item);
    }
    const issue = (await this.#issues()).find((one) => one.id === id);
    if (issue) return issue;
    const pull = (await this.#pulls.all()).find(({ node_id }) => node_id === id);
    return pull ? this.#pull(pull.number) : missing(`Could not resolve to a node with the global id of '${id}'`);
  }

  #project(number: number) {
    const project = this.#projects.find((one) => one.number === number);
    if (!project) return missing(`Could not resolve to a ProjectV2 with the number ${number}.`);
    return {
      __typename: 'ProjectV2',
      id: project.id,
      number,
      title: project.title,
      closed: false,
      public: false,
      updatedAt: project.updatedAt,
      url: `https://github.example/projects/${number}`,
      fields: (page: Page) =>
        connection(
          project.fields.map((field) => ({
            __typename: 'ProjectV2SingleSelectField',
            dataType: 'SINGLE_SELECT',
            ...field,
          })),
          page,
        ),
      field: ({ name }: { name: string }) => {
        const field = project.fields.find((one) => one.name === name);
        return field ? { __typename: 'ProjectV2SingleSelectField', dataType: 'SINGLE_SELECT', ...field } : null;
      },
      items: (page: Page) =>
        connection(
          project.items.map((item) => this.#item(project, item)),
          page,
        ),
    };
  }

  #item(project: Project, item: Item) {
    const value = (field: Project['fields'][number]) => {
      const option = field.options.find(({ id }) => id === item.values.get(field.id));
      return option
        ? {
            __typename: 'ProjectV2ItemFieldSingleSelectValue',
            id: `${item.id}_${field.id}`,
            name: option.name,
            optionId: option.id,
            field: { __typename: 'ProjectV2SingleSelectField', ...field },
          }
        : null;
    };
    return {
      __typename: 'ProjectV2Item',
      id: item.id,
      type: 'ISSUE',
      isArchived: item.isArchived,
      project: () => this.#project(project.number),
      content: () => this.#issueAt(item.issue),
      fieldValueByName: ({ name }: { name: string }) => {
        const field = project.fields.find((one) => one.name === name);
        return field ? value(field) : null;
      },
      fieldValues: (page: Page) =>
        connection(
          project.fields.map(value).filter((one) => one !== null),
          page,
        ),
    };
  }

  async #issues() {
    const all: Issue[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await this.#upstream.ask(
        'GET',
        `/issues?state=all&sort=created&direction=asc&per_page=100&page=${page}`,
      );
      const rows = body as Rest[];
      all.push(...rows.filter((row) => !row.pull_request).map((row) => this.#issue(row)));
      if (rows.length < 100) return all;
    }
  }

  async #issueAt(number: number): Promise<unknown> {
    const { status, body } = await this.#upstream.ask('GET', `/issues/${number}`);
    return status === 200
      ? this.#issue(body as Rest)
      : missing(`Could not resolve to an Issue with the number of ${number}.`);
  }

  #issue(row: Rest): Issue {
    const labels = (row.labels as { id: number; name: string; color: string }[]).map((label) => ({
      ...label,
      id: `LA_${label.id}`,
    }));
    const { milestone } = row as { milestone?: { number: number; title: string } | null };
    return {
      __typename: 'Issue',
      id: row.node_id,
      databaseId: row.id,
      fullDatabaseId: String(row.id),
      number: row.number,
      title: row.title,
      body: row.body ?? '',
      state: String(row.state).toUpperCase(),
      stateReason: row.state_reason ? String(row.state_reason).toUpperCase() : null,
      url: row.html_url,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      closedAt: row.closed_at,
      locked: row.locked,
      authorAssociation: row.author_association,
      author: row.user ? { __typename: 'User', login: row.user.login } : null,
      repository: () => this.#repo(),
      labels: (page: Page) => connection(labels, page),
      milestone: milestone ? { number: milestone.number, title: milestone.title, id: `MI_${milestone.number}` } : null,
      blockedBy: (page: Page) =>
        Promise.all(this.#blockers(row.number).map((number) => this.#issueAt(number))).then((all) =>
          connection(all, page),
        ),
      projectItems: (page: Page) =>
        connection(
          this.#projects.flatMap((project) =>
            project.items.filter(({ issue }) => issue === row.number).map((item) => this.#item(project, item)),
          ),
          page,
        ),
    };
  }

  async #pull(number: number): Promise<unknown> {
    const pull = await this.#pulls.find(number);
    if (!pull) return missing(`Could not resolve to a PullRequest with the number of ${number}.`);
    const waits = this.#pulls.isWaiting(number);
    return {
      __typename: 'PullRequest',
      id: pull.node_id,
      number,
      title: pull.title,
      state: pull.merged ? 'MERGED' : pull.state.toUpperCase(),
      headRefOid: pull.head.sha,
      headRefName: pull.head.ref,
      baseRefName: pull.base.ref,
      isInMergeQueue: waits === 'queue',
      autoMergeRequest: waits === 'auto' ? { mergeMethod: 'SQUASH', enabledAt: new Date().toISOString() } : null,
      timelineItems: ({ itemTypes = [], last }: { itemTypes?: string[]; last?: number }) => {
        const removals = itemTypes.includes('REMOVED_FROM_MERGE_QUEUE_EVENT')
          ? this.#pulls.queue.removalsOf(number)
          : [];
        const nodes = removals.map(({ id, reason, commit, at: createdAt }) => ({
          ...{ __typename: 'RemovedFromMergeQueueEvent', id, reason, createdAt },
          beforeCommit: commit === null ? null : { oid: commit },
        }));
        return connection(last === undefined ? nodes : nodes.slice(-last), {});
      },
      mergeQueueEntry: waits === 'queue' ? { id: `MQE_${number}`, position: 1, state: 'QUEUED' } : null,
    };
  }

  async #addItem({ projectId, contentId }: { projectId: string; contentId: string }) {
    const project = this.#projects.find(({ id }) => id === projectId);
    const issue = (await this.#issues()).find(({ id }) => id === contentId);
    if (!project || !issue)
      return missing(`Could not resolve to a node with the global id of '${project ? contentId : projectId}'`);
    return { item: this.#item(project, project.add(issue.number)) };
  }

  #setField({ projectId, itemId, fieldId }: Omit<FieldInput, 'value'>, option: string | null) {
    const project = this.#projects.find(({ id }) => id === projectId);
    if (!project) return missing(`Could not resolve to a node with the global id of '${projectId}'`);
    const refused = project.set(itemId, fieldId, option);
    if (refused) return missing(refused);
    return { projectV2Item: this.#item(project, project.items.find(({ id }) => id === itemId)!) };
  }

  /** Auto-merge and the merge queue. */
  async #wait(
    { pullRequestId: id, expectedHeadOid: head }: MergeInput,
    change: (number: number) => Promise<string | null>,
  ) {
    const pull = (await this.#pulls.all()).find(({ node_id }) => node_id === id);
    if (!pull) return missing(`Could not resolve to a node with the global id of '${id}'`);
    if (head !== undefined && head !== pull.head.sha)
      throw new GraphQLError('Head sha did not match expected head oid', { extensions: { type: 'UNPROCESSABLE' } });
    const refused = await change(pull.number);
    if (refused) throw new GraphQLError(refused, { extensions: { type: 'UNPROCESSABLE' } });
    const { number } = pull;
    const mergeQueueEntry = { id: `MQE_${number}`, position: 1, state: 'QUEUED' };
    return { pullRequest: await this.#pull(number), mergeQueueEntry };
  }
}

const methodOf = (name = 'MERGE') => name.toLowerCase() as MergeMethod;

type Issue = Record<string, unknown> & { id: string; number: number; state: string };

interface MergeInput {
  pullRequestId: string;
  expectedHeadOid?: string;
}

interface FieldInput {
  projectId: string;
  itemId: string;
  fieldId: string;
  value: { singleSelectOptionId?: string };
}

function missing(message: string): never {
  throw new GraphQLError(message, { extensions: { type: 'NOT_FOUND' } });
}
