import type { PullRequestConfig } from '@tidemill/contract';
import type {
  BranchChecks,
  CheckResult,
  Clock,
  Forge,
  GateResult,
  PullComment,
  PullMerge,
  PullRequest,
  QueuePlace,
} from '../../packages/daemon/src/ports.ts';
import { GithubError } from '../../packages/daemon/src/trackers/github/client/github-error.ts';
import { isSound } from './files.ts';
import type { PullInvariants } from './pull-invariants.ts';
import type { Random } from './random.ts';
import type { SimRepository } from './repository.ts';

const MINUTE = 60_000;

/** How the project of a story is set up at the forge. */
export interface ForgeSetup {
  settings: PullRequestConfig;
  required: string[];
  hasQueue: boolean;
  /** A pull request needs an approving review. */
  needsReview: boolean;
}

export type Merger = 'us' | 'forge' | 'queue' | 'person';

export interface SimPull {
  number: number;
  branch: string;
  title: string;
  body: string;
  state: PullRequest['state'];
  /** Its newest commit when it was closed or merged. */
  lastHead: string;
  mergeCommit: string | null;
  closedAt: string | null;
  comments: PullComment[];
  isApproved: boolean;
  /** The forge merges it by itself. */
  queued: { by: 'forge' | 'queue'; title: string; message: string; since: number } | null;
  removal: QueuePlace['removal'];
  openedAt: number;
}

interface PlannedCheck {
  name: string;
  startsAt: number;
  endsAt: number;
  state: 'passed' | 'failed';
}

/** A forge in memory, without faults of its own. People and the passing of time change it too. */
export class SimForge implements Forge {
  readonly pulls: SimPull[] = [];
  readonly setup: ForgeSetup;
  readonly repo: SimRepository;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #invariants: PullInvariants;
  readonly #planned = new Map<string, PlannedCheck[]>();
  readonly #reported = new Map<string, GateResult[]>();
  #comments = 0;
  #removals = 0;

  constructor(parts: {
    setup: ForgeSetup;
    repository: SimRepository;
    clock: Clock;
    random: Random;
    invariants: PullInvariants;
  }) {
    this.setup = parts.setup;
    this.repo = parts.repository;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#invariants = parts.invariants;
    this.#invariants.headOf = (number) => this.headOf(this.at(number));
    // The target is at the remote from the start.
    this.repo.remote.tip = this.repo.target;
    this.repo.remote.onBranch = (commit) => this.pushed(commit);
    this.repo.landsByPull = true;
  }

  async repository(): Promise<string> {
    return 'tide/mill';
  }

  async pullOf(branch: string): Promise<PullRequest | null> {
    const own = this.pulls.filter((pull) => pull.branch === branch);
    const found = own.find(({ state }) => state === 'open') ?? own.at(-1);
    return found ? this.shown(found) : null;
  }

  async pull(number: number): Promise<PullRequest> {
    return this.shown(this.at(number));
  }

