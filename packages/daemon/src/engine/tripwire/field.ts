import {
  addedLines,
  isTested,
  looksAtItself,
  type Mutant,
  mutantsOf,
  plantable,
  planted,
  reachOf,
  testedStems,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** How many changed files are looked at, and how many others. */
const MOST_CHANGED = 3;
const MOST_OTHERS = 12;
/** Files that are broken together to see whether a gate reads any of them. */
const MOST_BROKEN = 100;

/** A program of the target that the candidate still has. */
export interface Source {
  path: string;
  /** Its content on the target, and in the candidate. */
  before: { oid: string; text: string };
  after: { oid: string; text: string };
}

/** A fault that can be planted in the candidate and in the target. */
export interface PlantedFault {
  mutant: Mutant;
  source: Source;
}

/** Where faults can be planted. */
export interface Field {
  /** In files that the candidate changes. The ones first that can affect how they are tested. */
  changed: Source[];
  others: Source[];
  /** Added code could recognise that its own file was changed. */
  isSelfAware: boolean;
  /** Identifies everything but the content of the sources: tests, settings, the names of all files. */
  surroundings: string;
}

/** `isSame`: there is no candidate, only the target. */
export async function fieldOf(deps: EngineDeps, commit: string, base: string, seed: string): Promise<Field> {
  const { workspace, hash, project, gates } = deps;
  const [after, before] = await Promise.all([workspace.filesAt(commit, ['**']), workspace.filesAt(base, ['**'])]);
  const afterOids = new Map(after);
  const beforeOids = new Map(before);
  const paths = [...afterOids.keys()];
  const commands = gates.checks.map(({ run }) => run);
  const programs = plantable(paths, project.rules.source ?? [], commands);
  const common = programs.filter((path) => beforeOids.has(path));
  const chance = (path: string) => hash(`${seed} ${path}`);
  const inRandomOrder = common.map((path) => ({ path, chance: chance(path) })).sort(byChance);
  const stems = testedStems(paths);
  const isChanged = (path: string) => afterOids.get(path) !== beforeOids.get(path);
  const changedPaths = inRandomOrder.filter(({ path }) => isChanged(path)).map(({ path }) => path);
  const otherPaths = inRandomOrder
    .filter(({ path }) => !isChanged(path))
    .map(({ path }) => path)
    .sort((one, other) => Number(isTested(other, stems)) - Number(isTested(one, stems)))
    .slice(0, MOST_BROKEN);
  const texts = await textsOf(deps, base, [...changedPaths.slice(0, MOST_BROKEN), ...otherPaths]);
  const newTexts = changedPaths.length === 0 ? texts : await textsOf(deps, commit, changedPaths.slice(0, MOST_BROKEN));
  const source = (path: string): Source[] => {
    const text = texts.get(path);
    const newText = isChanged(path) ? newTexts.get(path) : text;
    if (text === undefined || newText === undefined || text.includes('\ufffd')) return [];
    return [
      { path, before: { oid: beforeOids.get(path)!, text }, after: { oid: afterOids.get(path)!, text: newText } },
    ];
  };
  const changed = changedPaths.flatMap(source);
  const added = new Map(changed.map(({ path, before: b, after: a }) => [path, addedLines(b.text, a.text)]));
  const sources = new Set(programs);
  const rest = after.filter(([path]) => !sources.has(path)).map((entry) => entry.join(' '));
  return {
    changed: changed.sort((one, other) => reachOf(added.get(other.path)!) - reachOf(added.get(one.path)!)),
    others: otherPaths.flatMap(source),
    isSelfAware: [...added.values()].some(looksAtItself),
    surroundings: hash([...programs, '', ...rest].join('\n')).slice(0, 24),
  };
}

const byChance = (one: { chance: string }, other: { chance: string }) => (one.chance < other.chance ? -1 : 1);

async function textsOf({ workspace }: EngineDeps, commit: string, paths: string[]): Promise<Map<string, string>> {
  const trees = { base: commit, tree: commit };
  return (await workspace.changedFiles(null, { trees, alsoBefore: paths })).before;
}

/**
 * The faults of some files in the order in which they are tried: those first that are known to be noticed, then one of each
 * file in turn, and faults that only change a value before those that end the program: an assertion that was made blind
 * does not notice the former. Which one is chance, so that no code can be written for it.
 */
export function* faultsIn(
  { hash }: Pick<EngineDeps, 'hash'>,
  sources: Source[],
  seed: string,
  noticed: readonly Mutant[],
): Generator<PlantedFault> {
  const fits = (source: Source) => (mutant: Mutant) =>
    planted(source.before.text, mutant) !== null && planted(source.after.text, mutant) !== null;
  const inOrder = (source: Source, mutants: readonly Mutant[]): PlantedFault[] => {
    const drawn = mutants
      .filter(fits(source))
      .map((mutant) => ({
        mutant,
        source,
        chance: `${kindRank(mutant)} ${hash(`${seed} ${mutant.line} ${mutant.after}`)}`,
      }))
      .sort(byChance);
    // Another line each time: two faults of one line are often the same fault.
    const lines = new Set<string>();
    return drawn.filter(({ mutant }) => !lines.has(mutant.before) && lines.add(mutant.before));
  };
  const perSource = sources.map((source) => {
    const known = noticed.filter(({ file, kind }) => file === source.path && kind === 'value');
    const fresh = mutantsOf(source.path, source.before.text).filter(({ kind }) => kind !== 'syntax');
    return { known: inOrder(source, known), fresh: inOrder(source, fresh) };
  });
  yield* inTurn(perSource.map(({ known }) => known));
  yield* inTurn(perSource.map(({ fresh }) => fresh));
}

const kindRank = ({ kind }: Mutant): number => (kind === 'value' ? 0 : 1);

function* inTurn(lists: PlantedFault[][]): Generator<PlantedFault> {
  for (let round = 0; lists.some((faults) => round < faults.length); round += 1)
    for (const faults of lists) {
      const fault = faults[round];
      if (fault) yield fault;
    }
}

export const nearest = (field: Field): { changed: Source[]; others: Source[] } => ({
  changed: field.changed.slice(0, MOST_CHANGED),
  others: field.others.slice(0, MOST_OTHERS),
});

/** All files with a syntax error each: whoever reads one of them fails. */
export function brokenTexts(field: Field, side: 'before' | 'after'): Map<string, string> {
  return new Map(
    [...field.changed, ...field.others].slice(0, MOST_BROKEN).flatMap((source) => {
      const { text } = source[side];
      const mutant = mutantsOf(source.path, text).find(({ kind }) => kind === 'syntax');
      const faulty = mutant ? planted(text, mutant) : null;
      return faulty === null ? [] : [[source.path, faulty] as const];
    }),
  );
}
