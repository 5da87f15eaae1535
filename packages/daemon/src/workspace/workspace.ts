import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError, type ChangedFileView, type CutText, plainLine, type TaskFile } from '@tidemill/contract';
import { GitError } from '../git/program.ts';
import type {
  Change,
  ConflictEditor,
  FileCommit,
  KeptFiles,
  Pushed,
  Workspace,
  Worktree,
  WorktreeRef,
} from '../ports.ts';
import { openBorrowingRepository } from './borrowing-repository.ts';
import { type BranchFiles, commitToBranch } from './branch-files.ts';
import { branchTip, dryRun, followMerge, mergeTargetInto, sealCandidate, treeOf } from './candidate.ts';
import { amendWork, captureWork, commitTree } from './capture.ts';
import { hashChange } from './change.ts';
import { makeCiBranches } from './ci-branches.ts';
import { openPool } from './clean-checkout.ts';
import { commitsByPeople } from './commits-by-people.ts';
import { makeConflictEditor } from './conflict-editor.ts';
import { isLanded } from './containment.ts';
import { readChange } from './file-changes.ts';
import { openForecaster } from './forecast.ts';
import { findLeaks, type Leak, snapshotFolder, takeDown } from './garbage.ts';
import {
  type GitContext,
  openGitContext,
  type RegisteredWorktree,
  type TaskPaths,
  type WorkspaceOptions,
} from './git-context.ts';
import { commitNamed, commitsBetween, tagBefore } from './history.ts';
import { findObstacle, landCommit } from './landing.ts';
import {
  type Compared,
  filesAt,
  filesIn,
  ignoredInCheckout,
  lookAtCommit,
  lookAtWork,
  readCommit,
  readWork,
} from './look.ts';
import { listFiles, readFile } from './look-file.ts';
import { lossesOf } from './merge-loss.ts';
import { putBack as putFilesBack, withFilesOf } from './mixed-tree.ts';
import { awaitOrphans } from './orphaned-git.ts';
import { findOutage } from './outage.ts';
import { commitFile } from './person-file.ts';
import { clearDeadDeletion, moveRefs } from './ref.ts';
import { findAdmin, isThere, registerWorktree } from './registered-worktree.ts';
import { fetchTarget, isPublished, joinRemote, pushBranch, pushTarget } from './remote.ts';
import { withTexts } from './replaced-texts.ts';
import { openScratch, removeScratches } from './scratch.ts';
import { isUntouched, moveTo, putBack, strayCommits, takeSnapshot, tipOf } from './snapshot.ts';
import { dropSnapshots, keepCommits, listSnapshots, SNAPSHOTS } from './snapshot-refs.ts';
import { fillSubmodules } from './submodules.ts';
import { openTrash, type Trash } from './trash.ts';
import { changedFiles } from './tree-changes.ts';

export type { WorkspaceOptions };

