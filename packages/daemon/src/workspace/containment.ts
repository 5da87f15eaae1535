import { isAncestor } from './ref.ts';
import type { Site } from './site.ts';

/** Implements `Workspace.isLanded`. */
export async function isLanded(site: Site, commit: string): Promise<boolean> {
  const [known] = await site.resolver.resolve([`${commit}^{commit}`]);
  return known !== null && known !== undefined && isInTarget(site, known, await site.target());
}

/** Commits of the target that are looked at one by one: as many as a large batch has. */
const NEAREST = 12;

/**
 * Whether the target contains the commit. A commit with one parent contains what its parent contains, and itself. So the
 * newest commits are followed back to one whose merge base with the commit is known; only otherwise git is started.
 */
async function isInTarget(site: Site, commit: string, target: string): Promise<boolean> {
  for (let [at, steps] = [target, 0]; steps < NEAREST; steps += 1) {
    if (at === commit) return true;
    const base = site.knownMergeBase(commit, at);
    if (base !== undefined) return base === commit;
    const [parent, second] = await site.resolver.resolve([`${at}^1^{commit}`, `${at}^2^{commit}`]);
    if (!parent || second) break;
    at = parent;
  }
  return isAncestor(site.git, commit, target);
}
