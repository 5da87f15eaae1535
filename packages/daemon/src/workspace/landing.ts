import { join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { listedFiles } from '../git/output.ts';
import { GitError } from '../git/program.ts';
import type { Landing } from '../ports.ts';
import { changesBetween } from './capture.ts';
import { type Checkout, checkoutsOnTarget, dirtyText, lockedText, obstacleIn, untrackedText } from './checkout.ts';
import { inTurn } from './checkout-turn.ts';
import type { GitContext } from './git-context.ts';
import { innerRepositories, innerText } from './inner-repository.ts';
import { forgetLanding, noteLanding, undoInterrupted } from './interrupted.ts';
import { isAncestor } from './ref.ts';
import { isThere } from './registered-worktree.ts';

/**
 * Moves the target from `base` to `commit`, or does nothing:
 *
 *   the target is not checked out     → one compare-and-swap of the ref
 *   a person has it checked out       → git's own fast-forward there: files, then index, then ref
 *
 * git's order means that a target which has moved has its files in place. A fast-forward that was cut short before
 * that is undone first (see interrupted.ts), so every call starts from a checkout as the person left it.
 */
export async function landCommit(context: GitContext, commit: string, base: string): Promise<Landing> {
  const now = await context.target();
  if (now === commit || (now !== base && (await isAncestor(context.git, commit, now)))) return { kind: 'landed' };
  if (now !== base) return { kind: 'moved' };
  const [parent] = await context.resolver.resolve([`${commit}^1`]);
  if (parent !== base && !(await isAncestor(context.git, base, commit))) {
    throw new AppError(
      'git_failed',
      `${commit.slice(0, 10)} does not follow ${base.slice(0, 10)}, so it cannot land on it`,
    );
  }
  const checkouts = await checkoutsOnTarget(context);
  if (checkouts.length > 1) return { kind: 'waiting', why: twice(context, checkouts) };
  const [checkout] = checkouts;
  if (!checkout) return swap(context, commit, base);
  const landed = await inTurn(context, checkout, async (): Promise<Landing> => {
    // Another daemon may have landed before, or a git that survived its killed daemon has just finished.
    const found = await context.target();
    if (found === commit) return { kind: 'landed' };
    if (found !== base) return { kind: 'moved' };
    return fastForward(context, checkout, commit, base);
  });
  return (
    landed ?? { kind: 'waiting', why: `another Tidemill is landing in ${checkout.path}; landing continues after that` }
  );
}

export async function findObstacle(context: GitContext): Promise<string | null> {
  const checkouts = await checkoutsOnTarget(context);
  if (checkouts.length > 1) return twice(context, checkouts);
  const [checkout] = checkouts;
  if (!checkout) return null;
  await undoInterrupted(context, checkout);
  return (await obstacleIn(checkout))?.why ?? null;
}

const twice = (context: GitContext, checkouts: Checkout[]): string =>
  `${context.options.target} is checked out in ${checkouts.map(({ path }) => path).join(' and ')}; switch all but one to another branch so that landing can continue`;

async function swap(context: GitContext, commit: string, base: string): Promise<Landing> {
  try {
    await context.git(['update-ref', '-m', 'tidemill: landed', context.targetRef, commit, base]);
    return { kind: 'landed' };
  } catch (error) {
    return afterFailure(context, commit, base, error);
  }
}

const LOCK_PATIENCE_MS = 2_000;

async function fastForward(context: GitContext, checkout: Checkout, commit: string, base: string): Promise<Landing> {
  await awaitIndexLock(context, checkout);
  await undoInterrupted(context, checkout);
  const touched = new Set((await changesBetween(context, base, commit)).map(({ path }) => path));
  const obstacle = await obstacleIn(checkout, touched);
  if (obstacle) return { kind: 'waiting', why: obstacle.why };
  const inTheWay = await untrackedInTheWay(context, checkout, commit, base);
  if (inTheWay.length > 0) return { kind: 'waiting', why: untrackedText(checkout, inTheWay) };
  const inner = await innerRepositories(context, checkout, base, await addedPaths(context, commit, base));
  if (inner.length > 0) return { kind: 'waiting', why: innerText(checkout, inner) };
  await noteLanding(context, { path: checkout.path, base, commit });
  try {
    await checkout.git(['merge', ...FAST_FORWARD, commit]);
  } catch (error) {
    // A refusal of git changes nothing. After any other failure, files may have to be restored.
    if (!isRefusal(error)) await undoInterrupted(context, checkout);
    else await forgetLanding(context);
    return afterFailure(context, commit, base, error, checkout);
  }
  await forgetLanding(context);
  return { kind: 'landed' };
}

const FAST_FORWARD = [
  '-q',
  '--ff-only',
  '--no-stat',
  '--no-autostash',
  '--no-overwrite-ignore',
  '--no-verify',
  '--no-squash',
];

const UNTRACKED = /untracked working tree files/;
const LOCAL_CHANGES = /local changes to the following files/;
const INDEX_LOCKED = /index\.lock': File exists/;

const isRefusal = (error: unknown): boolean =>
  error instanceof GitError && [UNTRACKED, LOCAL_CHANGES, INDEX_LOCKED].some((text) => text.test(error.stderr));

/** Files the commit would add that are already there, untracked or ignored. */
async function untrackedInTheWay(
  context: GitContext,
  checkout: Checkout,
  commit: string,
  base: string,
): Promise<string[]> {
  const added = await addedPaths(context, commit, base);
  const there = await Promise.all(added.map((path) => isThere(join(checkout.path, path))));
  return added.filter((_, i) => there[i]);
}

const addedPaths = async (context: GitContext, commit: string, base: string): Promise<string[]> =>
  (await changesBetween(context, base, commit)).filter(({ status }) => status === 'A').map(({ path }) => path);

/** A person's `git status` holds the lock only briefly, so this waits for it. */
export async function awaitIndexLock(context: GitContext, checkout: Checkout): Promise<void> {
  const until = context.clock.now() + LOCK_PATIENCE_MS;
  while (context.clock.now() < until && (await isThere(join(checkout.gitDir, 'index.lock'))))
    await context.clock.sleep(50);
}

async function afterFailure(
  context: GitContext,
  commit: string,
  base: string,
  error: unknown,
  checkout?: Checkout,
): Promise<Landing> {
  const now = await context.target();
  if (now === commit) return { kind: 'landed' };
  if (now !== base) return { kind: 'moved' };
  const said = error instanceof GitError ? error.stderr : '';
  const files = listedFiles(said);
  if (checkout && UNTRACKED.test(said)) return { kind: 'waiting', why: untrackedText(checkout, files) };
  if (checkout && LOCAL_CHANGES.test(said)) {
    return {
      kind: 'waiting',
      why: dirtyText(
        checkout,
        files.map((path) => ({ path })),
      ),
    };
  }
  if (checkout && INDEX_LOCKED.test(said)) return { kind: 'waiting', why: lockedText(checkout) };
  const lock = /Unable to create '(.+?\.lock)': File exists/.exec(said)?.[1];
  if (lock) {
    const why = `another git command holds ${lock}; landing continues when it ends (if no git command is running, remove that file)`;
    return { kind: 'waiting', why };
  }
  throw error;
}
