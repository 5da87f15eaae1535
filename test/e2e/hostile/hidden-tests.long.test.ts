import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlindingBed, testBlindings } from '../../support/hostile/blinding-bed.ts';
import type { Language } from '../../support/hostile/blindings.ts';
import { FINDING, MORE_FILES, NOT_FOUND, READ, SWITCHED_OFF } from '../../support/hostile/hidden-tests.ts';

const MINUTE = 60_000;
const LANGUAGES: Language[] = ['js', 'py', 'sh', 'c'];

describe.each([
  ['a test that is switched off inside its file', SWITCHED_OFF],
  ['a test that is no longer found', NOT_FOUND],
  ['a change of what a test reads', READ],
])('%s, in four languages', (_, cases) => {
  const bed = new BlindingBed(LANGUAGES, { files: MORE_FILES, gates: FINDING });
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testBlindings(bed, cases);

  test.each(LANGUAGES)('has at least three cases (%s)', (language) => {
    expect(cases.filter(([, its]) => its === language).length).toBeGreaterThanOrEqual(3);
  });
});
