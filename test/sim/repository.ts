import type {
  Bench,
  Candidate,
  Captured,
  Change,
  CleanCheckout,
  Clock,
  Forecast,
  Joined,
  Landing,
  Pushed,
  RemoteState,
  RemoteTarget,
  Snapshot,
  Workspace,
  Worktree,
  WorktreeRef,
} from '../../packages/daemon/src/ports.ts';
import { linesOf, lossesOfMerge, type SimMerge } from './merge-losses.ts';
import type { Random } from './random.ts';
import { SimRemote } from './remote.ts';

export type Files = ReadonlyMap<string, string>;

interface Commit {
  id: string;
  files: Files;
  parents: string[];
  message: string;
}

interface Branch {
  tip: string;
  base: string;
  /** The target's commit being merged in, while a conflict is being resolved. */
  merging: string | null;
  work: Map<string, string>;
  exists: boolean;
  /** The merges of the target on it. The last one may still be in progress. */
  merges: SimMerge[];
}

/** Ids are made from contents, so two trees are equal exactly when their ids are. */
export function treeOf(files: Files): string {
  return [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => `${path}=${text}`)
    .join('|');
}

/** A conflict marker is left. */
export const isUnresolved = (files: Files): boolean => [...files.values()].some((text) => text.includes('<<<'));

/** The gate's result for these files. Both words of a pair fail together, although each alone passes. */
export function isSound(files: Files): boolean {
  const text = [...files.values()].join(' ');
  return !text.includes('bug') && !isUnresolved(files) && !(text.includes('ebb') && text.includes('flood'));
}

/** A repository reduced to what the engine can observe: contents, commits, branches, a moving target. */
export class SimRepository implements Workspace {
  readonly commits = new Map<string, Commit>();
  readonly branches = new Map<string, Branch>();
  readonly landed: Commit[] = [];
  readonly lost: string[] = [];
  target: string;
  isDirty = false;
  /** `tree`: the tree that was proven for it, which is that of the last commit of its batch. */
  onLand: (commit: Commit, tree: string, before: Files) => void = () => undefined;
  readonly remote: SimRemote;
  readonly #clock: Clock;
  readonly #random: Random;
  #serial = 0;

  readonly scratches = new Set<string>();

  async scratch(name: string) {
    this.scratches.add(name);
    return { path: `scratch/${name}`, remove: async () => void this.scratches.delete(name) };
  }

  /** Folders for work that never lands, by path. */
  readonly benches = new Map<string, Map<string, string>>();

