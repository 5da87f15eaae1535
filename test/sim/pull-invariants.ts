import type { LoggedEvent, PullRequestConfig, Task } from '@tidemill/contract';
import type { BranchChecks, PullComment } from '../../packages/daemon/src/ports.ts';
import { type Files, treeOf } from './files.ts';
import type { ForgeSetup, Merger, SimForge, SimPull } from './forge.ts';
import type { SimRepository } from './repository.ts';

const WISH = /wish-\d+\./g;
/** A note about missing checks comes and goes once. More is a quarrel with itself. */
const MOST_REPEATED_TEXTS = 2;

interface Parts {
  repository: SimRepository;
  setup: ForgeSetup;
  now(): number;
  break(invariant: string, detail: string): void;
  /** Gates passed on exactly this tree, and that is on record. */
  isProven(tree: string): boolean;
  /** A merge that no person did changes the target. */
  keeps(taskId: string, before: Files, after: Files): void;
}

/** Named invariants about pull requests, from what the forge sees and from the log. */
export class PullInvariants {
  readonly #parts: Parts;
  readonly #settings: PullRequestConfig;
  readonly #shown = new Map<number, Set<string>>();
  readonly #checks = new Map<string, BranchChecks>();
  readonly #approved = new Set<string>();
  readonly #offered = new Map<string, number>();
  /** Wishes that were given to a task, and those that an agent was told. */
  readonly #given = new Map<string, string>();
  readonly #told = new Set<string>();
  /** Commits that people commented on, so that the forge must not merge them by itself. */
  readonly #objected = new Set<string>();
  readonly #texts = new Map<string, string[]>();
  readonly #cancelled = new Set<string>();
  /** Commits that people pushed to branches of tasks. */
  readonly foreign = new Set<string>();