export interface GitWorkspace extends Workspace, ConflictEditor {
  /** Writes a snapshot's files into a new folder. The repository and its worktrees are not touched. */
  restoreSnapshot(ref: string, to: string): Promise<string>;
  /** The change as it lies there, uncommitted files included; null when there is none. */
  lookAtWork(task: WorktreeRef, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
  /** What a commit changed; null when it is not in the repository. */
  lookAtCommit(commit: string, maxBytes: number, signal?: AbortSignal): Promise<CutText | null>;
  /** The files of a task's change: of the commit if there is one, else of its worktree or branch. */
  filesOfChange(task: WorktreeRef, commit: string | null): Promise<ChangedFileView[] | null>;
  /** One of them, before and after. */
  fileOfChange(task: WorktreeRef, commit: string | null, path: string, maxBytes: number): Promise<TaskFile | null>;
  /** Commits this one file to the target where the person has it checked out, and nothing else. */
  commitFile(file: string, text: string, message: string): Promise<FileCommit>;
  /** Pushes a commit to a branch of its own, for CI to see; never by force. */
  offerToCi(commit: string): Promise<Pushed>;
  withdrawFromCi(commit: string): Promise<void>;
  /** Commits files to a branch that nobody has checked out. */
  commitToBranch(files: BranchFiles): Promise<KeptFiles>;
  /** Waits for background deletion and lets the helper process go. Nothing may be called afterwards. */
  close(): Promise<void>;
}

/** The workspace over git worktrees. One per project and process; its operations on one task run one after another. */
export async function openWorkspace(options: WorkspaceOptions): Promise<GitWorkspace> {
  const context = await openGitContext(options);
  await awaitOrphans(context.dataDir, context.clock);
  await clearDeadDeletion(context);
  const trash = openTrash(context.dataDir);
  await trash.empty();
  return makeWorkspace(context, trash);
}

/** A stop takes a few seconds, however many files are being deleted. The next start deletes what is left. */
const TRASH_MS = 2_000;

function makeWorkspace(context: GitContext, trash: Trash): GitWorkspace {
  const pool = openPool(context, trash);
  const forecast = openForecaster(context);
  const ci = makeCiBranches(context);
  /** Runs work under the task's lock. */
  const turn = <T>(task: WorktreeRef, work: (place: TaskPaths) => Promise<T>): Promise<T> => {
    const place = context.pathsOf(task);
    return context.perTask(place.name)(() => spaceMatters(() => work(place)));
  };
  type Work<T> = (place: RegisteredWorktree, notes: string[]) => Promise<T>;
  const standing = async <T>(place: TaskPaths, work: Work<T>): Promise<T> => {
    const notes: string[] = [];
    return work(await registerWorktree(context, trash, place, notes), notes);
  };
  const at = <T>(task: WorktreeRef, work: Work<T>) => turn(task, (place) => standing(place, work));
  /** The same without making a worktree for it; null when there is none. */
  const ifThere = <T>(task: WorktreeRef, work: Work<T>) =>
    turn(task, async (place) => ((await isThere(place.path)) ? standing(place, work) : null));
  const readIn = <T>(task: WorktreeRef, commit: string | null, read: (compared: Compared) => Promise<T>) =>
    commit === null ? readWork(context, context.pathsOf(task), read) : readCommit(context, commit, read);
  return {
    open: (task) => at(task, (place) => openTask(context, place)),
    capture: (task, message) => at(task, (place, notes) => captureWork(context, place, message, notes)),
    restore: (task, why) => at(task, (place) => putBack(context, place, why)),
    snapshot: async (task, why) => {
      // A task that never had a worktree need not get one just to be found empty.
      if (!(await isThere(context.pathsOf(task).path))) return null;
      return at(task, (place) => takeSnapshot(context, place, why));
    },
    diff: (task, maxBytes) => diffOf(context, context.pathsOf(task), maxBytes),
    changeIn: (task, files) => hashChange(context, context.pathsOf(task), files),
    changedFiles: (task, asked) => changedFiles(context, task && context.pathsOf(task), asked),
    filesIn: (commit, against) => filesIn(context, commit, against),
    forecast: (commit, others) => spaceMatters(() => forecast(commit, others)),
    candidate: (task, onto) => dryRun(context, context.pathsOf(task), onto),
    seal: (task, candidate, message) => sealCandidate(context, context.pathsOf(task), candidate, message),
    checkOut: (commit) => spaceMatters(() => pool.checkOut(commit)),
    filesAt: (commit, globs) => filesAt(context, commit, globs),
    treeOf: (commit) => treeOf(context, commit),
    ignoredInCheckout: (files) => ignoredInCheckout(context, files),
    targetCommit: () => context.target(),
    amend: (task, tree, message) => at(task, (place) => amendWork(context, place, tree, message)),
    land: (commit, base) => context.landing(() => spaceMatters(() => landCommit(context, commit, base))),
    isLanded: (commit) => isLanded(context, commit),
    provenCommits: (limit) => provenCommits(context, limit),
    recentCommits: (limit) => recentCommits(context, limit),
    commitsBetween: (from, to, limit) => commitsBetween(context, from, to, limit),
    tagBefore: (commit) => tagBefore(context, commit),
    commitNamed: (name) => commitNamed(context, name),
    commitsByPeople: (query) => commitsByPeople(context, query),
    outage: (isSuspected) => findOutage(context, isSuspected),
    landingObstacle: () => context.landing(async () => (await context.options.takenOver?.()) ?? findObstacle(context)),
    fetchTarget: async () => {
      const state = await fetchTarget(context);
      // Neither may a branch that stays keep work from landing, nor is it forgotten: the next fetch tries again.
      if (state.kind !== 'none' && state.kind !== 'unreachable')
        await ci.removeLeft().catch((error: unknown) => {
          if (!(error instanceof GitError) && !(error instanceof Error && error.name === 'AbortError')) throw error;
        });
      return state;
    },
    joinRemote: (remote) => joinRemote(context, remote),
    isPublished: (commit) => isPublished(context, commit),
    pushTarget: (commit) => pushTarget(context, commit),
    offerToCi: (commit) => ci.offer(commit),
    withdrawFromCi: (commit) => ci.withdraw(commit),
    pushBranch: (task, proven) => at(task, (place) => pushBranch(context, place, proven)),
    followMerge: (task, merged) => at(task, (place) => followMerge(context, place, merged)),
    mergeTarget: (task) => at(task, (place) => mergeTargetInto(context, place)),
    mergeLosses: (task) => lossesOf(context, context.pathsOf(task)),
    ...makeConflictEditor(context, { at, ifThere }),
    remove: (task) =>
      context.perTask(context.pathsOf(task).name)(() =>
        removeTask(context, trash, context.pathsOf(task), 'the task was removed'),
      ),
    present: async (tasks) => {
      const found = new Set((await findLeaks(context, [])).map(({ name }) => name));
      return tasks.flatMap((task) => (found.has(context.pathsOf(task).name) ? task.branch : []));
    },
    leaks: async (alive) => (await findLeaks(context, alive)).flatMap(({ what }) => what),
    collectGarbage: async (alive) => {
      await removeScratches(context);
      return collect(context, trash, alive);
    },
    scratch: (name) => openScratch(context, name),
    borrowingRepository: (name, commit) => spaceMatters(() => openBorrowingRepository(context, name, commit)),
    withTexts: (commit, texts, addition) => spaceMatters(() => withTexts(context, commit, texts, addition)),
    withFilesOf: (commit, other, files) => withFilesOf(context, commit, other, files),
    putBack: (tree, base, files) => putFilesBack(context, tree, base, files),
    commitOf: (tree, parent) => commitTree(context, tree, [parent], 'fixed by a gate'),
    parentOf: async (commit) => (await context.resolver.resolve([`${commit}^1^{commit}`]))[0] ?? null,
    snapshots: () => listSnapshots(context),
    dropSnapshots: (snapshots) => context.shared(() => dropSnapshots(context, snapshots)),
    lookAtWork: (task, maxBytes, signal) => lookAtWork(context, context.pathsOf(task), { maxBytes, signal }),
    lookAtCommit: (commit, maxBytes, signal) => lookAtCommit(context, commit, { maxBytes, signal }),
    filesOfChange: (task, commit) => readIn(task, commit, listFiles),
    fileOfChange: (task, commit, path, maxBytes) =>
      readIn(task, commit, (compared) => readFile(compared, path, maxBytes)),
    commitFile: (file, text, message) =>
      context.landing(() => spaceMatters(() => commitFile(context, file, text, message))),
    commitToBranch: (files) => context.shared(() => spaceMatters(() => commitToBranch(context, files))),
    restoreSnapshot: (ref, to) => restoreInto(context, ref, to),
    async close() {
      await pool.close();
      await trash.settled({ atMostMs: TRASH_MS });
      await Promise.all([context.resolver.close(), context.blobs.close()]);
    },
  };
}

/** Reports a full disk like git does, for the few files that are written here. */
async function spaceMatters<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    const hint = 'Free some disk space. The work then continues.';
    throw new AppError('disk_full', `there is no space left: ${message}`, { hint, retriable: true, cause: error });
  }
}

