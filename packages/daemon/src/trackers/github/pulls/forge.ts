import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Forge, PullComment, PullMerge, PullRequest, QueuePlace } from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import { GithubPeople } from '../client/people.ts';
import { publish, readChecks } from './checks.ts';
import { IssueComment, LineComment, Pull, Queue, Review } from './schemas.ts';

const OBSTACLES: Record<string, string> = {
  dirty: 'it conflicts with its target',
  blocked: 'a required review or check is missing',
  behind: 'its branch is behind its target',
  draft: 'it is a draft',
};

/** Both name the commit that was proven: another head is not merged. */
const ENQUEUE = `mutation ($id: ID!, $commit: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $commit }) { mergeQueueEntry { id } }
}`;
const AUTO_MERGE = `mutation ($id: ID!, $commit: GitObjectID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, expectedHeadOid: $commit, mergeMethod: $method }) {
    pullRequest { id }
  }
}`;

const DEQUEUE = `mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { mergeQueueEntry { id } } }`;
const NO_AUTO_MERGE = `mutation ($id: ID!) { disablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { id } } }`;

const QUEUE = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      isInMergeQueue
      timelineItems(itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT], last: 1) {
        nodes { ... on RemovedFromMergeQueueEvent { id reason beforeCommit { oid } } }
      }
    }
  }
}`;

/** Pull requests, checks and merging on GitHub. It keeps nothing: GitHub is asked each time. */
export class GithubForge implements Forge {
  readonly #client: GithubClient;
  readonly #people: GithubPeople;

  constructor(client: GithubClient, clock: Clock) {
    this.#client = client;
    this.#people = new GithubPeople(client, clock, true);
  }

  async repository(): Promise<string> {
    const { owner, name } = await this.#client.place();
    return `${owner}/${name}`;
  }

  async pullOf(branch: string): Promise<PullRequest | null> {
    const { owner } = await this.#client.place();
    const { items } = await this.#client.list('/pulls', Pull, { head: `${owner}:${branch}`, state: 'all' });
    const own = items.filter(({ head }) => head.ref === branch);
    const newest = own.sort((a, b) => b.number - a.number);
    const found = newest.find(({ state }) => state === 'open') ?? newest[0];
    return found ? pullRequest(found) : null;
  }

  async pull(number: number): Promise<PullRequest> {
    return pullRequest(await this.#client.get(`/pulls/${number}`, Pull));
  }

  async open(about: { branch: string; target: string; title: string; body: string }): Promise<PullRequest> {
    const { branch, target, title, body } = about;
    const there = await this.pullOf(branch);
    if (there?.state === 'open') return there;
    try {
      return pullRequest(await this.#client.send('POST', '/pulls', { head: branch, base: target, title, body }, Pull));
    } catch (error) {
      if (!isGithubError(error, 'unprocessable')) throw error;
      // Another request, perhaps of this process before a crash, was faster.
      const made = await this.pullOf(branch);
      if (made?.state === 'open') return made;
      throw error;
    }
  }

  async edit(number: number, change: { title?: string; body?: string; state?: 'open' }): Promise<void> {
    await this.#client.send('PATCH', `/pulls/${number}`, change, z.unknown());
  }

  async comments(number: number): Promise<PullComment[]> {
    const { items: comments } = await this.#client.list(`/issues/${number}/comments`, IssueComment);
    const { items: lines } = await this.#client.list(`/pulls/${number}/comments`, LineComment);
    const { items: reviews } = await this.#client.list(`/pulls/${number}/reviews`, Review);
    const plain = { isApproval: false, place: null };
    const all: (Omit<PullComment, 'isTrusted'> & { author: string })[] = [
      ...comments.map(({ id, user, body }) => ({
        ...plain,
        id,
        kind: 'comment' as const,
        author: user?.login ?? '',
        text: body ?? '',
      })),
      ...lines.map(({ id, user, body, path, line, original_line }) => ({
        ...plain,
        id,
        kind: 'line' as const,
        author: user?.login ?? '',
        text: body ?? '',
        place: `${path}${(line ?? original_line) ? `:${line ?? original_line}` : ''}`,
      })),
      ...reviews
        .filter(({ state }) => state !== 'PENDING' && state !== 'DISMISSED')
        .map(({ id, user, body, state }) => ({
          ...plain,
          id,
          kind: 'review' as const,
          author: user?.login ?? '',
          // A request for changes without words still asks for work.
          text: body || (state === 'CHANGES_REQUESTED' ? 'Changes are requested.' : ''),
          isApproval: state === 'APPROVED',
        })),
    ];
    const judged: PullComment[] = [];
    for (const one of all) judged.push({ ...one, isTrusted: await this.#people.mayPush(one.author) });
    return judged;
  }

  checks(commit: string, target: string) {
    return readChecks(this.#client, commit, target);
  }

  report(...about: Parameters<Forge['report']>): Promise<void> {
    return publish(this.#client, ...about);
  }

  async merge(
    pull: PullRequest,
    { commit, method, by, title, message }: Parameters<Forge['merge']>[1],
  ): Promise<PullMerge> {
    if (by !== 'us') {
      const queued = await this.#queue(pull, { commit, method, by });
      if (queued) return queued;
    }
    try {
      const body = { sha: commit, merge_method: method, commit_title: title, commit_message: message };
      const { sha } = await this.#client.send(
        'PUT',
        `/pulls/${pull.number}/merge`,
        body,
        z.object({ sha: z.string() }),
      );
      return { kind: 'merged', commit: sha };
    } catch (error) {
      if (!isGithubError(error, 'refused', 'conflict', 'unprocessable')) throw error;
      // The answer to an earlier request may have been lost.
      const now = await this.pull(pull.number);
      if (now.state === 'merged') return { kind: 'merged', commit: now.mergeCommit ?? now.head };
      return { kind: now.head === commit ? 'refused' : 'moved', why: now.obstacle ?? error.message };
    }
  }

  async queue(number: number): Promise<QueuePlace> {
    const { owner, name } = await this.#client.place();
    const { repository } = await this.#client.graphql(QUEUE, { owner, name, number }, Queue);
    const { isInMergeQueue, timelineItems } = repository.pullRequest;
    const [last] = timelineItems.nodes;
    return {
      isQueued: isInMergeQueue,
      removal: last ? { id: last.id, reason: last.reason ?? '', commit: last.beforeCommit?.oid ?? null } : null,
    };
  }

  async unqueue(number: number): Promise<void> {
    const { node_id: id } = await this.#client.get(`/pulls/${number}`, Pull);
    for (const query of [NO_AUTO_MERGE, DEQUEUE])
      await this.#client.graphql(query, { id }, z.unknown()).catch((error: unknown) => {
        // It was not waiting in this way.
        if (!isGithubError(error, 'unprocessable')) throw error;
      });
  }

  async glance(number: number, target: string): Promise<string> {
    const pull = await this.#client.get(`/pulls/${number}`, Pull);
    const [comments, checks] = await Promise.all([this.comments(number), this.checks(pull.head.sha, target)]);
    // A pull request that leaves the queue looks as before in all other answers.
    const queue = checks.hasQueue ? await this.queue(number) : null;
    return createHash('sha256')
      .update(JSON.stringify([pull, comments, checks, queue]))
      .digest('hex');
  }

  /** Null: GitHub has nothing to wait for, so it is merged at once. */
  async #queue(
    { number }: PullRequest,
    { commit, method, by }: { commit: string; method: string; by: 'forge' | 'queue' },
  ): Promise<PullMerge | null> {
    const { node_id: id } = await this.#client.get(`/pulls/${number}`, Pull);
    const query = by === 'queue' ? ENQUEUE : AUTO_MERGE;
    const about = { id, commit, ...(by === 'queue' ? {} : { method: method.toUpperCase() }) };
    try {
      await this.#client.graphql(query, about, z.unknown());
      return { kind: 'queued' };
    } catch (error) {
      if (!isGithubError(error, 'unprocessable')) throw error;
      if (/clean status/i.test(error.message)) return null;
      if (/already (in|queued|enabled)/i.test(error.message)) return { kind: 'queued' };
      return { kind: 'refused', why: error.message };
    }
  }
}

function pullRequest(pull: Pull): PullRequest {
  const { number, html_url, state, head, merged_at, closed_at, merge_commit_sha, title, body, mergeable_state } = pull;
  return {
    number,
    url: html_url,
    state: merged_at ? 'merged' : state,
    branch: head.ref,
    head: head.sha,
    closedAt: closed_at ?? null,
    mergeCommit: merged_at ? merge_commit_sha : null,
    title,
    body: body ?? '',
    obstacle: OBSTACLES[mergeable_state ?? ''] ?? null,
  };
}
