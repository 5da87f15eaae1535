import { nameOf } from '../deciding/names.ts';

/** Lines that load other files, and texts in quotes, which may name them. */
const LOADS = /^.*\b(?:import|require|from|use|mod|include|source|load|extern)\b.*$|^\s*\.\s.*$/gm;
const QUOTED = /(["'`])([^"'`\n]{1,200})\1/g;
/** Files that are loaded by the name of their folder. */
const OF_FOLDER = /^(index|mod|__init__|main|lib)\.\w+$/;
const FARTHEST = 4;

/**
 * How near each file is to a change, by the names that files load: 0 for a changed file, more for the files that load it and
 * for what these load beside it. What a change can make blind is near. A wrong order costs time, or a chance to notice.
 */
export function nearTo(changed: readonly string[], texts: ReadonlyMap<string, string>): Map<string, number> {
  const words = new Map([...texts].map(([path, text]) => [path, wordsOf(text)]));
  const loads = (one: string, other: string) => one !== other && words.get(one)?.has(stemOf(other)) === true;
  const near = new Map(changed.filter((path) => texts.has(path)).map((path) => [path, 0]));
  const spread = (from: string[], distance: number, isNext: (path: string, known: string) => boolean) => {
    const found = [...texts.keys()].filter((path) => !near.has(path) && from.some((known) => isNext(path, known)));
    for (const path of found) near.set(path, distance);
    return found;
  };
  // First all that load the change, directly or not: what they do may be different now.
  let last = [...near.keys()];
  for (let distance = 1; last.length > 0 && distance <= FARTHEST; distance += 1)
    last = spread(last, distance, (path, known) => loads(path, known));
  // Then what these load beside it: a fault there is noticed by them.
  spread([...near.keys()], FARTHEST + 1, (path, known) => loads(known, path));
  return near;
}

function wordsOf(text: string): ReadonlySet<string> {
  const named = [...text.matchAll(LOADS)].map(([line]) => line);
  const quoted = [...text.matchAll(QUOTED)].map(([, , inner]) => inner ?? '');
  return new Set([...named, ...quoted].flatMap((each) => each.toLowerCase().match(/[\w-]+/g) ?? []));
}

function stemOf(path: string): string {
  const parts = path.toLowerCase().split('/');
  const name = OF_FOLDER.test(nameOf(path).toLowerCase()) ? (parts.at(-2) ?? '') : parts.at(-1)!;
  return name.replace(/\.\w+$/, '');
}
