import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHEATS, OldChecksBed, PAIRS, testCheats, testPairs } from '../../support/hostile/old-checks-bed.ts';

const MINUTE = 60_000;
const bed = new OldChecksBed();
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('the target’s own checks judge the new code', () => {
  testCheats(bed, CHEATS);
  testPairs(bed, PAIRS);

  test('a reviewer is told what they found', { timeout: 2 * MINUTE }, async () => {
    const { deed } = CHEATS.find(({ name }) => name.includes('off inside its file (Python)'))!;
    const { id, number } = await bed.add('reviewed', deed, { pipeline: 'feature' });
    await bed.landed(id);
    const { context, oldChecks } = await bed.task(number);
    expect(context.at(-1)?.summary).toMatch(
      /main's own versions of these files fail .* \| - python: a changed expectation/,
    );
    // The reviewer has seen it, so it is not run again for the landing.
    expect(oldChecks).toHaveLength(1);
    bed.repository.git('revert', '--no-edit', 'HEAD');
  });

  test('work that changes nothing that decides costs no further run', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = await bed.add('honest', { 'src/more.js': 'export const more = 1;\n' });
    await bed.landed(id);
    expect((await bed.task(number)).oldChecks).toEqual([]);
  });
});