async function openTask(context: GitContext, place: RegisteredWorktree): Promise<Worktree> {
  if (await isThere(place.marker))
    await putBack(context, place, 'the worktree was left showing a candidate, or in between');
  const [{ tip }, target] = await Promise.all([tipOf(context, place), context.target()]);
  const base = await context.mergeBase(tip, target);
  const { number, branch, path } = place;
  // It has no commit and no files of its own, so it can start from the newest target.
  if (base !== tip || base === target || !(await isUntouched(context, place, tip))) {
    await fillSubmodules(context, place, tip, { isExact: false });
    return { number, branch, path, base, tip };
  }
  await moveTo(context, place, { commit: target, attached: true }, 'moved on to the newest target');
  await moveRefs(context, [{ ref: place.tipRef, to: target, from: tip }]);
  await fillSubmodules(context, place, target, { isExact: false });
  return { number, branch, path, base: target, tip: target };
}

async function diffOf(context: GitContext, place: TaskPaths, maxBytes: number): Promise<Change> {
  const [tip, target] = await Promise.all([branchTip(context, place), context.target()]);
  const base = await context.mergeBase(tip, target);
  return base === tip ? { files: [], sections: [], isCut: false } : readChange(context.git, [base, tip], { maxBytes });
}

async function provenCommits(context: GitContext, limit: number) {
  const format = '--format=%H%x00%ct%x00%(trailers:key=Evidence,valueonly,separator=%x2C)';
  const { stdout } = await context.git(['log', `--max-count=${limit}`, format, await context.target(), '--']);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', seconds = '', evidence = ''] = line.split('\0');
    return /^[0-9a-f]{64}$/.test(evidence) ? [{ commit, evidence, at: Number(seconds) * 1000 }] : [];
  });
}

