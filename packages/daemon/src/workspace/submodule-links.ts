import { join } from 'node:path';
import { nulList } from '../git/output.ts';
import type { Site, Standing } from './site.ts';
import { isThere } from './standing.ts';

const GITLINK = '160000';

/** The commit of a submodule is only in the index, so the files do not show what was chosen. */
export async function takeOverLinks(site: Site, place: Standing, sides: string[]): Promise<void> {
  if (!(await isThere(join(place.path, '.gitmodules')))) return;
  const known = new Set<string>();
  for (const side of sides) {
    const { stdout } = await site.git(['ls-tree', '-r', '-z', side]);
    for (const line of nulList(stdout)) if (line.startsWith(GITLINK)) known.add(line.replace(' commit ', ' '));
  }
  const theirIndex = site.gitAt(place, join(place.admin, 'index'));
  const { code, stdout } = await theirIndex(['ls-files', '-s', '-z'], { answers: [128] });
  // An agent has damaged it. The links stay as they were, and a link that the target moved counts as lost.
  if (code !== 0) return;
  const chosen = nulList(stdout).filter((line) => known.has(line.replace(/ 0\t/, '\t')));
  if (chosen.length === 0) return;
  const input = chosen.map((line) => `${line}\0`).join('');
  await site.gitAt(place)(['update-index', '--add', '-z', '--index-info'], { input });
}
