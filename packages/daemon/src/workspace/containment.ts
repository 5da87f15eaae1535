import type { GitContext } from './git-context.ts';
import { isAncestor } from './ref.ts';

/** Implements `Workspace.isLanded`. */
export async function isLanded(context: GitContext, commit: string): Promise<boolean> {
  const [known] = await context.resolver.resolve([`${commit}^{commit}`]);
  return known !== null && known !== undefined && isInTarget(context, known, await context.target());
}

/** Commits of the target that are looked at one by one: as many as a large batch has. */
const NEAREST = 12;

/**
 * Whether the target contains the commit. A commit with one parent contains what its parent contains, and itself. So the
 * newest commits are followed back to one whose merge base with the commit is known; only otherwise git is started.
 */
async function isInTarget(context: GitContext, commit: string, target: string): Promise<boolean> {
  for (let [at, steps] = [target, 0]; steps < NEAREST; steps += 1) {
    if (at === commit) return true;
    const base = context.knownMergeBase(commit, at);
    if (base !== undefined) return base === commit;
    const [parent, second] = await context.resolver.resolve([`${at}^1^{commit}`, `${at}^2^{commit}`]);
    if (!parent || second) break;
    at = parent;
  }
  return isAncestor(context.git, commit, target);
}
