import { dirname, join } from 'node:path';
import type { Checkout } from './checkout.ts';
import type { GitContext } from './git-context.ts';
import { isThere } from './registered-worktree.ts';

/**
 * Repositories of their own inside a person's checkout that would get files of these paths. They are not part of the outer
 * repository, so a landing must not write into them; git itself would. A folder with files that the outer one tracks is the
 * outer one's, too.
 */
export async function innerRepositories(
  context: GitContext,
  checkout: Checkout,
  base: string,
  added: readonly string[],
): Promise<string[]> {
  const folders = new Set<string>();
  for (const path of added) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at);
  const found: string[] = [];
  for (const folder of folders) {
    if (!(await isThere(join(checkout.path, folder, '.git')))) continue;
    const [tracked] = await context.resolver.resolve([`${base}:${folder}`]);
    if (!tracked) found.push(folder);
  }
  return found;
}

export const innerText = (checkout: Checkout, [first = '', ...more]: string[]): string =>
  `in ${checkout.path} ${first}${more.length > 0 ? ` and ${more.length} more` : ''} is a repository of its own, and the work adds files to it; move it away, or cancel the task, so that landing can continue`;
