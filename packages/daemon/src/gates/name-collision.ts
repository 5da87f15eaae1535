import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { migrationOf, sameNumber } from '@tidemill/core';
import { looseParts } from './person-files.ts';

/** The text of files on the target; see `GateRequest`. */
type Before = (files: string[]) => Promise<Map<string, string>>;

/**
 * Finds names that are the same where case or Unicode forms do not count (macOS, Windows): there a clone has only one of
 * the two files, and nobody knows which. Reads folders instead of the list of git, because the real names must differ.
 */
export function collisionFinder(folder: string, before: Before | undefined): (file: string) => Promise<string | null> {
  const folders = new Map<string, Promise<Map<string, string[]>>>();
  const namesIn = (place: string) => {
    const known = folders.get(place) ?? grouped(path.join(folder, place));
    folders.set(place, known);
    return known;
  };
  return async (file) => {
    const parts = path.posix.normalize(file).split('/');
    for (const [index, part] of parts.entries()) {
      const parent = parts.slice(0, index).join('/');
      const same = (await namesIn(parent)).get(loose(part)) ?? [];
      const other = same.includes(part) ? same.find((name) => name !== part) : undefined;
      if (other === undefined) continue;
      // A file that the target has already is not the fault of this change.
      return (await before?.([file]))?.has(file) ? null : path.posix.join(parent, other);
    }
    return null;
  };
}

const loose = (name: string) => looseParts(name).join('/');

async function grouped(place: string): Promise<Map<string, string[]>> {
  const names = await readdir(place).catch(() => []); // deleted, or a link in its place
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(loose(name), [...(groups.get(loose(name)) ?? []), name]);
  return groups;
}

/**
 * Finds two migrations with one number: tasks that are built at the same time can take the same one, and git sees no conflict.
 * Where the target has such twins already, numbers need not differ there.
 */
export async function numberTwin(
  folder: string,
  file: string,
  changed: readonly string[],
  before: Before | undefined,
): Promise<string | null> {
  const own = migrationOf(file);
  if (!own) return null;
  const names = await readdir(path.join(folder, own.folder)).catch(() => []);
  const all = names.map((name) => path.posix.join(own.folder, name));
  if (!all.includes(file)) return null;
  const other = sameNumber(file, all);
  if (other === null || (await before?.([file]))?.has(file)) return null;
  const old = all.filter((name) => !changed.includes(name));
  return old.some((name) => sameNumber(name, old) !== null) ? null : other;
}
