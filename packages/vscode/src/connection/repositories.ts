import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The top folders of the git repositories of a workspace: the one that contains a folder, or else those directly inside it.
 * No program runs for this, because the workspace may not be trusted.
 */
export function repositoriesIn(folders: readonly string[]): string[] {
  const found = folders.flatMap((folder) => {
    const above = repositoryAround(folder);
    return above ? [above] : repositoriesBelow(folder);
  });
  return [...new Set(found)];
}

function repositoryAround(folder: string): string | null {
  if (!existsSync(folder)) return null;
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return null;
  }
}

function repositoriesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const top = realpathSync(folder);
  return readdirSync(top, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(top, entry.name, '.git')))
    .map((entry) => join(top, entry.name))
    .sort();
}

/** The chosen one if it is still there, else the first. */
export const repositoryOf = (found: readonly string[], chosen: string | undefined): string | null =>
  found.find((each) => each === chosen) ?? found[0] ?? null;
