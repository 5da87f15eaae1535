import type { Joined, Pushed, RemoteState, RemoteTarget } from '../../packages/daemon/src/ports.ts';
import type { Random } from './random.ts';

/** What the remote needs of the repository. */
interface Commits {
  readonly target: string;
  isAncestor(commit: string, of: string): boolean;
  /** A commit of both, or the files in which they conflict. */
  join(local: string, remote: string): Joined;
}

const NAME = 'origin/main';

/** A shared remote: other people push to it, it is down at times, and sometimes somebody pushes by force. */
export class SimRemote {
  /** Null before the first push. */
  tip: string | null = null;
  isDown = false;
  /** Branches of tasks, as the remote has them. */
  readonly branches = new Map<string, string>();
  /** The newest commit that Tidemill pushed to each. */
  readonly ours = new Map<string, string>();
  onBranch: (commit: string) => void = () => undefined;
  readonly #commits: Commits;
  readonly #random: Random;
  #accepted: string | null = null;
  #fetched: string | null = null;

  constructor(commits: Commits, random: Random) {
    this.#commits = commits;
    this.#random = random;
  }

  fetch(): RemoteState {
    if (this.isDown) return this.#unreachable();
    const commit = this.tip;
    if (commit === null) return { kind: 'new', name: NAME };
    // A person has merged the history that was pushed by force.
    if (this.#fetched !== null && this.#isIn(this.#fetched, this.#commits.target) && !this.#isRemoved(this.#fetched))
      this.#accepted = this.#fetched;
    this.#fetched = commit;
    const kind = this.#compare(commit);
    if (kind !== 'rewritten') this.#accepted = commit;
    return { kind, name: NAME, commit, local: this.#commits.target };
  }

  has(commit: string): boolean {
    return this.#fetched !== null && this.#commits.isAncestor(commit, this.#fetched);
  }

  join({ commit }: RemoteTarget): Joined {
    return this.#commits.join(this.#commits.target, commit);
  }

  push(commit: string): Pushed {
    if (this.isDown || this.#random.chance(0.02)) return this.#unreachable();
    if (this.tip !== null && !this.#commits.isAncestor(this.tip, commit))
      return { kind: 'moved', name: NAME, why: 'fetch first' };
    this.tip = commit;
    this.#accepted = commit;
    this.#fetched = commit;
    return { kind: 'pushed', name: NAME };
  }

  /** Never by force. A push may arrive although its answer is lost. */
  pushBranch(branch: string, commit: string): Pushed {
    if (this.isDown || this.#random.chance(0.02)) return this.#unreachable();
    const there = this.branches.get(branch);
    if (there !== undefined && !this.#isIn(there, commit)) return { kind: 'moved', name: NAME, why: 'fetch first' };
    this.branches.set(branch, commit);
    this.ours.set(branch, commit);
    this.onBranch(commit);
    return this.#random.chance(0.02) ? this.#unreachable() : { kind: 'pushed', name: NAME };
  }

  /** The target as it was fetched last. */
  get fetched(): string | null {
    return this.#fetched;
  }

  #compare(commit: string): 'same' | 'ahead' | 'behind' | 'diverged' | 'rewritten' {
    const { target } = this.#commits;
    if (commit === target) return 'same';
    if (this.#isIn(commit, target)) {
      const isBack = this.#accepted !== null && this.#isRemoved(commit) && this.#isIn(this.#accepted, target);
      return isBack ? 'rewritten' : 'ahead';
    }
    if (this.#isIn(target, commit)) return 'behind';
    return this.#accepted !== null && !this.#isIn(this.#accepted, commit) ? 'rewritten' : 'diverged';
  }

  #isIn(commit: string, of: string): boolean {
    return this.#commits.isAncestor(commit, of);
  }
  /** Others have removed commits by force, and added none. */
  #isRemoved(tip: string): boolean {
    return this.#accepted !== null && tip !== this.#accepted && this.#isIn(tip, this.#accepted);
  }

  #unreachable(): { kind: 'unreachable'; name: string; why: string } {
    return { kind: 'unreachable', name: NAME, why: 'the network is down' };
  }
}
