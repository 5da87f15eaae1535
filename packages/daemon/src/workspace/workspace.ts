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
import { openBench } from './bench.ts';
import { type BranchFiles, commitToBranch } from './branch-files.ts';
import { branchTip, dryRun, followMerge, mergeTargetInto, sealCandidate, treeOf } from './candidate.ts';
import { amendWork, captureWork, commitTree } from './capture.ts';
import { hashChange } from './change.ts';
import { makeCiBranches } from './ci-branches.ts';
import { openPool } from './clean-checkout.ts';
import { makeConflictEditor } from './conflict-editor.ts';
import { isLanded } from './containment.ts';
import { readChange } from './file-changes.ts';
import { openForecaster } from './forecast.ts';
import { findLeaks, type Leak, snapshotFolder, takeDown } from './garbage.ts';
import { handmadeCommits } from './handmade.ts';
import { commitNamed, commitsBetween, tagBefore } from './history.ts';
import { dropSnapshots, keepCommits, listSnapshots, SNAPSHOTS } from './keep.ts';
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
import { awaitOrphans } from './orphan.ts';
import { findOutage } from './outage.ts';
import { commitFile } from './own-file.ts';
import { clearDeadDeletion, moveRefs } from './ref.ts';
import { fetchTarget, isPublished, joinRemote, pushBranch, pushTarget } from './remote.ts';
import { withTexts } from './replaced-texts.ts';
import { openScratch, removeScratches } from './scratch.ts';
import { openSite, type Place, type Site, type Standing, type WorkspaceOptions } from './site.ts';
import { isUntouched, moveTo, putBack, strayCommits, takeSnapshot, tipOf } from './snapshot.ts';
import { findAdmin, isThere, stand } from './standing.ts';
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
  const site = await openSite(options);
  await awaitOrphans(site.dataDir, site.clock);
  await clearDeadDeletion(site);
  const trash = openTrash(site.dataDir);
  await trash.empty();
  return makeWorkspace(site, trash);
}

/** A stop takes a few seconds, however many files are being deleted. The next start deletes what is left. */
const TRASH_MS = 2_000;