  async open(about: Parameters<Forge['open']>[0]): Promise<PullRequest> {
    const there = this.pulls.find(({ branch, state }) => branch === about.branch && state === 'open');
    if (there) return this.shown(there);
    const head = this.repo.remote.branches.get(about.branch);
    const { tip } = this.repo.remote;
    if (head === undefined || tip === null || this.repo.isAncestor(head, tip))
      throw new GithubError('unprocessable', `no commits between main and ${about.branch}`);
    const pull: SimPull = {
      ...{ number: this.pulls.length + 1, branch: about.branch, title: about.title, body: about.body },
      ...{ state: 'open' as const, lastHead: head, mergeCommit: null, closedAt: null, comments: [] },
      ...{ isApproved: false, queued: null, removal: null, openedAt: this.#clock.now() },
    };
    this.#invariants.opened(pull, this.pulls);
    this.pulls.push(pull);
    return this.shown(pull);
  }

  async edit(number: number, change: Parameters<Forge['edit']>[1]): Promise<void> {
    const pull = this.at(number);
    if (change.state === 'open') this.#reopenByUs(pull);
    if (change.body !== undefined) this.#invariants.edited(pull, change.body, this.headOf(pull));
    pull.title = change.title ?? pull.title;
    pull.body = change.body ?? pull.body;
  }

  async comments(number: number): Promise<PullComment[]> {
    const { comments } = this.at(number);
    this.#invariants.showed(number, comments);
    return structuredClone(comments);
  }

  async checks(commit: string): Promise<BranchChecks> {
    const { required, hasQueue } = this.setup;
    const answer = { required, hasQueue, results: this.results(commit) };
    this.#invariants.checked(commit, answer);
    return answer;
  }

  async report(commit: string, results: GateResult[]): Promise<void> {
    this.#reported.set(commit, results);
  }

  async merge(
    { number }: PullRequest,
    { commit, by, title, message }: Parameters<Forge['merge']>[1],
  ): Promise<PullMerge> {
    const pull = this.at(number);
    if (pull.state === 'merged') return { kind: 'merged', commit: pull.mergeCommit! };
    if (pull.state === 'closed') return { kind: 'refused', why: 'it is closed' };
    if (this.headOf(pull) !== commit) return { kind: 'moved', why: 'its head is another commit' };
    this.#invariants.wanted(pull, commit, by);
    const obstacle = this.obstacleOf(pull);
    if (by === 'queue' || (by === 'forge' && obstacle !== null)) {
      if (by === 'queue' && obstacle !== null) return { kind: 'refused', why: obstacle };
      pull.queued ??= { by, title, message, since: this.#clock.now() };
      return { kind: 'queued' };
    }
    if (obstacle !== null) return { kind: 'refused', why: obstacle };
    const merged = this.land(pull, by, `${title}\n\n${message}`);
    return merged === null
      ? { kind: 'refused', why: 'it conflicts with its target' }
      : { kind: 'merged', commit: merged };
  }

  async queue(number: number): Promise<QueuePlace> {
    const { queued, removal } = this.at(number);
    return { isQueued: queued?.by === 'queue', removal };
  }

  async unqueue(number: number): Promise<void> {
    this.throwOut(this.at(number), 'MANUAL');
  }

  async glance(number: number): Promise<string> {
    const pull = this.at(number);
    return JSON.stringify([this.shown(pull), pull.comments, this.results(this.headOf(pull))]);
  }

  at(number: number): SimPull {
    return this.pulls[number - 1]!;
  }
  headOf(pull: SimPull): string {
    return pull.state === 'open' ? (this.repo.remote.branches.get(pull.branch) ?? pull.lastHead) : pull.lastHead;
  }
  /** Somebody said something on a pull request. Each wish has a number of its own. */
  say(pull: SimPull, what: Pick<PullComment, 'kind' | 'isTrusted' | 'isApproval'>, text: string): void {
    this.#comments += 1;
    const author = what.isTrusted ? 'ada' : 'mallory';
    const place = what.kind === 'line' ? 'src/a.ts:12' : null;
    const said = text === 'wish' ? `wish-${this.#comments}.` : text;
    pull.comments.push({ ...what, id: this.#comments, author, place, text: said });
  }

  /** The forge no longer merges it by itself. */
  throwOut(pull: SimPull, reason: string): void {
    this.#removals += 1;
    if (pull.queued?.by === 'queue') pull.removal = { id: `removal-${this.#removals}`, reason, commit: null };
    pull.queued = null;
  }

  /** Moves the target at the forge. Null: it conflicts. */
  land(pull: SimPull, by: Merger, message: string): string | null {
    const { history, remote } = this.repo;
    const head = this.headOf(pull);
    const onto = remote.tip!;
    const { files, conflicts } = history.merged(onto, head);
    if (conflicts.length > 0) return null;
    const parents = this.setup.settings.method === 'merge' ? [onto, head] : [onto];
    const { id } = history.add(files, parents, message);
    this.#invariants.merged({ pull, by, head, files });
    remote.tip = id;
    Object.assign(pull, { state: 'merged', lastHead: head, mergeCommit: id, queued: null });
    return id;
  }

  /** What keeps the forge from merging it. */
  obstacleOf(pull: SimPull): string | null {
    const results = this.results(this.headOf(pull));
    const isPassed = (name: string) => results.some((one) => one.name === name && one.state === 'passed');
    if (!this.setup.required.every(isPassed)) return 'a required check is missing';
    if (this.setup.needsReview && !pull.isApproved) return 'a required review is missing';
    return null;
  }

  /** A commit was pushed to a branch: its checks pass, fail, come late, or never come. */
  pushed(commit: string): void {
    if (this.#planned.has(commit)) return;
    const x = this.#random.next();
    this.#planned.set(commit, x < 0.2 ? [] : this.#plan(commit, x < 0.35 ? 40 * MINUTE : MINUTE));
  }
  /** Somebody starts missing checks by hand. */
  startChecks(commit: string): void {
    const there = this.#planned.get(commit) ?? [];
    if (this.setup.required.some((name) => !there.some((one) => one.name === name && one.state === 'passed')))
      this.#planned.set(commit, this.#plan(commit, 0, true));
  }

  results(commit: string): CheckResult[] {
    const now = this.#clock.now();
    const started = (this.#planned.get(commit) ?? []).filter(({ startsAt }) => startsAt <= now);
    const outside = started.map(({ name, endsAt, state }) => ({
      ...{ name, summary: state === 'failed' ? 'it is red' : '', url: null },
      state: endsAt <= now ? state : ('pending' as const),
    }));
    const own = (this.#reported.get(commit) ?? []).map(({ gate, state, text }) => ({
      ...{ name: `tidemill/${gate}`, state, summary: text, url: null },
    }));
    return [...outside, ...own];
  }

  #plan(commit: string, delayMs: number, isCalm = false): PlannedCheck[] {
    const startsAt = this.#clock.now() + delayMs;
    const isFine = isSound(this.repo.history.files(commit));
    const names = [...new Set([...this.setup.required, ...(this.#random.chance(0.5) ? ['lint'] : ['build'])])];
    return names.map((name) => ({
      ...{ name, startsAt, endsAt: startsAt + this.#random.int(12 * MINUTE) },
      state: isFine && (isCalm || this.#random.chance(0.93)) ? ('passed' as const) : ('failed' as const),
    }));
  }

  #reopenByUs(pull: SimPull): void {
    if (pull.state === 'merged') throw new GithubError('unprocessable', 'a merged pull request cannot be opened');
    if (pull.state === 'closed') this.#invariants.reopened(pull);
    Object.assign(pull, { state: 'open', closedAt: null });
  }

  shown(pull: SimPull): PullRequest {
    const { number, branch, state, mergeCommit, closedAt, title, body } = pull;
    return {
      ...{ number, branch, state, mergeCommit, closedAt, title, body },
      ...{ url: `https://forge/${number}`, head: this.headOf(pull) },
      obstacle: state === 'open' ? this.obstacleOf(pull) : null,
    };
  }
}
