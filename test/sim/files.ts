/** The contents of a simulated tree, by path. */
export type Files = ReadonlyMap<string, string>;

/** Ids are made from contents, so two trees are equal exactly when their ids are. */
export function treeOf(files: Files): string {
  return [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => `${path}=${text}`)
    .join('|');
}

/** A conflict marker is left. */
export const isUnresolved = (files: Files): boolean => [...files.values()].some((text) => text.includes('<<<'));

/** The gate's result for these files. Both words of a pair fail together, although each alone passes; a third one mends it. */
export function isSound(files: Files): boolean {
  const text = [...files.values()].join(' ');
  const isTorn = text.includes('ebb') && text.includes('flood') && !text.includes('slack');
  return !text.includes('bug') && !isUnresolved(files) && !isTorn;
}

/** Three-way, file by file. */
export function merge(base: Files, theirs: Files, ours: Files): { files: Files; conflicts: string[] } {
  const files = new Map(theirs);
  const conflicts: string[] = [];
  for (const [path, text] of ours) {
    if (text === base.get(path) || text === theirs.get(path)) continue;
    if (theirs.get(path) !== base.get(path)) {
      conflicts.push(path);
      files.set(path, `<<<${theirs.get(path)}===${text}>>>`);
    } else files.set(path, text);
  }
  return { files, conflicts };
}

export function changed(from: Files, to: Files): string[] {
  return [...new Set([...from.keys(), ...to.keys()])].filter((path) => from.get(path) !== to.get(path));
}
