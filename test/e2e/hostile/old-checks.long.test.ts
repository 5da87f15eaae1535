import { afterAll, beforeAll, describe } from 'vitest';
import { CHEATS, OldChecksBed, PAIRS, testCheats, testPairs } from '../../support/hostile/old-checks-bed.ts';

const MINUTE = 60_000;
const bed = new OldChecksBed();
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('the target’s own checks judge the new code', () => {
  testCheats(bed, CHEATS);
  testPairs(bed, PAIRS);
});
