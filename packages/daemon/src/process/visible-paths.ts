import { homedir } from 'node:os';
import path from 'node:path';
import { homesOf } from './home.ts';
import { type FoundMount, findMounts, isInside, mountArguments } from './mounts.ts';
import { ownMounts, standingMounts } from './sandbox.ts';

/** Describes what a sandbox can see. Derived from the mounts, so that it is always accurate. */
export interface VisiblePaths {
  /** For every project on this machine. */
  machine: string;
  /** In addition, for this project. */
  project: string;
}

export async function visiblePathsOf(about: {
  root: string;
  dataDir: string;
  readable: string[];
}): Promise<VisiblePaths> {
  const { root, dataDir, readable } = about;
  const homes = await homesOf(process.env.HOME);
  const surroundings = { homes, searchPath: process.env.PATH ?? '', dataDir, network: true };
  const standing = await findMounts(await standingMounts(surroundings));
  const request = {
    ...surroundings,
    worktree: dataDir,
    readOnlyWorktree: false,
    root,
    command: [],
    values: [],
    readable,
    writable: [],
    hidden: [],
  };
  const own = await findMounts(await ownMounts(request, path.join(dataDir, 'worktrees')));
  const places = (mounts: FoundMount[]) => uncovered(mounts.filter(({ kind }) => kind === 'readable'));
  const ofMachine = places(standing);
  const ofProject = places(own).filter((at) => !ofMachine.some((place) => at === place || isInside(at, place)));
  return {
    machine: `agents and gates can read ${listed(ofMachine)}; they have an empty /tmp and home folder of their own`,
    project: `they can read what git tracks in ${root}, and ${listed(ofProject)}; they write their worktree, and see nothing else`,
  };
}

/** Exactly the paths that are passed to bubblewrap. */
function uncovered(mounts: FoundMount[]): string[] {
  const words = mountArguments(mounts);
  const at = words.flatMap((word, index) => (word === '--ro-bind-try' ? [words[index + 2] as string] : []));
  const links = words.flatMap((word, index) => (word === '--symlink' ? [words[index + 2] as string] : []));
  return [...new Set([...at, ...links])].sort();
}

/** Groups paths of one folder: `/etc/{fonts,hosts}`. */
function listed(places: string[]): string {
  const folders = new Map<string, string[]>();
  for (const place of places) {
    const folder = path.dirname(place);
    folders.set(folder, [...(folders.get(folder) ?? []), path.basename(place)]);
  }
  const home = homedir();
  const short = (folder: string) =>
    folder === home || isInside(folder, home) ? `~${folder.slice(home.length)}` : folder;
  const grouped = [...folders].map(([folder, names]) => {
    const at = folder === path.sep ? '' : short(folder);
    return names.length === 1 ? `${at}/${names[0]}` : `${at}/{${names.join(',')}}`;
  });
  return grouped.join(' ');
}
