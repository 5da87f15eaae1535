import type { Checks } from './checks.ts';
import { git, type MergeMethod, mergeCommit, tipOf } from './git-backend.ts';

interface Queued {
  head: string;
  base: string;
  method: MergeMethod;
  message: string;
  by: string;
}

/** What the queue builds of a pull request and its target, for workflows of `merge_group` to check. */
interface Group {
  commit: string;
  /** The target's commit that it is built on. */
  on: string;
}

interface Removal {
  id: string;
  reason: string;
  commit: string | null;
  at: string;
}

/**
 * GitHub's merge queue: each entry is merged with the newest target into a commit of its own, on a branch
 * `gh-readonly-queue/…`. The required checks must pass on that commit; what passed on the pull request does not count.
 */
export class MergeQueue {
  readonly #repository: string;
  readonly #checks: Checks;
  readonly #entries = new Map<number, Queued & { group: Group | null }>();
  readonly #removals = new Map<number, Removal[]>();

  constructor(repository: string, checks: Checks) {
    this.#repository = repository;
    this.#checks = checks;
  }

  has = (number: number): boolean => this.#entries.has(number);

  /** The commit that workflows see now. */
  groupOf = (number: number): string | null => this.#entries.get(number)?.group?.commit ?? null;

  removalsOf = (number: number): Removal[] => this.#removals.get(number) ?? [];

  async add(number: number, entry: Queued): Promise<void> {
    this.#entries.set(number, { ...entry, group: null });
    await this.#build(number);
  }

  async remove(number: number, reason: string): Promise<void> {
    const commit = this.groupOf(number);
    this.#entries.delete(number);
    await git(this.#repository, 'update-ref', '-d', this.#refOf(number));
    const before = this.removalsOf(number);
    const id = `RFMQE_${number}_${before.length}`;
    this.#removals.set(number, [...before, { id, reason, commit, at: new Date().toISOString() }]);
  }

  /** Returns what is merged now: the target is moved to it. */
  async settle(required: (base: string) => string[]): Promise<{ number: number; commit: string; by: string }[]> {
    const merged: { number: number; commit: string; by: string }[] = [];
    for (const [number, { base, by }] of [...this.#entries]) {
      await this.#build(number);
      const group = this.#entries.get(number)?.group;
      if (!group) continue;
      const results = this.#checks.of(group.commit).filter(({ name }) => required(base).includes(name));
      if (results.some(({ state }) => state === 'failure')) await this.remove(number, 'FAILED_CHECKS');
      else if (required(base).every((name) => results.some((one) => one.name === name && one.state === 'success'))) {
        await git(this.#repository, 'update-ref', `refs/heads/${base}`, group.commit, group.on);
        this.#entries.delete(number);
        await git(this.#repository, 'update-ref', '-d', this.#refOf(number));
        merged.push({ number, commit: group.commit, by });
      }
    }
    return merged;
  }

  /** Built again when the target has moved. */
  async #build(number: number): Promise<void> {
    const entry = this.#entries.get(number)!;
    const on = (await tipOf(this.#repository, entry.base))!;
    if (entry.group?.on === on) return;
    const commit = await mergeCommit(this.#repository, on, entry.head, entry);
    if (commit === null) return this.remove(number, 'MERGE_CONFLICT');
    entry.group = { commit, on };
    await git(this.#repository, 'update-ref', this.#refOf(number), commit);
  }

  #refOf = (number: number): string => `refs/heads/gh-readonly-queue/pr-${number}`;
}
