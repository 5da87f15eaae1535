import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ChildHost } from './child.ts';
import { sandboxStatus } from './sandbox.ts';

/** Whether the folder is a clean checkout in which work is proven. */
const isProof = (folder: string): boolean => path.basename(path.dirname(folder)) === 'proofs';

/** Folders in which a build machine might keep a clone. */
const PARENTS = ['/builds', '/workspace', '/src', '/checkout', '/project'];

/** The first folder that this machine does not have, so that nothing of it is covered. */
const usualParent = PARENTS.find((folder) => !existsSync(folder)) ?? PARENTS[0]!;

/** Nothing has its path in it. */
const OTHER_PARENT = '/code/mine';

/**
 * Where a sandbox shows this clean checkout as a clone of the project. Null: it shows the folder itself. `isMoved`: not at the
 * usual place of a proof.
 */
export async function clonePath(
  { root, sandbox }: Pick<ChildHost, 'root' | 'sandbox'>,
  folder: string,
  isMoved = false,
): Promise<string | null> {
  if (sandbox !== 'auto' || !isProof(folder) || !(await sandboxStatus()).available) return null;
  return clonePlace(root, isMoved ? OTHER_PARENT : usualParent);
}

function clonePlace(root: string, parent: string): string {
  const name = path.basename(root).replace(/[^\w.-]/g, '-');
  return path.join(parent, /^[.-]*$/.test(name) ? 'project' : name);
}
