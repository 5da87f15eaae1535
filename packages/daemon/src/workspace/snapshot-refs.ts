import type { Snapshot, WorktreeRef } from '../ports.ts';
import type { GitContext, TaskPaths } from './git-context.ts';
import { isAncestor, moveRefs, NOTHING, type RefChange } from './ref.ts';

/** Hidden refs: no branch list shows them, no push sends them, and git never collects what they hold. */
export const SNAPSHOTS = 'refs/tidemill/snapshots';

const nextRef = (context: GitContext, number: number): string =>
  `${SNAPSHOTS}/${number}/${Math.floor(context.clock.now())}-${context.next()}`;

const subject = (number: number, why: string): string => `snapshot #${number}: ${why.replace(/\s+/g, ' ').trim()}`;

export async function writeSnapshot(
  context: GitContext,
  { number, branch }: WorktreeRef,
  { tree, parents, why }: { tree: string; parents: string[]; why: string },
): Promise<string> {
  const from = [...new Set(parents)].flatMap((parent) => ['-p', parent]);
  const input = `${subject(number, why)}\n\nTask: #${number}\nBranch: ${branch}\n`;
  const { stdout } = await context.git(['commit-tree', tree, ...from], { input });
  const ref = nextRef(context, number);
  await moveRefs(context, [{ ref, to: stdout.trim(), from: NOTHING }]);
  return ref;
}

/** Keeps those of the commits that the tip does not contain. */
export async function keepCommits(
  context: GitContext,
  place: TaskPaths,
  tip: string,
  commits: string[],
  why: string,
): Promise<string | null> {
  const strays = await notContained(context, tip, commits);
  if (strays.length === 0) return null;
  const [tree] = await context.resolver.resolve([`${strays[0]}^{tree}`]);
  return writeSnapshot(context, place, { tree: tree!, parents: strays, why });
}

export async function notContained(context: GitContext, tip: string, commits: string[]): Promise<string[]> {
  const others = [...new Set(commits)].filter((commit) => commit !== tip);
  const contained = await Promise.all(others.map((commit) => isAncestor(context.git, commit, tip)));
  return others.filter((_, i) => !contained[i]);
}

/** The ref change that keeps a commit as it is; cheaper than a commit about it, so done for every removed branch. */
export const keepAsIs = (context: GitContext, number: number, commit: string): RefChange => ({
  ref: nextRef(context, number),
  to: commit,
  from: NOTHING,
});

const KEPT_AS_IS = "the branch's commits, kept when its worktree was removed";

export async function listSnapshots(context: GitContext): Promise<Snapshot[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(contents:subject)';
  const { stdout } = await context.git(['for-each-ref', format, `${SNAPSHOTS}/`]);
  const found = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [ref = '', commit = '', text = ''] = line.split('\0');
      const [number = '0', at = '0'] = ref.slice(SNAPSHOTS.length + 1).split(/[/-]/);
      const why = /^snapshot #\d+: (.*)$/.exec(text)?.[1] ?? KEPT_AS_IS;
      return { ref, commit, number: Number(number), at: Number(at), why };
    });
  return found.sort((a, b) => a.at - b.at);
}

/** In one call. A snapshot that was removed in the meantime is no error. */
export async function dropSnapshots(
  context: GitContext,
  snapshots: readonly Pick<Snapshot, 'ref' | 'commit'>[],
): Promise<void> {
  const own = snapshots.filter(({ ref }) => ref.startsWith(`${SNAPSHOTS}/`));
  const there = await context.resolver.resolve(own.map(({ ref }) => ref));
  const same = own.filter(({ commit }, index) => there[index] === commit);
  if (same.length > 0)
    await moveRefs(
      context,
      same.map(({ ref, commit }) => ({ ref, to: null, from: commit })),
    );
}
