import type {
  Candidate,
  Captured,
  Change,
  CleanCheckout,
  Clock,
  Landing,
  Snapshot,
  Workspace,
  Worktree,
  WorktreeRef,
} from '../../packages/daemon/src/ports.ts';
import type { Random } from './random.ts';

export type Files = ReadonlyMap<string, string>;

interface Commit {
  id: string;
  files: Files;
  parent: string | null;
  message: string;
}

interface Branch {
  tip: string;
  base: string;
  /** The target's commit being merged in, while a conflict is being resolved. */
  merging: string | null;
  work: Map<string, string>;
  exists: boolean;
}

/** Ids are made from contents, so two trees are equal exactly when their ids are. */
export function treeOf(files: Files): string {
  return [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => `${path}=${text}`)
    .join('|');
}

/** The gate's result for these files. Both words of a pair fail together, although each alone passes. */
export function isSound(files: Files): boolean {
  const text = [...files.values()].join(' ');
  return !text.includes('bug') && !text.includes('<<<') && !(text.includes('ebb') && text.includes('flood'));
}

/** A repository reduced to what the engine can observe: contents, commits, branches, a moving target. */
export class SimRepository implements Workspace {
  readonly commits = new Map<string, Commit>();
  readonly branches = new Map<string, Branch>();
  readonly landed: Commit[] = [];
  readonly lost: string[] = [];
  target: string;
  isDirty = false;
  onLand: (commit: Commit, tree: string) => void = () => undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  #serial = 0;

  readonly scratches = new Set<string>();

