/**
 * Names of layers. `landed-HASH`: made from a tree of the target, and used by everybody whose input files are the same.
 * `task-NUMBER-HASH`: made from a tree that has not landed. Its hash covers the tree, and nobody else uses it.
 */
export const landedKey = (hash: string) => `landed-${hash}`;
export const taskKey = (task: number | undefined, hash: string) => `task-${task ?? 0}-${hash}`;

/** The task whose work the layer was made from; null if it was made from the target. */
export function taskOf(key: string): number | null {
  const number = /^task-(\d+)-/.exec(key)?.[1];
  return number === undefined ? null : Number(number);
}

export const isKey = (name: string) => /^(landed|task-\d+)-[0-9a-f]+$/.test(name);
