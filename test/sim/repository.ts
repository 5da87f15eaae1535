import type {
  BorrowingRepository,
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
import { changed, type Files, merge, treeOf } from './files.ts';
import { type Commit, History } from './history.ts';
import { linesOf, lossesOfMerge, type SimMerge } from './merge-losses.ts';
import type { Random } from './random.ts';
import { SimRemote } from './remote.ts';

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

/** A repository reduced to what the engine can observe: contents, commits, branches, a moving target. */
export class SimRepository implements Workspace {
  readonly history = new History();
  readonly commits = this.history.commits;
  readonly branches = new Map<string, Branch>();
  readonly landed: Commit[] = [];
  readonly lost: string[] = [];
  target: string;
  isDirty = false;
  /** Work lands by pull requests, so the forge moves the target. */
  landsByPull = false;
  /** `tree`: the tree that was proven for it, which is that of the last commit of its batch. */
  onLand: (commit: Commit, tree: string, before: Files) => void = () => undefined;
  readonly remote: SimRemote;
  readonly #clock: Clock;
  readonly #random: Random;
  /** The files of trees that were captured, merged on paper or sealed. */
  readonly #trees = new Map<string, Files>();

  readonly scratches = new Set<string>();

  async scratch(name: string) {
    this.scratches.add(name);
    return { path: `scratch/${name}`, remove: async () => void this.scratches.delete(name) };
  }

  /** Folders for work that never lands, by path. */
  readonly benches = new Map<string, Map<string, string>>();

  async borrowingRepository(name: string, base: string): Promise<BorrowingRepository> {
    await this.#takeTime();
    const path = `bench/${name}`;
    const work = new Map(this.#files(base));
    this.benches.set(path, work);
    return {
      path,
      base,
      capture: async (message) => {
        const { id } = this.history.add(new Map(work), [base], message);
        return { commit: id, tree: treeOf(work), files: changed(this.#files(base), work), refused: [] };
      },
      remove: async () => void this.benches.delete(path),
    };
  }
  async withFilesOf(commit: string, other: string, files: string[]) {
    const mixed = new Map(this.#files(commit));
    for (const path of files) mixed.set(path, this.#files(other).get(path) ?? '');
    return { commit: this.history.add(mixed, [commit], 'mixed').id, tree: treeOf(mixed) };
  }
  async withTexts(commit: string, texts: ReadonlyMap<string, string>) {
    const mixed = new Map([...this.#files(commit), ...texts]);
    return { commit: this.history.add(mixed, [commit], 'mixed').id, tree: treeOf(mixed) };
  }
  async putBack(tree: string, base: string, files: string[]) {
    const mixed = new Map(this.#trees.get(tree)!);
    for (const path of files) {
      const text = this.#files(base).get(path);
      if (text === undefined) mixed.delete(path);
      else mixed.set(path, text);
    }
    return { commit: this.history.add(mixed, [base], 'with the checks of the target').id, tree: treeOf(mixed) };
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
    this.target = this.history.add(new Map([['readme', 'tide']]), [], 'first').id;
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
    this.#trees.set(tree, new Map(branch.work));
    if (tree !== treeOf(this.commits.get(branch.tip)!.files) || branch.merging) {
      const parents = branch.merging ? [branch.tip, branch.merging] : [branch.tip];
      branch.tip = this.history.add(new Map(branch.work), parents, message).id;
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
    const commits = this.history.between(from, to).reverse();
    return commits.map(({ id, message }) => ({ commit: id, at: 0, subject: message }));
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
  async commitsByPeople(): Promise<[]> {
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
  async changedFiles(ref: WorktreeRef | null, { trees, alsoBefore }: Parameters<Workspace['changedFiles']>[1]) {
    if (!ref) {
      const files = this.#files(trees!.base);
      const texts = alsoBefore.flatMap((path): [string, string][] =>
        files.has(path) ? [[path, files.get(path)!]] : [],
      );
      return { changed: [], before: new Map(texts) };
    }
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
    const { files, conflicts } = merge(this.#forkOf(branch, base), this.#files(base), this.#files(branch.tip));
    if (conflicts.length > 0) return { kind: 'conflict', base, files: conflicts };
    const tree = treeOf(files);
    if (tree === treeOf(this.#files(base))) return { kind: 'empty', base };
    this.#trees.set(tree, files);
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
    const { files } = merge(this.#forkOf(branch, candidate.base), this.#files(candidate.base), this.#files(branch.tip));
    this.#trees.set(treeOf(files), files);
    return this.history.add(files, [candidate.base], message).id;
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
      showInstead: nothing,
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
  async pushBranch(ref: WorktreeRef, { tree, base, message }: Parameters<Workspace['pushBranch']>[1]) {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    const tip = this.commits.get(branch.tip)!;
    if (treeOf(tip.files) !== tree || tip.message !== message) {
      const isIn = this.isAncestor(base, branch.tip);
      const files = this.#trees.get(tree)!;
      branch.tip = this.history.add(files, isIn ? [branch.tip] : [branch.tip, base], message).id;
      branch.base = base;
    }
    branch.work = new Map(this.#files(branch.tip));
    return { pushed: this.remote.pushBranch(ref.branch, branch.tip), commit: branch.tip };
  }
  async followMerge(ref: WorktreeRef, { head, commit }: Parameters<Workspace['followMerge']>[1]): Promise<void> {
    await this.#takeTime();
    const branch = await this.#branch(ref);
    if (this.isAncestor(commit, branch.tip) || !this.isAncestor(head, branch.tip)) return;
    const { files, conflicts } = merge(this.#files(head), this.#files(commit), this.#files(branch.tip));
    if (conflicts.length > 0) return;
    branch.tip = this.history.add(files, [branch.tip, commit], 'what landed').id;
    branch.base = commit;
    branch.work = new Map(files);
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
  async present(tasks: WorktreeRef[]): Promise<string[]> {
    return tasks.flatMap(({ branch }) => (this.branches.has(branch) ? branch : []));
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
    this.target = this.history.add(files, [this.target], 'by a person').id;
  }
  /** The same, as one more line of a file. */
  addLineByPerson(path: string, line: string): void {
    this.commitByPerson(path, [...linesOf(this.#files(this.target), path), line].join('\n'));
  }
  /** The same, pushed to the remote by another person. */
  pushLineByPerson(path: string, line: string): void {
    if (this.remote.tip === null) return;
    this.pushByPerson(path, [...linesOf(this.#files(this.remote.tip), path), line].join('\n'));
  }
  /** Another person's push to the remote. By force: it replaces the newest commit there. */
  pushByPerson(path: string, text: string, isForced = false): void {
    const { tip } = this.remote;
    if (tip === null) return;
    const parents = isForced ? this.commits.get(tip)!.parents : [tip];
    if (parents[0] === undefined) return;
    const files = new Map(this.#files(parents[0])).set(path, text);
    this.remote.tip = this.history.add(files, [parents[0]], 'by another person').id;
  }
  /** A person merges what the remote has after a forced push. */
  mergeByPerson(): void {
    const { tip } = this.remote;
    if (tip === null || this.isAncestor(tip, this.target)) return;
    const merged = this.history.merged(this.target, tip);
    const files = new Map(merged.files);
    for (const path of merged.conflicts) files.set(path, this.#files(tip).get(path) ?? '');
    const { id } = this.history.add(files, [this.target, tip], 'merged by a person');
    this.#note(id, this.target);
    this.target = id;
  }
  join(local: string, remote: string): Joined {
    const { files, conflicts } = this.history.merged(local, remote);
    if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
    const { id } = this.history.add(files, [local, remote], 'joined');
    return { kind: 'clean', commit: id, tree: treeOf(files), base: local };
  }
  /** The remote has everything that landed. */
  get isPushed(): boolean {
    const { tip } = this.remote;
    return tip === null || this.landed.every(({ id }) => this.isAncestor(id, tip));
  }
  isAncestor(commit: string, of: string): boolean {
    return this.history.isAncestor(commit, of);
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
  /** What a branch and another commit have in common: all of the branch, once it was merged as it is. */
  #forkOf({ base, tip }: Branch, onto: string): Files {
    return this.#files(this.isAncestor(tip, onto) ? tip : base);
  }
  #files(commit: string): Files {
    return this.history.files(commit);
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
  /** The tasks' commits that the target gets with this one. */
  #note(commit: string, base: string): void {
    if (this.landsByPull) return;
    const added = this.history.between(base, commit);
    const evidenceOf = ({ message }: Commit) => /Evidence: (.+)/.exec(message)?.[1];
    for (const each of added.filter(({ message }) => message.includes('Task: #'))) {
      const top = added.findLast((other) => evidenceOf(other) === evidenceOf(each))!;
      this.onLand(each, treeOf(top.files), this.#files(each.parents[0]!));
      this.landed.push(each);
    }
  }
  #takeTime(): Promise<void> {
    return this.#clock.sleep(this.#random.int(400));
  }
}