  async scratch(name: string) {
    this.scratches.add(name);
    return { path: `scratch/${name}`, remove: async () => void this.scratches.delete(name) };
  }

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.target = this.#commit(new Map([['readme', 'tide']]), null, 'first').id;
  }

  async open(ref: WorktreeRef): Promise<Worktree> {
    await this.#takeTime();
    const known = this.branches.get(ref.branch);
    if (known?.exists) return this.#worktree(ref, known);
    const tip = known?.tip ?? this.target;
    const branch = {
      tip,
      base: known?.base ?? tip,
      merging: null,
      work: new Map(this.commits.get(tip)!.files),
      exists: true,
    };
    this.branches.set(ref.branch, branch);
    return this.#worktree(ref, branch);
  }
  async capture(ref: WorktreeRef, message: string): Promise<Captured> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const tree = treeOf(branch.work);
    if (tree !== treeOf(this.commits.get(branch.tip)!.files) || branch.merging) {
      branch.tip = this.#commit(new Map(branch.work), branch.tip, message).id;
      branch.base = branch.merging ?? branch.base;
      branch.merging = null;
    }
    return {
      commit: branch.tip,
      tree,
      files: changed(this.commits.get(branch.base)!.files, branch.work),
      notes: [],
      refused: [],
    };
  }
  async restore(ref: WorktreeRef): Promise<string | null> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    branch.work = new Map(this.commits.get(branch.tip)!.files);
    return null;
  }
  async snapshot(): Promise<string | null> {
    await this.#takeTime();
    return null;
  }
  async provenCommits(): Promise<[]> {
    return [];
  }
  async outage(): Promise<null> {
    return null;
  }
  async diff(ref: WorktreeRef): Promise<Change> {
    return { files: [], sections: [treeOf((await this.#branch(ref)).work)], isCut: false };
  }
  async changeIn(ref: WorktreeRef, files: string[]): Promise<string> {
    const { work } = await this.#branch(ref);
    return JSON.stringify(files.map((file) => [file, work.get(file) ?? null]));
  }
  async changedFiles(ref: WorktreeRef, { trees }: Parameters<Workspace['changedFiles']>[1]) {
    const branch = await this.#branch(ref);
    const before = this.#files(trees?.base ?? branch.base);
    const own = this.#files(branch.tip);
    const after = trees ? merge(this.#files(branch.base), before, own).files : own;
    const fact = (text: string | undefined) => (text === undefined ? null : { oid: text, mode: '100644', text });
    const files = changed(before, after).map((path) => ({
      path,
      before: fact(before.get(path)),
      after: fact(after.get(path)),
    }));
    return { changed: files, before: new Map<string, string>() };
  }
  async candidate(ref: WorktreeRef): Promise<Candidate> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const base = this.target;
    const { files, conflicts } = merge(this.#files(branch.base), this.#files(base), this.#files(branch.tip));
    if (conflicts.length > 0) return { kind: 'conflict', base, files: conflicts };
    const tree = treeOf(files);
    if (tree === treeOf(this.#files(base))) return { kind: 'empty', base };
    return { kind: 'clean', tree, base, files: changed(this.#files(base), files) };
  }
  async seal(ref: WorktreeRef, candidate: { tree: string; base: string }, message: string): Promise<string> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const { files } = merge(this.#files(branch.base), this.#files(candidate.base), this.#files(branch.tip));
    return this.#commit(files, candidate.base, message).id;
  }
  async checkOut(commit: string): Promise<CleanCheckout> {
    await this.#takeTime();
    const tree = treeOf(this.#files(commit));
    const nothing = async () => undefined;
    return {
      name: commit,
      path: commit,
      commit,
      tree,
      changes: async () => [],
      ignored: async () => [],
      reset: nothing,
      writeTree: async () => tree,
      keep: () => undefined,
      close: nothing,
    };
  }
  async filesAt(): Promise<[string, string][]> {
    return [];
  }
  async ignoredInCheckout(): Promise<string[]> {
    return [];
  }
  async treeOf(commit: string): Promise<string> {
    return treeOf(this.#files(commit));
  }
  async targetCommit(): Promise<string> {
    return this.target;
  }
  async amend(ref: WorktreeRef, _tree: string, message: string): Promise<Captured> {
    return this.capture(ref, message);
  }
  async land(commit: string, base: string): Promise<Landing> {
    await this.#takeTime();
    if (this.isDirty) return { kind: 'waiting', why: 'the checkout has uncommitted changes' };
    if (this.target !== base) return { kind: 'moved' };
    const landing = this.commits.get(commit)!;
    this.onLand(landing, treeOf(landing.files));
    this.landed.push(landing);
    this.target = commit;
    return { kind: 'landed' };
  }
  async isLanded(commit: string): Promise<boolean> {
    return this.landed.some(({ id }) => id === commit);
  }
  async landingObstacle(): Promise<string | null> {
    return this.isDirty ? 'the checkout has uncommitted changes' : null;
  }
  async push(): Promise<{ kind: 'pushed' } | { kind: 'failed'; why: string }> {
    return this.#random.chance(0.05) ? { kind: 'failed', why: 'remote down' } : { kind: 'pushed' };
  }
  async mergeTarget(ref: WorktreeRef): Promise<{ files: string[] }> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    if (branch.merging) return { files: [] };
    const { files, conflicts } = merge(this.#files(branch.base), this.#files(this.target), branch.work);
    branch.work = new Map(files);
    branch.merging = this.target;
    return { files: conflicts };
  }
  async remove(ref: WorktreeRef): Promise<void> {
    this.branches.delete(ref.branch);
  }
  async leaks(alive: WorktreeRef[]): Promise<string[]> {
    const known = new Set(alive.map(({ branch }) => branch));
    return [...this.branches.keys()].filter((branch) => !known.has(branch));
  }
  async collectGarbage(alive: WorktreeRef[]): Promise<string[]> {
    const garbage = await this.leaks(alive);
    for (const branch of garbage) this.branches.delete(branch);
    return garbage;
  }
  async snapshots(): Promise<Snapshot[]> {
    return [];
  }

  /** A person's commit on the target, outside of Tidemill. */
  commitByPerson(path: string, text: string): void {
    const files = new Map(this.#files(this.target)).set(path, text);
    this.target = this.#commit(files, this.target, 'by a person').id;
  }
  /** What a folder shows: a task's worktree, or the clean checkout of a commit. */
  shown(path: string): Files {
    return this.work(path) ?? this.commits.get(path)?.files ?? new Map();
  }
  work(branch: string): Map<string, string> | undefined {
    const found = this.branches.get(branch);
    return found?.exists ? found.work : undefined;
  }

  #files(commit: string): Files {
    return this.commits.get(commit)!.files;
  }
  async #branch(ref: WorktreeRef): Promise<Branch> {
    const branch = this.branches.get(ref.branch);
    if (branch?.exists) return branch;
    await this.open(ref);
    return this.branches.get(ref.branch)!;
  }
  #worktree(ref: WorktreeRef, branch: Branch): Worktree {
    return { ...ref, path: ref.branch, base: branch.base, tip: branch.tip };
  }
  #commit(files: Files, parent: string | null, message: string): Commit {
    this.#serial += 1;
    const commit = { id: `c${this.#serial}`, files, parent, message };
    this.commits.set(commit.id, commit);
    return commit;
  }
  #takeTime(): Promise<void> {
    return this.#clock.sleep(this.#random.int(400));
  }
}

/** Three-way, file by file. */
function merge(base: Files, theirs: Files, ours: Files): { files: Files; conflicts: string[] } {
  const files = new Map(theirs);
  const conflicts: string[] = [];
  for (const [path, text] of ours) {
    if (text === base.get(path) || text === theirs.get(path)) continue;
    if (theirs.get(path) !== base.get(path)) {
      conflicts.push(path);
      files.set(path, `<<<${theirs.get(path)}===${text}>>>`);
    } else files.set(path, text);
  }
  return { files, conflicts };
}

function changed(from: Files, to: Files): string[] {
  return [...new Set([...from.keys(), ...to.keys()])].filter((path) => from.get(path) !== to.get(path));
}
