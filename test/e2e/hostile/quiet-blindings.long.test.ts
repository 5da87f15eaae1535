import { afterAll, beforeAll, describe } from 'vitest';
import { BlindingBed, testBlindings } from '../../support/hostile/blinding-bed.ts';
import { ONE_PROCESS, QUIET, WORDS } from '../../support/hostile/quiet-blindings.ts';

const MINUTE = 60_000;

describe('work that makes a test blind which looks at other code', () => {
  const bed = new BlindingBed(['js', 'py'], { files: WORDS, gates: ONE_PROCESS });
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testBlindings(bed, QUIET);
});
