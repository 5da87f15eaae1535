import type { Accounts } from './accounts.ts';
import type { Checks } from './checks.ts';
import { type Answer, type Asked, answer, notFound } from './exchange.ts';
import { git, type MergeMethod, mergedTree, mergeInto, tipOf } from './git-backend.ts';
import { MergeQueue } from './merge-queue.ts';
import type { Upstream } from './upstream.ts';

export interface Protection {
  /** Checks that must pass before a merge. */
  contexts?: string[];
  /** Approving reviews that a merge needs. */
  approvals?: number;
  /** Merges go through the merge queue only. */
  queue?: boolean;
  /** Told as a ruleset instead of a classic protection. */
  asRules?: boolean;
}

type Pull = Record<string, unknown> & {
  number: number;
  node_id: string;
  state: 'open' | 'closed';
  title: string;
  body: string | null;
  draft: boolean;
  head: { ref: string; sha: string };
  base: { ref: string; sha: string };
};

interface Merge {
  commit: string;
  at: string;
  by: string;
}

const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s+#(\d+)/gi;

/** Pull requests: kept upstream, with what really is in the repository, and really merged. */
export class Pulls {
  readonly #merges = new Map<number, Merge>();
  readonly #heads = new Map<number, string>();
  /** Those with auto-merge. */
  readonly #waiting = new Map<number, { method: MergeMethod; by: string }>();
  readonly queue: MergeQueue;
  readonly protections = new Map<string, Protection>();
  readonly #upstream: Upstream;
  readonly #repository: string;
  readonly #checks: Checks;
  readonly #accounts: Accounts;

  constructor(upstream: Upstream, repository: string, checks: Checks, accounts: Accounts) {
    this.#upstream = upstream;
    this.#repository = repository;
    this.#checks = checks;
    this.queue = new MergeQueue(repository, checks);
    this.#accounts = accounts;
  }