function makeWorkspace(site: Site, trash: Trash): GitWorkspace {
  const pool = openPool(site, trash);
  const forecast = openForecaster(site);
  const ci = makeCiBranches(site);
  /** Runs work under the task's lock. */
  const turn = <T>(task: WorktreeRef, work: (place: Place) => Promise<T>): Promise<T> => {
    const place = site.place(task);
    return site.perTask(place.name)(() => spaceMatters(() => work(place)));
  };
  type Work<T> = (place: Standing, notes: string[]) => Promise<T>;
  const standing = async <T>(place: Place, work: Work<T>): Promise<T> => {
    const notes: string[] = [];
    return work(await stand(site, trash, place, notes), notes);
  };
  const at = <T>(task: WorktreeRef, work: Work<T>) => turn(task, (place) => standing(place, work));
  /** The same without making a worktree for it; null when there is none. */
  const ifThere = <T>(task: WorktreeRef, work: Work<T>) =>
    turn(task, async (place) => ((await isThere(place.path)) ? standing(place, work) : null));
  const readIn = <T>(task: WorktreeRef, commit: string | null, read: (compared: Compared) => Promise<T>) =>
    commit === null ? readWork(site, site.place(task), read) : readCommit(site, commit, read);
  return {
    open: (task) => at(task, (place) => openTask(site, place)),
    capture: (task, message) => at(task, (place, notes) => captureWork(site, place, message, notes)),
    restore: (task, why) => at(task, (place) => putBack(site, place, why)),
    snapshot: async (task, why) => {
      // A task that never had a worktree need not get one just to be found empty.
      if (!(await isThere(site.place(task).path))) return null;
      return at(task, (place) => takeSnapshot(site, place, why));
    },
    diff: (task, maxBytes) => diffOf(site, site.place(task), maxBytes),
    changeIn: (task, files) => hashChange(site, site.place(task), files),
    changedFiles: (task, asked) => changedFiles(site, task && site.place(task), asked),
    filesIn: (commit, against) => filesIn(site, commit, against),
    forecast: (commit, others) => spaceMatters(() => forecast(commit, others)),
    candidate: (task, onto) => dryRun(site, site.place(task), onto),
    seal: (task, candidate, message) => sealCandidate(site, site.place(task), candidate, message),
    checkOut: (commit) => spaceMatters(() => pool.checkOut(commit)),
    filesAt: (commit, globs) => filesAt(site, commit, globs),
    treeOf: (commit) => treeOf(site, commit),
    ignoredInCheckout: (files) => ignoredInCheckout(site, files),
    targetCommit: () => site.target(),
    amend: (task, tree, message) => at(task, (place) => amendWork(site, place, tree, message)),
    land: (commit, base) => site.landing(() => spaceMatters(() => landCommit(site, commit, base))),
    isLanded: (commit) => isLanded(site, commit),
    provenCommits: (limit) => provenCommits(site, limit),
    recentCommits: (limit) => recentCommits(site, limit),
    commitsBetween: (from, to, limit) => commitsBetween(site, from, to, limit),
    tagBefore: (commit) => tagBefore(site, commit),
    commitNamed: (name) => commitNamed(site, name),
    handmadeCommits: (query) => handmadeCommits(site, query),
    outage: (isSuspected) => findOutage(site, isSuspected),
    landingObstacle: () => site.landing(async () => (await site.options.takenOver?.()) ?? findObstacle(site)),
    fetchTarget: async () => {
      const state = await fetchTarget(site);
      // Neither may a branch that stays keep work from landing, nor is it forgotten: the next fetch tries again.
      if (state.kind !== 'none' && state.kind !== 'unreachable')
        await ci.removeLeft().catch((error: unknown) => {
          if (!(error instanceof GitError) && !(error instanceof Error && error.name === 'AbortError')) throw error;
        });
      return state;
    },
    joinRemote: (remote) => joinRemote(site, remote),
    isPublished: (commit) => isPublished(site, commit),
    pushTarget: (commit) => pushTarget(site, commit),
    offerToCi: (commit) => ci.offer(commit),
    withdrawFromCi: (commit) => ci.withdraw(commit),
    pushBranch: (task, proven) => at(task, (place) => pushBranch(site, place, proven)),
    followMerge: (task, merged) => at(task, (place) => followMerge(site, place, merged)),
    mergeTarget: (task) => at(task, (place) => mergeTargetInto(site, place)),
    mergeLosses: (task) => lossesOf(site, site.place(task)),
    ...makeConflictEditor(site, { at, ifThere }),
    remove: (task) =>
      site.perTask(site.place(task).name)(() => removeTask(site, trash, site.place(task), 'the task was removed')),
    present: async (tasks) => {
      const found = new Set((await findLeaks(site, [])).map(({ name }) => name));
      return tasks.flatMap((task) => (found.has(site.place(task).name) ? task.branch : []));
    },
    leaks: async (alive) => (await findLeaks(site, alive)).flatMap(({ what }) => what),
    collectGarbage: async (alive) => {
      await removeScratches(site);
      return collect(site, trash, alive);
    },
    scratch: (name) => openScratch(site, name),
    bench: (name, commit) => spaceMatters(() => openBench(site, name, commit)),
    withTexts: (commit, texts, addition) => spaceMatters(() => withTexts(site, commit, texts, addition)),
    withFilesOf: (commit, other, files) => withFilesOf(site, commit, other, files),
    putBack: (tree, base, files) => putFilesBack(site, tree, base, files),
    commitOf: (tree, parent) => commitTree(site, tree, [parent], 'fixed by a gate'),
    parentOf: async (commit) => (await site.resolver.resolve([`${commit}^1^{commit}`]))[0] ?? null,
    snapshots: () => listSnapshots(site),
    dropSnapshots: (snapshots) => site.shared(() => dropSnapshots(site, snapshots)),
    lookAtWork: (task, maxBytes, signal) => lookAtWork(site, site.place(task), { maxBytes, signal }),
    lookAtCommit: (commit, maxBytes, signal) => lookAtCommit(site, commit, { maxBytes, signal }),
    filesOfChange: (task, commit) => readIn(task, commit, listFiles),
    fileOfChange: (task, commit, path, maxBytes) =>
      readIn(task, commit, (compared) => readFile(compared, path, maxBytes)),
    commitFile: (file, text, message) => site.landing(() => spaceMatters(() => commitFile(site, file, text, message))),
    commitToBranch: (files) => site.shared(() => spaceMatters(() => commitToBranch(site, files))),
    restoreSnapshot: (ref, to) => restoreInto(site, ref, to),
    async close() {
      await pool.close();
      await trash.settled({ atMostMs: TRASH_MS });
      await Promise.all([site.resolver.close(), site.blobs.close()]);
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

async function openTask(site: Site, place: Standing): Promise<Worktree> {
  if (await isThere(place.marker))
    await putBack(site, place, 'the worktree was left showing a candidate, or in between');
  const [{ tip }, target] = await Promise.all([tipOf(site, place), site.target()]);
  const base = await site.mergeBase(tip, target);
  const { number, branch, path } = place;
  // It has no commit and no files of its own, so it can start from the newest target.
  if (base !== tip || base === target || !(await isUntouched(site, place, tip))) {
    await fillSubmodules(site, place, tip, { isExact: false });
    return { number, branch, path, base, tip };
  }
  await moveTo(site, place, { commit: target, attached: true }, 'moved on to the newest target');
  await moveRefs(site, [{ ref: place.tipRef, to: target, from: tip }]);
  await fillSubmodules(site, place, target, { isExact: false });
  return { number, branch, path, base: target, tip: target };
}

async function diffOf(site: Site, place: Place, maxBytes: number): Promise<Change> {
  const [tip, target] = await Promise.all([branchTip(site, place), site.target()]);
  const base = await site.mergeBase(tip, target);
  return base === tip ? { files: [], sections: [], isCut: false } : readChange(site.git, [base, tip], { maxBytes });
}

async function provenCommits(site: Site, limit: number) {
  const format = '--format=%H%x00%ct%x00%(trailers:key=Evidence,valueonly,separator=%x2C)';
  const { stdout } = await site.git(['log', `--max-count=${limit}`, format, await site.target(), '--']);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', seconds = '', evidence = ''] = line.split('\0');
    return /^[0-9a-f]{64}$/.test(evidence) ? [{ commit, evidence, at: Number(seconds) * 1000 }] : [];
  });
}

async function recentCommits(site: Site, limit: number) {
  const format = '--format=%H%x00%s%x00%b%x00%x00';
  const { stdout } = await site.git(['log', `--max-count=${limit}`, format, await site.target(), '--']);
  return stdout.split('\0\0\n').flatMap((entry) => {
    const [commit = '', subject = '', body = ''] = entry.split('\0');
    if (commit.trim() === '') return [];
    const reverts = [...body.matchAll(/\breverts commit ([0-9a-f]{7,64})/gi)].map(([, hash = '']) => hash);
    return [{ commit: commit.trim(), subject: plainLine(subject).slice(0, 200), reverts }];
  });
}

async function removeTask(site: Site, trash: Trash, place: Place, why: string): Promise<void> {
  const admin = await findAdmin(site, place);
  const [tip, branch] = await site.resolver.resolve([`${place.tipRef}^{commit}`, `${place.branchRef}^{commit}`]);
  const last = tip ?? branch;
  const [hasLanded] = await Promise.all([
    last ? isLanded(site, last) : true,
    saveRest(site, trash, place, { admin, last: last ?? null }, why),
  ]);
  if (await isThere(place.path)) await site.options.beforeRemoval?.(place.path);
  await takeDown(site, trash, place, last && !hasLanded ? [last] : []);
}

/** Files that differ from the last commit, and commits that are on no branch of ours. */
async function saveRest(
  site: Site,
  trash: Trash,
  place: Place,
  { admin, last }: { admin: string | null; last: string | null },
  why: string,
): Promise<void> {
  const hasFiles = await isThere(place.path);
  if (hasFiles && admin && last) await takeSnapshot(site, await stand(site, trash, place, []), why);
  else if (hasFiles) await snapshotFolder(site, place, last ? [last] : [], why);
  else if (admin && last) {
    const strays = await strayCommits(site, { ...place, admin }, last);
    if (strays.length > 0) await keepCommits(site, place, last, strays, why);
  }
}

/** A leftover that cannot be removed does not block the others. */
async function collect(site: Site, trash: Trash, alive: WorktreeRef[]): Promise<string[]> {
  const gone: string[] = [];
  const failures: unknown[] = [];
  for (const leak of await findLeaks(site, alive)) {
    const place = leakedPlace(site, leak);
    const why = 'left over from a task that is no longer active';
    await site
      .perTask(place.name)(() => removeTask(site, trash, place, why))
      .then(
        () => gone.push(...leak.what),
        (error: unknown) => failures.push(error),
      );
  }
  if (failures.length > 0) throw failures[0];
  return gone;
}

const leakedPlace = (site: Site, leak: Leak): Place => {
  const place = site.place({ number: leak.number, branch: leak.branch || `task/${leak.name}` });
  return { ...place, path: join(site.dataDir, 'worktrees', leak.name) };
};

async function restoreInto(site: Site, ref: string, to: string): Promise<string> {
  const full = ref.startsWith(`${SNAPSHOTS}/`) ? ref : `${SNAPSHOTS}/${ref}`;
  const [commit] = await site.resolver.resolve([`${full}^{commit}`]);
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
  const index = join(site.dataDir, 'index', `restore-${process.pid}-${site.next()}.look`);
  try {
    await site.git(['read-tree', '-u', '--reset', commit], {
      cwd: folder,
      env: { GIT_WORK_TREE: folder, GIT_INDEX_FILE: index },
    });
  } finally {
    await rm(index, { force: true });
  }
  return folder;
}