  async bench(name: string, base: string): Promise<Bench> {
    await this.#takeTime();
    const path = `bench/${name}`;
    const work = new Map(this.#files(base));
    this.benches.set(path, work);
    return {
      path,
      base,
      capture: async (message) => {
        const { id } = this.#commit(new Map(work), [base], message);
        return { commit: id, tree: treeOf(work), files: changed(this.#files(base), work), refused: [] };
      },
      remove: async () => void this.benches.delete(path),
    };
  }
  async withFilesOf(commit: string, other: string, files: string[]) {
    const mixed = new Map(this.#files(commit));
    for (const path of files) mixed.set(path, this.#files(other).get(path) ?? '');
    return { commit: this.#commit(mixed, [commit], 'mixed').id, tree: treeOf(mixed) };
  }
  async commitOf(): Promise<never> {
    throw new Error('the gates of the simulator fix nothing');
  }
  async parentOf(commit: string): Promise<string | null> {
    return this.commits.get(commit)?.parents[0] ?? null;
  }

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.target = this.#commit(new Map([['readme', 'tide']]), [], 'first').id;
    this.remote = new SimRemote(this, random);
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
      merges: known?.merges ?? [],
    };
    this.branches.set(ref.branch, branch);
    return this.#worktree(ref, branch);
  }
  async capture(ref: WorktreeRef, message: string): Promise<Captured> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const tree = treeOf(branch.work);
    if (tree !== treeOf(this.commits.get(branch.tip)!.files) || branch.merging) {
      branch.tip = this.#commit(new Map(branch.work), [branch.tip], message).id;
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
  async commitsBetween(from: string | null, to: string): Promise<{ commit: string; at: number; subject: string }[]> {
    const reach = (start: string | null): Set<string> => {
      const found = new Set<string>();
      const todo = start === null ? [] : [start];
      for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
        if (found.has(id)) continue;
        found.add(id);
        todo.push(...(this.commits.get(id)?.parents ?? []));
      }
      return found;
    };
    const old = reach(from);
    const own = [...reach(to)].filter((id) => !old.has(id));
    return own.map((commit) => ({ commit, at: 0, subject: this.commits.get(commit)?.message ?? '' }));
  }
  async tagBefore(): Promise<null> {
    return null;
  }
  async commitNamed(name: string): Promise<string | null> {
    return this.commits.has(name) ? name : null;
  }
  async recentCommits(): Promise<[]> {
    return [];
  }
  async handmadeCommits(): Promise<[]> {
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
  async changedFiles(ref: WorktreeRef | null, { trees }: Parameters<Workspace['changedFiles']>[1]) {
    const branch = await this.#branch(ref!);
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
  async filesIn(commit: string): Promise<string[]> {
    const found = this.commits.get(commit);
    const parent = found?.parents[0];
    return found && parent ? changed(this.#files(parent), found.files) : [];
  }
  async candidate(ref: WorktreeRef, onto?: string): Promise<Candidate> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const base = onto ?? this.target;
    const { files, conflicts } = merge(this.#files(branch.base), this.#files(base), this.#files(branch.tip));
    if (conflicts.length > 0) return { kind: 'conflict', base, files: conflicts };
    const tree = treeOf(files);
    if (tree === treeOf(this.#files(base))) return { kind: 'empty', base };
    return { kind: 'clean', tree, base, files: changed(this.#files(base), files) };
  }
  /** Takes no time, so that the schedule of a run does not depend on it. */
  async forecast(commit: string, others: string[]): Promise<Forecast | null> {
    const own = this.#baseOf(commit);
    if (!own) return null;
    const change = (base: Files, tip: string) => changed(base, this.#files(tip));
    const size = (files: string[]) => ({ files: files.length, lines: files.length });
    const mine = change(own, commit);
    return {
      size: size(mine),
      withTarget: merge(own, this.#files(this.target), this.#files(commit)).conflicts,
      compared: others.flatMap((other) => {
        const base = this.#baseOf(other);
        if (!base) return [];
        const theirs = change(base, other);
        const text = (tip: string, path: string) => this.#files(tip).get(path);
        const files = mine.filter((path) => theirs.includes(path) && text(commit, path) !== text(other, path));
        return [{ commit: other, files, size: size(theirs) }];
      }),
    };
  }
  async seal(ref: WorktreeRef, candidate: { tree: string; base: string }, message: string): Promise<string> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const { files } = merge(this.#files(branch.base), this.#files(candidate.base), this.#files(branch.tip));
    return this.#commit(files, [candidate.base], message).id;
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
  async filesAt(commit: string, globs: string[]): Promise<[string, string][]> {
    const isMeant = (path: string) =>
      globs.some(
        (glob) => glob === '**' || path === glob || (glob.endsWith('/**') && path.startsWith(glob.slice(0, -2))),
      );
    return [...this.#files(commit)].filter(([path]) => isMeant(path));
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
    if (!this.isAncestor(base, commit)) throw new Error(`${commit} does not follow ${base}`);
    this.#note(commit, base);
    this.target = commit;
    return { kind: 'landed' };
  }
  async isLanded(commit: string): Promise<boolean> {
    return this.isAncestor(commit, this.target);
  }
  async landingObstacle(): Promise<string | null> {
    return this.isDirty ? 'the checkout has uncommitted changes' : null;
  }
  async fetchTarget(): Promise<RemoteState> {
    await this.#takeTime();
    return this.remote.fetch();
  }
  async joinRemote(remote: RemoteTarget): Promise<Joined> {
    return this.remote.join(remote);
  }
  async isPublished(commit: string): Promise<boolean> {
    return this.remote.has(commit);
  }
  async pushTarget(commit: string): Promise<Pushed> {
    await this.#takeTime();
    return this.remote.push(commit);
  }
  async pushBranch(): Promise<never> {
    throw new Error('the simulator pushes the target only');
  }
  async followMerge(): Promise<never> {
    throw new Error('the simulator has no pull requests');
  }
  async mergeTarget(ref: WorktreeRef): Promise<{ files: string[] }> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    if (branch.merging) return { files: [] };
    const [base, theirs, ours] = [this.#files(branch.base), this.#files(this.target), new Map(branch.work)];
    const { files, conflicts } = merge(base, theirs, ours);
    branch.merges.push({ base, theirs, ours });
    branch.work = new Map(files);
    branch.merging = this.target;
    return { files: conflicts };
  }
  async mergeLosses(ref: WorktreeRef) {
    const { tip, merges, merging } = await this.#branch(ref);
    const done = merging ? merges.slice(0, -1) : merges;
    return done.flatMap((each) => lossesOfMerge(each, this.#files(tip), this.#files(this.target)));
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
    this.benches.clear();
    return garbage;
  }
  async snapshots(): Promise<Snapshot[]> {
    return [];
  }
  async dropSnapshots(): Promise<void> {
    throw new Error('there are no snapshots to drop');
  }

  /** A person's commit on the target, outside of Tidemill. */
  commitByPerson(path: string, text: string): void {
    const files = new Map(this.#files(this.target)).set(path, text);
    this.target = this.#commit(files, [this.target], 'by a person').id;
  }
  /** The same, as one more line of a file. */
  addLineByPerson(path: string, line: string): void {
    this.commitByPerson(path, [...linesOf(this.#files(this.target), path), line].join('\n'));
  }
  /** Another person's push to the remote. By force: it replaces the newest commit there. */
  pushByPerson(path: string, text: string, isForced = false): void {
    const { tip } = this.remote;
    if (tip === null) return;
    const parents = isForced ? this.commits.get(tip)!.parents : [tip];
    if (parents[0] === undefined) return;
    const files = new Map(this.#files(parents[0])).set(path, text);
    this.remote.tip = this.#commit(files, [parents[0]], 'by another person').id;
  }
  /** A person merges what the remote has after a forced push. */
  mergeByPerson(): void {
    const { tip } = this.remote;
    if (tip === null || this.isAncestor(tip, this.target)) return;
    const merged = merge(this.#files(this.#shared(tip)), this.#files(this.target), this.#files(tip));
    const files = new Map(merged.files);
    for (const path of merged.conflicts) files.set(path, this.#files(tip).get(path) ?? '');
    const { id } = this.#commit(files, [this.target, tip], 'merged by a person');
    this.#note(id, this.target);
    this.target = id;
  }
  join(local: string, remote: string): Joined {
    const { files, conflicts } = merge(this.#files(this.#shared(remote)), this.#files(local), this.#files(remote));
    if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
    const { id } = this.#commit(files, [local, remote], 'joined');
    return { kind: 'clean', commit: id, tree: treeOf(files), base: local };
  }
  /** The remote has everything that landed. */
  get isPushed(): boolean {
    const { tip } = this.remote;
    return tip === null || this.landed.every(({ id }) => this.isAncestor(id, tip));
  }
  isAncestor(commit: string, of: string): boolean {
    return this.#history(of).has(commit);
  }
  /** What a folder shows: a task's worktree, or the clean checkout of a commit. */
  shown(path: string): Files {
    return this.work(path) ?? this.commits.get(path)?.files ?? new Map();
  }
  work(branch: string): Map<string, string> | undefined {
    const found = this.branches.get(branch);
    return found?.exists ? found.work : this.benches.get(branch);
  }

  /** What the branch with this tip is based on. */
  #baseOf(commit: string): Files | null {
    const branch = [...this.branches.values()].find(({ tip }) => tip === commit);
    return branch ? this.#files(branch.base) : null;
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
  /** All commits that a commit contains, itself included, oldest first. */
  #history(of: string): Set<string> {
    const found = new Set<string>();
    const left = [of];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      left.push(...this.commits.get(id)!.parents);
    }
    return new Set([...found].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))));
  }
  /** The newest commit that the target and the other have in common. */
  #shared(other: string): string {
    const own = this.#history(this.target);
    return [...this.#history(other)].findLast((id) => own.has(id))!;
  }
  /** The tasks' commits that the target gets with this one. */
  #note(commit: string, base: string): void {
    const before = this.#history(base);
    const added = [...this.#history(commit)].filter((id) => !before.has(id)).map((id) => this.commits.get(id)!);
    const evidenceOf = ({ message }: Commit) => /Evidence: (.+)/.exec(message)?.[1];
    for (const each of added.filter(({ message }) => message.includes('Task: #'))) {
      const top = added.findLast((other) => evidenceOf(other) === evidenceOf(each))!;
      this.onLand(each, treeOf(top.files), this.#files(each.parents[0]!));
      this.landed.push(each);
    }
  }
  #commit(files: Files, parents: string[], message: string): Commit {
    this.#serial += 1;
    const commit = { id: `c${this.#serial}`, files, parents, message };
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