  /** The newest commit of a pull request. */
  headOf: (number: number) => string = () => '';

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#settings = parts.setup.settings;
  }

  opened(pull: SimPull, all: readonly SimPull[]): void {
    const own = all.filter((other) => taskOf(other) === taskOf(pull));
    const rival = own.find(({ state }) => state === 'open');
    if (rival) this.#parts.break('one open pull request per task', `#${pull.number} besides #${rival.number}`);
    if (own.at(-1)?.state === 'closed')
      this.#parts.break('a closed pull request is not replaced', `#${pull.number} for #${own.at(-1)!.number}`);
  }

  edited({ number, body }: SimPull, text: string, head: string): void {
    if (body === text) this.#parts.break('nothing is written twice', `the text of pull request #${number}`);
    const texts = this.#texts.get(`${number} ${head}`) ?? [];
    this.#texts.set(`${number} ${head}`, [...texts, text]);
    if (texts.filter((each) => each === text).length >= MOST_REPEATED_TEXTS)
      this.#parts.break('a text is not changed back and forth', `pull request #${number} at ${head}`);
  }

  reopened({ number, closedAt, ...pull }: SimPull): void {
    if (!this.#approved.has(`${taskOf(pull)} closed:${number}:${closedAt}`))
      this.#parts.break('only a person opens a closed pull request again', `#${number}`);
  }

  showed(number: number, comments: readonly PullComment[]): void {
    const wishes = comments.filter(isWish).map(({ text }) => text);
    this.#shown.set(number, new Set([...(this.#shown.get(number) ?? []), ...wishes]));
  }

  checked(commit: string, answer: BranchChecks): void {
    this.#checks.set(commit, answer);
  }

  /** Tidemill wants this commit to be merged. */
  wanted(pull: SimPull, commit: string, by: Exclude<Merger, 'person'>): void {
    const about = `#${pull.number} at ${commit} by ${by}`;
    const unheard = [...(this.#shown.get(pull.number) ?? [])].find((wish) => !this.#given.has(wish));
    if (unheard) this.#parts.break('nothing is merged past a comment', `${about}: ${unheard}`);
    const answer = this.#checks.get(commit);
    if (!answer) {
      this.#parts.break('checks are looked at before a merge', about);
      return;
    }
    const { required, results } = answer;
    const wanted = [...required, ...this.#settings.checks];
    const counted = results.filter(({ name }) =>
      wanted.length > 0 ? wanted.includes(name) : !name.startsWith('tidemill/'),
    );
    const open = wanted.filter((name) => !counted.some((one) => one.name === name && one.state === 'passed'));
    if (counted.some(({ state }) => state === 'failed')) this.#parts.break('no merge with a failed check', about);
    const isPending = counted.some(({ state }) => state === 'pending') || open.length > 0;
    if (isPending && (by === 'us' || !open.every((name) => required.includes(name))))
      this.#parts.break('no merge before the checks', about);
    if (counted.length === 0 && !isPending) this.#withoutChecks(pull, commit, about);
  }

  #withoutChecks(pull: SimPull, commit: string, about: string): void {
    const isAllowed = this.#approved.has(`${taskOf(pull)} no_checks:${pull.number}`);
    const waitedMs = this.#parts.now() - (this.#offered.get(commit) ?? Number.POSITIVE_INFINITY);
    const isSet = this.#settings.noChecks === 'continue' && waitedMs >= this.#settings.noChecksAfter;
    if (!isAllowed && !isSet) this.#parts.break('no checks are not a pass', about);
  }

  /** The target of the forge gets these files. */
  merged({ pull, by, head, files }: { pull: SimPull; by: Merger; head: string; files: Files }): void {
    if (by === 'person') return;
    const { history, remote } = this.#parts.repository;
    const about = `#${pull.number} by ${by}`;
    // With auto-merge, GitHub merges what people push to the branch themselves.
    if (by !== 'us' && this.foreign.has(head)) return;
    this.#parts.keeps(taskOf(pull), history.files(remote.tip!), files);
    if (!this.#parts.isProven(treeOf(history.files(head))))
      this.#parts.break('nothing is merged that the gates did not prove', `${about}: ${head}`);
    if (by !== 'us' && this.#objected.has(head))
      this.#parts.break('what people object to is not merged', `${about}: ${head}`);
    if (by !== 'us') return;
    // Others may push between the last look and the merge. That is the forge's own race.
    const known = remote.fetched;
    const expected = known === null || known === remote.tip ? files : history.merged(known, head).files;
    if (!this.#parts.isProven(treeOf(expected)))
      this.#parts.break('nothing is merged that the gates did not prove', `${about}: with the target of its last look`);
  }

  /** An agent was started with this feedback. */
  briefed(texts: readonly string[]): void {
    for (const wish of texts.flatMap((text) => text.match(WISH) ?? [])) this.#told.add(wish);
  }

  committed({ body, at }: LoggedEvent): void {
    switch (body.type) {
      case 'task.matter_approved':
        if (body.pull && body.by.kind === 'person') this.#approved.add(`${body.taskId} ${body.pull}`);
        return;
      case 'task.moved':
        if (body.to === 'cancelled') this.#cancelled.add(body.taskId);
        return;
      case 'merge.commented':
        this.#objected.add(this.headOf(body.number));
        return;
      case 'task.feedback_given':
        for (const wish of body.feedback.flatMap(({ text }) => text.match(WISH) ?? [])) this.#give(wish, body.taskId);
        return;
      case 'merge.offered': {
        this.#offered.set(body.commit, at);
        const untold = [...this.#given].find(([wish, taskId]) => taskId === body.taskId && !this.#told.has(wish));
        if (untold) this.#parts.break('a comment reaches the agent', `${untold[0]} of ${body.taskId}`);
        return;
      }
      case 'merge.landed': {
        const { repository } = this.#parts;
        if (!repository.isAncestor(body.commit, repository.target))
          this.#parts.break('done means on the target', `${body.taskId}: ${body.commit}`);
        if (!repository.isAncestor(body.commit, repository.remote.tip!))
          this.#parts.break('done means merged at the forge', `${body.taskId}: ${body.commit}`);
        return;
      }
      default:
        return;
    }
  }

  #give(wish: string, taskId: string): void {
    if (this.#given.has(wish)) this.#parts.break('a comment is passed on once', `${wish} to ${taskId}`);
    this.#given.set(wish, taskId);
  }

  atEnd(tasks: readonly Task[], { pulls }: SimForge): void {
    for (const task of tasks) {
      const own = pulls.filter((pull) => taskOf(pull) === task.id);
      const newest = own.at(-1);
      const about = `#${task.number} (${task.stage}) with pull request #${newest?.number} (${newest?.state})`;
      if (task.stage === 'done' && !own.some(({ mergeCommit }) => mergeCommit === task.landedCommit))
        this.#parts.break('done means merged at the forge', about);
      if (task.waiting !== null) this.#parts.break('every task ends', `${about} waits: ${task.waiting}`);
      const isOver = task.stage === 'done' || task.stage === 'cancelled';
      const unheard = newest?.comments.find((comment) => isWish(comment) && !this.#given.has(comment.text));
      if (!isOver && newest?.state === 'open' && task.role === 'merger' && unheard)
        this.#parts.break('a comment reaches the agent', `${about}: ${unheard.text}`);
    }
  }
}

/** The task that the hidden marker of a pull request names. */
const taskOf = ({ body }: Pick<SimPull, 'body'>): string => /<!-- tidemill:(\S+) -->/.exec(body)?.[1] ?? 'nobody';

const isWish = ({ isTrusted, isApproval, text }: PullComment) => isTrusted && !isApproval && text.startsWith('wish-');
