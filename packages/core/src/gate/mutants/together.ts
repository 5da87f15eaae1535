import { linePairs } from './line-pairs.ts';
import { isEmptyResult, type Mutant, mutantsOf } from './mutants.ts';

interface Versions {
  before: string;
  after: string;
}

/**
 * Both versions with a fault in every line that they share, and in changed lines of which both versions can have one. What was
 * only added or removed stays as it is: code that makes tests blind is usually added, and code may have moved. `chance` draws
 * one of the faults that a line can have, the same in both versions of it. Null: there is no such line.
 */
export function brokenTogether(
  file: string,
  { before, after }: Versions,
  chance: (mutant: Mutant) => string,
): Versions | null {
  const [old, now] = [before, after].map((text) => ({
    lines: text.split('\n'),
    faults: faultsByLine(file, text, chance),
  }));
  const { kept, replaced } = linePairs(old!.lines, now!.lines);
  const broken = { before: [...old!.lines], after: [...now!.lines] };
  let isAny = false;
  const plant = (lines: 'before' | 'after', at: number) => {
    broken[lines][at] = (lines === 'before' ? old : now)!.faults.get(at)!;
    isAny = true;
  };
  for (const [was, is] of kept) {
    // A line may have become part of a comment.
    if (!old!.faults.has(was) || !now!.faults.has(is)) continue;
    plant('before', was);
    plant('after', is);
  }
  for (const hunk of replaced) {
    const open = hunk.after.filter((at) => now!.faults.has(at));
    if (open.length === 0) continue;
    for (const was of hunk.before.filter((at) => old!.faults.has(at))) {
      plant('before', was);
      for (const is of likest(old!.lines[was]!, open, now!.lines)) plant('after', is);
    }
  }
  return isAny ? { before: broken.before.join('\n'), after: broken.after.join('\n') } : null;
}

function faultsByLine(file: string, text: string, chance: (mutant: Mutant) => string): Map<number, string> {
  const drawn = new Map<number, { after: string; own: string }>();
  for (const mutant of mutantsOf(file, text)) {
    const own = `${Number(isEmptyResult(mutant))} ${chance(mutant)}`;
    const known = drawn.get(mutant.line - 1);
    if (mutant.kind === 'value' && (!known || own < known.own))
      drawn.set(mutant.line - 1, { after: mutant.after, own });
  }
  return new Map([...drawn].map(([line, { after }]) => [line, after]));
}

/** The new lines that have most words of an old one; all where none has any. */
function likest(line: string, among: number[], lines: string[]): number[] {
  const words = new Set(line.match(/\w+/g));
  const shared = among.map((at) => new Set((lines[at]!.match(/\w+/g) ?? []).filter((word) => words.has(word))).size);
  const most = Math.max(...shared);
  return among.filter((_, index) => shared[index] === most);
}