  async answer(asked: Asked, inside: string, mayPush: boolean): Promise<Answer | null> {
    const { method } = asked;
    const branch = /^\/(rules\/)?branches\/([^/]+)$/.exec(inside);
    if (branch && method === 'GET') return this.#branch(decodeURIComponent(branch[2]!), Boolean(branch[1]));
    const merge = /^\/pulls\/(\d+)\/merge$/.exec(inside);
    if (merge && method === 'PUT') return mayPush ? this.#mergeAsked(asked, Number(merge[1])) : notFound();
    if (inside === '/pulls' && method === 'POST') {
      const refused = await this.#refusal(JSON.parse(asked.body || '{}'));
      if (refused) return refused;
    }
    if (!/^\/pulls(\/\d+)?$/.test(inside)) return null;
    const upstream = await this.#upstream.pass(asked);
    if (upstream.status >= 300) return upstream;
    const body = Array.isArray(upstream.body)
      ? await Promise.all(upstream.body.map((pull) => this.#true(pull as Pull)))
      : await this.#true(upstream.body as Pull);
    return { ...upstream, body };
  }

  /** After a push, a check or a review: what waits for it is merged, or leaves the queue. */
  async settle(): Promise<void> {
    for (const [number, { method, by }] of [...this.#waiting]) {
      const pull = await this.find(number);
      if (pull?.state !== 'open') this.#waiting.delete(number);
      else if (pull.mergeable_state === 'clean') {
        await this.#merge(pull, { method, message: `${pull.title} (#${number})`, by });
        this.#waiting.delete(number);
      }
    }
    const required = (base: string) => this.protections.get(base)?.contexts ?? [];
    for (const { number, commit, by } of await this.queue.settle(required)) {
      const pull = (await this.find(number))!;
      await this.#closeAs(pull, commit, by);
    }
  }

  async enableAutoMerge(number: number, method: MergeMethod, by: string): Promise<string | null> {
    const pull = await this.find(number);
    if (pull?.state !== 'open') return 'Pull request is not open';
    if (pull.mergeable_state === 'clean') return 'Pull request is in clean status';
    this.#waiting.set(number, { method, by });
    return null;
  }

  disableAutoMerge(number: number): string | null {
    return this.#waiting.delete(number) ? null : 'Can not disable auto-merge for this pull request';
  }

  /** The method is a setting of the queue. What is required must have passed on the pull request before. */
  async enqueue(number: number, by: string): Promise<string | null> {
    const pull = await this.find(number);
    if (pull?.state !== 'open') return 'Pull request is not open';
    if (!this.protections.get(pull.base.ref)?.queue) return `${pull.base.ref} has no merge queue`;
    if (this.queue.has(number)) return 'Pull request is already in the queue';
    if (pull.mergeable_state === 'dirty') return 'Pull request has merge conflicts';
    if (pull.mergeable_state === 'blocked') return 'Required status check is expected.';
    const { head, base, title } = pull;
    const message = `${title} (#${number})`;
    await this.queue.add(number, { head: head.sha, base: base.ref, method: 'squash', message, by });
    return null;
  }

  /** By a person or by a request. */
  async dequeue(number: number): Promise<string | null> {
    if (!this.queue.has(number)) return 'Pull request is not in the queue';
    await this.queue.remove(number, 'MANUAL');
    return null;
  }

  isWaiting(number: number): 'queue' | 'auto' | null {
    if (this.queue.has(number)) return 'queue';
    return this.#waiting.has(number) ? 'auto' : null;
  }

  async find(number: number): Promise<Pull | null> {
    const { status, body } = await this.#upstream.ask('GET', `/pulls/${number}`);
    return status === 200 ? this.#true(body as Pull) : null;
  }

  async all(): Promise<Pull[]> {
    const { body } = await this.#upstream.ask('GET', '/pulls?state=all&per_page=100');
    return Promise.all((body as Pull[]).map((pull) => this.#true(pull)));
  }

  /** A person presses the button: no check is asked. */
  async mergeByHand(number: number, method: MergeMethod, by: string): Promise<void> {
    const pull = (await this.find(number))!;
    if (!(await this.#merge(pull, { method, message: `${pull.title} (#${number})`, by })))
      throw new Error(`pull request ${number} conflicts`);
  }

  async #refusal(body: { head?: string; base?: string }): Promise<Answer | null> {
    const invalid = (message: string, field = 'head') =>
      answer(422, {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', code: 'custom', field, message }],
      });
    const head = (body.head ?? '').split(':').at(-1)!;
    const [tip, base] = await Promise.all([tipOf(this.#repository, head), tipOf(this.#repository, body.base ?? '')]);
    if (!tip) return invalid('head is invalid');
    if (!base) return invalid('base is invalid', 'base');
    const open = (await this.all()).some(
      (pull) => pull.state === 'open' && pull.head.ref === head && pull.base.ref === body.base,
    );
    if (open) return invalid(`A pull request already exists for ${this.#upstream.owner}:${head}.`);
    const ahead = await git(this.#repository, 'rev-list', '--count', `${base}..${tip}`);
    return ahead === '0' ? invalid(`No commits between ${body.base} and ${head}`) : null;
  }

  /** The pull request as it is in the repository now. */
  async #true(pull: Pull): Promise<Pull> {
    const { number } = pull;
    const merged = this.#merges.get(number);
    const base = (await tipOf(this.#repository, pull.base.ref)) ?? pull.base.sha;
    const live = pull.state === 'open' ? await tipOf(this.#repository, pull.head.ref) : null;
    if (live) this.#heads.set(number, live);
    const head = live ?? this.#heads.get(number) ?? pull.head.sha;
    const mergeable = pull.state === 'open' && live ? (await mergedTree(this.#repository, base, head)) !== null : null;
    const waits = this.#waiting.get(number);
    return {
      ...pull,
      head: { ...pull.head, sha: head },
      base: { ...pull.base, sha: base },
      merged: Boolean(merged),
      merged_at: merged?.at ?? null,
      merged_by: merged ? { login: merged.by } : null,
      merge_commit_sha: merged?.commit ?? null,
      mergeable,
      mergeable_state: await this.#state(pull, head, mergeable),
      auto_merge: waits ? { merge_method: waits.method, enabled_by: { login: waits.by } } : null,
    };
  }

  async #state(pull: Pull, head: string, mergeable: boolean | null): Promise<string> {
    if (mergeable === null) return 'unknown';
    if (!mergeable) return 'dirty';
    if (pull.draft) return 'draft';
    const { contexts = [], approvals = 0 } = this.protections.get(pull.base.ref) ?? {};
    const results = this.#checks.of(head);
    const isGreen = (name: string) => results.some((one) => one.name === name && one.state === 'success');
    if (!contexts.every(isGreen)) return 'blocked';
    if (approvals > 0 && (await this.#approvals(pull.number)) < approvals) return 'blocked';
    return results.every(({ state }) => state === 'success') ? 'clean' : 'unstable';
  }

  async #approvals(number: number): Promise<number> {
    const { body } = await this.#upstream.ask('GET', `/pulls/${number}/reviews`);
    const last = new Map(
      (body as { state: string; user: { login: string } }[]).map(({ user, state }) => [user.login, state]),
    );
    return [...last.values()].filter((state) => state === 'APPROVED').length;
  }

  async #mergeAsked(asked: Asked, number: number): Promise<Answer> {
    const pull = await this.find(number);
    if (!pull) return notFound();
    const { sha, merge_method = 'merge', commit_title, commit_message } = JSON.parse(asked.body || '{}');
    const refuse = (message: string) => answer(405, { message });
    if (pull.state !== 'open') return refuse('Pull Request is not mergeable');
    if (this.protections.get(pull.base.ref)?.queue) return refuse('Changes must be made through the merge queue');
    if (typeof sha === 'string' && sha !== pull.head.sha)
      return answer(409, { message: 'Head branch was modified. Review and try the merge again.' });
    if (pull.mergeable_state === 'dirty') return refuse('Pull Request has merge conflicts');
    if (pull.mergeable_state === 'blocked') return refuse('Required status check is expected.');
    const title = commit_title ?? `${pull.title} (#${number})`;
    const message = commit_message ? `${title}\n\n${commit_message}` : title;
    const account = this.#accounts.of(asked.token);
    const commit = await this.#merge(pull, { method: merge_method, message, by: account?.login ?? '' });
    return commit === null
      ? refuse('Pull Request is not mergeable')
      : answer(200, { sha: commit, merged: true, message: 'Pull Request successfully merged' });
  }

  async #merge(pull: Pull, how: { method: MergeMethod; message: string; by: string }): Promise<string | null> {
    const base = { branch: pull.base.ref, commit: pull.base.sha };
    const commit = await mergeInto(this.#repository, base, pull.head.sha, how);
    if (commit === null) return null;
    await this.#closeAs(pull, commit, how.by);
    return commit;
  }

  async #closeAs(pull: Pull, commit: string, by: string): Promise<void> {
    this.#merges.set(pull.number, { commit, at: new Date().toISOString(), by });
    await this.#upstream.ask('PATCH', `/pulls/${pull.number}`, { state: 'closed' });
    for (const [, issue] of (pull.body ?? '').matchAll(CLOSES))
      await this.#upstream.ask('PATCH', `/issues/${issue}`, { state: 'closed', state_reason: 'completed' });
  }

  async #branch(name: string, asRules: boolean): Promise<Answer> {
    const tip = await tipOf(this.#repository, name);
    const { contexts = [], approvals, queue, asRules: isRuleset = false } = this.protections.get(name) ?? {};
    const checks = contexts.map((context) => ({ context }));
    if (asRules)
      return answer(200, [
        ...(isRuleset && contexts.length
          ? [{ type: 'required_status_checks', parameters: { required_status_checks: checks } }]
          : []),
        ...(approvals ? [{ type: 'pull_request', parameters: { required_approving_review_count: approvals } }] : []),
        ...(queue ? [{ type: 'merge_queue', parameters: { merge_method: 'SQUASH' } }] : []),
      ]);
    if (!tip) return answer(404, { message: 'Branch not found' });
    const isProtected = contexts.length > 0 && !isRuleset;
    return answer(200, {
      name,
      commit: { sha: tip },
      protected: isProtected,
      protection: {
        enabled: isProtected,
        required_status_checks: {
          enforcement_level: isProtected ? 'non_admins' : 'off',
          contexts: isProtected ? contexts : [],
          checks: [],
        },
      },
    });
  }
}
