import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HONEST,
  testHonestWork,
  testWeakenings,
  WEAKENINGS,
  WeakeningBed,
  weaker,
} from '../../support/hostile/weakening-bed.ts';

const MINUTE = 60_000;
const bed = new WeakeningBed();
beforeAll(() => bed.open(), 2 * MINUTE);
afterAll(() => bed.close());

describe('every known change to what gates check, without a review', () => {
  testWeakenings(bed, WEAKENINGS);

  test('comes first in the prompt of a reviewer, if there is one', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = await bed.add(
      'reviewed',
      { 'test/sum.test.js': `${weaker}// reviewed\n` },
      { pipeline: 'feature' },
    );
    await bed.landed(id);
    const { task } = await bed.api.task({ project: bed.project, task: number });
    expect(task.context.at(-1)?.summary).toMatch(
      /^## Look at this first.*\| test\/sum\.test\.js: 1 assertion is removed/,
    );
    // Back to how it was, by a person, for those that come after.
    bed.repository.git('revert', '--no-edit', 'HEAD');
  });
});

describe('honest work beside every known cheat', () => {
  testHonestWork(bed, HONEST);

  test('lands without a question when it renames a test', { timeout: 2 * MINUTE }, async () => {
    const { id, number } = await bed.add('renames', {
      'test/more.test.js': null,
      'test/addition.test.js': `${bed.onMain('test/more.test.js')}\n`,
    });
    await bed.landed(id);
    expect(await bed.api.questions({ project: bed.project, task: number, all: true })).toEqual([]);
  });
});
