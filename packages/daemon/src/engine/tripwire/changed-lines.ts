import { type Mutant, mutantsOf, planted } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Source } from './candidate-copy.ts';
import type { BlindGate, Examined, Planting } from './planting.ts';

/** Faults of either version that are planted before a gate counts as blind to the file. */
const MOST_OF_EACH = 3;

/** The faults of a file of which the candidate kept no line that could be broken. */
interface Rewritten {
  path: string;
  own: Mutant[];
  before: Mutant[];
}

/**
 * Files that the candidate rewrote: no fault fits both versions. There the versions are compared as a whole: a gate that
 * noticed a fault of the old text and notices none of the new one is blind.
 */
function rewrittenAmong({ hash }: Pick<EngineDeps, 'hash'>, sources: Source[], seed: string): Rewritten[] {
  const draw = (path: string, text: string) => {
    const values = mutantsOf(path, text).filter(({ kind }) => kind === 'value');
    const drawn = values.map((mutant) => ({ mutant, chance: hash(`${seed} ${mutant.line} ${mutant.after}`) }));
    drawn.sort((one, other) => (one.chance < other.chance ? -1 : 1));
    const lines = new Map(drawn.map(({ mutant }) => [mutant.before, mutant]));
    return [...lines.values()];
  };
  return sources.flatMap(({ path, before, after }) => {
    const old = draw(path, before.text);
    const own = draw(path, after.text);
    if (old.length === 0 || own.length === 0 || old.some((mutant) => planted(after.text, mutant) !== null)) return [];
    return [{ path, own: own.slice(0, MOST_OF_EACH), before: old.slice(0, MOST_OF_EACH) }];
  });
}

/** `open`: gates that have noticed nothing yet. Those that notice a fault of a new text are left out of the result. */
export async function examineChangedLines(
  deps: Pick<EngineDeps, 'hash'>,
  look: Planting & { seed: string },
  sources: Source[],
  gates: string[],
): Promise<Examined> {
  let open = gates;
  const blind: BlindGate[] = [];
  for (const { path, own, before } of rewrittenAmong(deps, sources, look.seed)) {
    const { before: old, after } = sources.find((source) => source.path === path)!;
    const sees = await noticing(look.onCandidate, { path, text: after.text, mutants: own }, open);
    open = open.filter((gate) => !sees.includes(gate));
    const saw = await noticing(look.onTarget, { path, text: old.text, mutants: before }, open);
    blind.push(...saw.map((gate) => ({ gate, mutants: own })));
    open = open.filter((gate) => !saw.includes(gate));
  }
  return { blind, open };
}

async function noticing(
  run: Planting['onTarget'],
  { path, text, mutants }: { path: string; text: string; mutants: Mutant[] },
  gates: string[],
): Promise<string[]> {
  let asked = gates;
  for (const mutant of mutants) {
    if (asked.length === 0) break;
    const sights = await run(new Map([[path, planted(text, mutant)!]]), asked);
    asked = asked.filter((gate) => sights.get(gate) !== 'noticed');
  }
  return gates.filter((gate) => !asked.includes(gate));
}
