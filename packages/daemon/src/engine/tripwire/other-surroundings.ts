import { addedLines, isCode, looksAround } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { textsOf } from './candidate-copy.ts';
import type { BlindGate, Planting, TrialCandidate } from './planting.ts';

const MOST_LOOKED_AT = 200;

/**
 * Gates that the work passes only where it is proven: they fail twice in other surroundings, where the target passes. They
 * are run there only if the work adds code that looks at its surroundings.
 */
export async function failingInOtherSurroundings(
  deps: EngineDeps,
  { commit, base }: TrialCandidate,
  { elsewhere }: Pick<Planting, 'elsewhere'>,
  gates: string[],
): Promise<BlindGate[]> {
  if (gates.length === 0 || !(await addsLooks(deps, commit, base))) return [];
  const found: string[] = [];
  let asked = gates;
  // What was prepared may work at its path only. Then the target fails at another one, too.
  for (const isMoved of [true, false]) {
    const having = async (of: 'candidate' | 'target', those: string[], sight: string) => {
      const sights = await elsewhere(of, those, isMoved);
      return those.filter((gate) => sights.get(gate) === sight);
    };
    const failed = await having('candidate', asked, 'noticed');
    const again = await having('candidate', failed, 'noticed');
    const own = await having('target', again, 'passed');
    found.push(...own);
    asked = again.filter((gate) => !own.includes(gate));
    if (asked.length === 0) break;
  }
  return found.map((gate) => ({ gate, mutants: [], isElsewhere: true }));
}

async function addsLooks(deps: EngineDeps, commit: string, base: string): Promise<boolean> {
  const [after, before] = await Promise.all([commit, base].map((at) => deps.workspace.filesAt(at, ['**'])));
  const known = new Map(before);
  const changed = after!.filter(([path, oid]) => isCode(path) && known.get(path) !== oid).map(([path]) => path);
  if (changed.length > MOST_LOOKED_AT) return true;
  if (changed.length === 0) return false;
  const [now, old] = await Promise.all([textsOf(deps, commit, changed), textsOf(deps, base, changed)]);
  return [...now].some(([path, text]) => looksAround(addedLines(old.get(path) ?? '', text)));
}
