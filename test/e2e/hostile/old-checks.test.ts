import { afterAll, beforeAll, describe } from 'vitest';
import { CHEATS, OldChecksBed, PAIRS, testCheats, testPairs } from '../../support/hostile/old-checks-bed.ts';

const MINUTE = 60_000;
/** One of each family; the long tests have all of them. */
const FAMILIES = /off inside its file \(Python\)|what a test reads \(shell\)|deletes the test/;

const bed = new OldChecksBed();
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('the target’s own checks judge the new code', () => {
  testCheats(
    bed,
    CHEATS.filter(({ name }) => FAMILIES.test(name)),
  );
  testPairs(bed, PAIRS.slice(0, 1));
});
