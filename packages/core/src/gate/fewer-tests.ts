import { type Evidence, type GateCounts, ranTests } from '@tidemill/contract';
import type { Deciding } from './deciding/changed-file.ts';

/** Did fewer tests run than before, or were more skipped? */
export const hasFewerTests = (before: GateCounts, after: GateCounts): boolean =>
  ranTests(after) < ranTests(before) || after.skipped > before.skipped;

/**
 * Was the receipt made with these figures of the target in view? Another target makes it void where tests are missing: a tree
 * may have been proven long ago, when the target had fewer.
 */
export function isComparedWith(
  { counts, fewerThan }: Pick<Evidence, 'counts' | 'fewerThan'>,
  target: GateCounts | null,
): boolean {
  if (!target || ranTests(target) === 0) return true;
  if (!counts || ranTests(counts) === 0) return false;
  if (!hasFewerTests(target, counts)) return true;
  return fewerThan !== undefined && ranTests(fewerThan) === ranTests(target) && fewerThan.skipped === target.skipped;
}

/**
 * Gates that ran fewer tests than on the target, as findings for anyone who decides about the change. An approval is for the
 * difference: when the target gets new tests meanwhile, nobody is asked again.
 */
export function fewerTests(links: Iterable<Pick<Evidence, 'gate' | 'counts' | 'fewerThan'>>): Deciding[] {
  return [...links].flatMap(({ gate, counts, fewerThan }) => {
    if (!counts || !fewerThan) return [];
    const missing = ranTests(fewerThan) - ranTests(counts);
    const skipped = counts.skipped - fewerThan.skipped;
    const whys = [
      ...(missing > 0 ? [`ran ${ranTests(counts)} tests, and ${ranTests(fewerThan)} on the target`] : []),
      ...(skipped > 0 ? [`skipped ${counts.skipped} tests, and ${fewerThan.skipped} on the target`] : []),
    ];
    return [{ file: `gate ${gate}`, why: whys.join('; '), content: `counts ${gate} ${missing} ${skipped}` }];
  });
}
