import { join } from 'node:path';
import { nulList } from '../git/output.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { isThere } from './registered-worktree.ts';

const GITLINK = '160000';

/** The commit of a submodule is only in the index, so the files do not show what was chosen. */
export async function takeOverLinks(context: GitContext, place: RegisteredWorktree, sides: string[]): Promise<void> {
  if (!(await isThere(join(place.path, '.gitmodules')))) return;
  const known = new Set<string>();
  for (const side of sides) {
    const { stdout } = await context.git(['ls-tree', '-r', '-z', side]);
    for (const line of nulList(stdout)) if (line.startsWith(GITLINK)) known.add(line.replace(' commit ', ' '));
  }
  const theirIndex = context.gitAt(place, join(place.admin, 'index'));
  const { code, stdout } = await theirIndex(['ls-files', '-s', '-z'], { answers: [128] });
  // An agent has damaged it. The links stay as they were, and a link that the target moved counts as lost.
  if (code !== 0) return;
  const chosen = nulList(stdout).filter((line) => known.has(line.replace(/ 0\t/, '\t')));
  if (chosen.length === 0) return;
  const input = chosen.map((line) => `${line}\0`).join('');
  await context.gitAt(place)(['update-index', '--add', '-z', '--index-info'], { input });
}