async function recentCommits(context: GitContext, limit: number) {
  const format = '--format=%H%x00%s%x00%b%x00%x00';
  const { stdout } = await context.git(['log', `--max-count=${limit}`, format, await context.target(), '--']);
  return stdout.split('\0\0\n').flatMap((entry) => {
    const [commit = '', subject = '', body = ''] = entry.split('\0');
    if (commit.trim() === '') return [];
    const reverts = [...body.matchAll(/\breverts commit ([0-9a-f]{7,64})/gi)].map(([, hash = '']) => hash);
    return [{ commit: commit.trim(), subject: plainLine(subject).slice(0, 200), reverts }];
  });
}

async function removeTask(context: GitContext, trash: Trash, place: TaskPaths, why: string): Promise<void> {
  const admin = await findAdmin(context, place);
  const [tip, branch] = await context.resolver.resolve([`${place.tipRef}^{commit}`, `${place.branchRef}^{commit}`]);
  const last = tip ?? branch;
  const [hasLanded] = await Promise.all([
    last ? isLanded(context, last) : true,
    saveRest(context, trash, place, { admin, last: last ?? null }, why),
  ]);
  if (await isThere(place.path)) await context.options.beforeRemoval?.(place.path);
  await takeDown(context, trash, place, last && !hasLanded ? [last] : []);
}

/** Files that differ from the last commit, and commits that are on no branch of ours. */
async function saveRest(
  context: GitContext,
  trash: Trash,
  place: TaskPaths,
  { admin, last }: { admin: string | null; last: string | null },
  why: string,
): Promise<void> {
  const hasFiles = await isThere(place.path);
  if (hasFiles && admin && last) await takeSnapshot(context, await registerWorktree(context, trash, place, []), why);
  else if (hasFiles) await snapshotFolder(context, place, last ? [last] : [], why);
  else if (admin && last) {
    const strays = await strayCommits(context, { ...place, admin }, last);
    if (strays.length > 0) await keepCommits(context, place, last, strays, why);
  }
}

/** A leftover that cannot be removed does not block the others. */
async function collect(context: GitContext, trash: Trash, alive: WorktreeRef[]): Promise<string[]> {
  const gone: string[] = [];
  const failures: unknown[] = [];
  for (const leak of await findLeaks(context, alive)) {
    const place = leakedPlace(context, leak);
    const why = 'left over from a task that is no longer active';
    await context
      .perTask(place.name)(() => removeTask(context, trash, place, why))
      .then(
        () => gone.push(...leak.what),
        (error: unknown) => failures.push(error),
      );
  }
  if (failures.length > 0) throw failures[0];
  return gone;
}

const leakedPlace = (context: GitContext, leak: Leak): TaskPaths => {
  const place = context.pathsOf({ number: leak.number, branch: leak.branch || `task/${leak.name}` });
  return { ...place, path: join(context.dataDir, 'worktrees', leak.name) };
};

async function restoreInto(context: GitContext, ref: string, to: string): Promise<string> {
  const full = ref.startsWith(`${SNAPSHOTS}/`) ? ref : `${SNAPSHOTS}/${ref}`;
  const [commit] = await context.resolver.resolve([`${full}^{commit}`]);
  if (!commit)
    throw new AppError('not_found', `there is no snapshot ${ref}`, { hint: '`tidemill snapshots` lists them.' });
  const folder = resolve(to);
  const there = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new AppError('bad_input', `${folder} is not a folder`, { hint: 'Use a new folder.', cause: error });
  });
  if (there && there.length > 0) {
    throw new AppError('bad_input', `${folder} is not empty`, {
      hint: 'Use a new folder. Existing files are never overwritten.',
    });
  }
  if (there) await rmdir(folder);
  await mkdir(folder, { recursive: true });
  const index = join(context.dataDir, 'index', `restore-${process.pid}-${context.next()}.look`);
  try {
    await context.git(['read-tree', '-u', '--reset', commit], {
      cwd: folder,
      env: { GIT_WORK_TREE: folder, GIT_INDEX_FILE: index },
    });
  } finally {
    await rm(index, { force: true });
  }
  return folder;
}
