import {
  addedLines,
  isCode,
  isEmptyResult,
  isOfTests,
  isTested,
  isTestFile,
  looksAtItself,
  type Mutant,
  mutantsOf,
  nearTo,
  plantable,
  planted,
  reachOf,
  testedStems,
  touchesTests,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** How many changed files are looked at, and how many others. */
const MOST_CHANGED = 3;
const MOST_OTHERS = 12;
/** Files that are read to see which of them load what is changed. */
const MOST_LOADING = 600;
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
export interface CandidateCopy {
  /** In files that the candidate changes. The ones first that can affect how they are tested. */
  changed: Source[];
  /** In files that the change concerns otherwise: what its tests and new files load, and what loads them. */
  concerned: Source[];
  others: Source[];
  /** The candidate's tests that the target has in another version or not at all, and those that are gone. */
  tests: string[];
  /** The target has none of them. */
  addsTestsOnly: boolean;
  /** The tests that the candidate leaves as they are, and those of them that its own tests or a helper name: they may need them. */
  otherTests: { free: string[]; named: string[] };
  /** A fault in a changed file is not enough: another part of the change, or a look at its own file, may hide others. */
  isApart: boolean;
  /** The added code names the tools of tests, or changes what others use. */
  touchesTests: boolean;
  /** Identifies everything but the content of the sources: tests, settings, the names of all files. */
  surroundings: string;
}

/** `isSame`: there is no candidate, only the target. */
export async function candidateCopyOf(
  deps: EngineDeps,
  commit: string,
  base: string,
  seed: string,
): Promise<CandidateCopy> {
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
  const concern = await concernOf(deps, commit, paths.filter(isChanged), { all: paths, plantable: changedPaths });
  const rank = (path: string) => (concern.near.get(path) ?? FAR) * 2 - Number(isTested(path, stems));
  const otherPaths = inRandomOrder
    .filter(({ path }) => !isChanged(path))
    .map(({ path }) => path)
    .sort((one, other) => rank(one) - rank(other))
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
  const others = otherPaths.flatMap(source);
  const tests = [...new Set([...paths, ...beforeOids.keys()])].filter((path) => isOfTests(path) && isChanged(path));
  return {
    changed: changed.sort((one, other) => reachOf(added.get(other.path)!) - reachOf(added.get(one.path)!)),
    concerned: others.filter(({ path }) => concern.near.has(path)),
    others: others.filter(({ path }) => !concern.near.has(path)),
    tests,
    addsTestsOnly: !tests.some((path) => beforeOids.has(path)),
    otherTests: tests.length === 0 ? { free: [], named: [] } : await otherTests(deps, commit, paths, isChanged),
    isApart: concern.isApart || [...added.values()].some(looksAtItself),
    touchesTests: [...added.values()].some(touchesTests),
    surroundings: hash([...programs, '', ...rest].join('\n')).slice(0, 24),
  };
}

async function otherTests(
  deps: EngineDeps,
  commit: string,
  paths: string[],
  isChanged: (path: string) => boolean,
): Promise<CandidateCopy['otherTests']> {
  const all = paths.filter((path) => isCode(path) && isTestFile(path) && !isChanged(path));
  const naming = paths.filter((path) => isCode(path) && isOfTests(path) && (isChanged(path) || !isTestFile(path)));
  const texts = [...(await textsOf(deps, commit, naming.slice(0, MOST_LOADING))).values()].join('\n');
  const words = new Set(texts.match(/[\w.-]+/g));
  // `test_base` and `tests.test_base`, `base.test` and `base.test.js`.
  const isNamed = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stem = name.slice(0, name.lastIndexOf('.'));
    return words.has(name) || words.has(stem) || [...words].some((word) => word.endsWith(`.${stem}`));
  };
  return { free: all.filter((path) => !isNamed(path)), named: all.filter(isNamed) };
}

const FAR = 100;

/**
 * How near each file is to those parts of a change in which no fault can be planted: tests, new files, and files without
 * anything to break. `isApart`: one of them concerns none of the other changed sources.
 */
async function concernOf(
  deps: EngineDeps,
  commit: string,
  changed: string[],
  { all, plantable: own }: { all: string[]; plantable: string[] },
): Promise<{ near: Map<string, number>; isApart: boolean }> {
  if (changed.length === 0) return { near: new Map(), isApart: false };
  // What is changed may be a part of a program without being one by its name.
  const read = new Set([...changed, ...all.filter(isCode)]);
  const texts = await textsOf(deps, commit, [...read].slice(0, MOST_LOADING));
  const open = own.filter((path) => mutantsOf(path, texts.get(path) ?? '').some(({ kind }) => kind !== 'syntax'));
  const silent = changed.filter((path) => texts.has(path) && !open.includes(path));
  const isOther = (path: string) => !changed.includes(path) && !isOfTests(path);
  const isApart = silent.some((path) => {
    const near = nearTo([path], texts);
    return [...near.keys()].some(isOther) && !open.some((each) => near.has(each));
  });
  return { near: nearTo(silent.length > 0 ? silent : changed, texts), isApart: isApart && open.length > 0 };
}

const byChance = (one: { chance: string }, other: { chance: string }) => (one.chance < other.chance ? -1 : 1);

export async function textsOf(
  { workspace }: EngineDeps,
  commit: string,
  paths: string[],
): Promise<Map<string, string>> {
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
    const known = noticed.filter(
      (mutant) => mutant.file === source.path && mutant.kind === 'value' && !isEmptyResult(mutant),
    );
    const fresh = mutantsOf(source.path, source.before.text).filter(({ kind }) => kind !== 'syntax');
    return { known: inOrder(source, known), fresh: inOrder(source, fresh) };
  });
  yield* inTurn(perSource.map(({ known }) => known));
  yield* inTurn(perSource.map(({ fresh }) => fresh));
}

const kindRank = (mutant: Mutant): number => (mutant.kind !== 'value' ? 2 : Number(isEmptyResult(mutant)));

function* inTurn(lists: PlantedFault[][]): Generator<PlantedFault> {
  for (let round = 0; lists.some((faults) => round < faults.length); round += 1)
    for (const faults of lists) {
      const fault = faults[round];
      if (fault) yield fault;
    }
}

export const nearest = (field: CandidateCopy): Pick<CandidateCopy, 'changed' | 'concerned' | 'others'> => ({
  changed: field.changed.slice(0, MOST_CHANGED),
  concerned: field.concerned.slice(0, MOST_CHANGED),
  others: field.others.slice(0, MOST_OTHERS),
});

/** All files with a syntax error each: anyone who reads one of them fails. */
export function brokenTexts(field: CandidateCopy, side: 'before' | 'after'): Map<string, string> {
  return new Map(
    [...field.changed, ...field.concerned, ...field.others].slice(0, MOST_BROKEN).flatMap((source) => {
      const { text } = source[side];
      const mutant = mutantsOf(source.path, text).find(({ kind }) => kind === 'syntax');
      const faulty = mutant ? planted(text, mutant) : null;
      return faulty === null ? [] : [[source.path, faulty] as const];
    }),
  );
}
