import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlindingBed, testBlindings, testElsewhere, testSeeing } from '../../support/hostile/blinding-bed.ts';
import { APART, BLINDINGS, PARTLY, REACHING, SEEING } from '../../support/hostile/blindings.ts';
import { ELSEWHERE } from '../../support/hostile/elsewhere.ts';

const MINUTE = 60_000;

describe('a source that makes a gate blind, in four languages', () => {
  const bed = new BlindingBed(['js', 'py', 'sh', 'c']);
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testBlindings(bed, [...BLINDINGS, ...REACHING]);
});

describe('a source that makes one test blind while others see', () => {
  const bed = new BlindingBed(['js', 'py'], { files: APART });
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testBlindings(bed, PARTLY);
});

describe('a source that is right only where it is proven, in four languages', () => {
  const bed = new BlindingBed(['js', 'py', 'sh', 'c']);
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testElsewhere(bed, ELSEWHERE);
});

describe('work that leaves the gates as they are, in two languages', () => {
  const bed = new BlindingBed(['js', 'py']);
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());
  testSeeing(bed, SEEING);
});

describe('gates with `tripwire: false`', () => {
  const bed = new BlindingBed(['js', 'py'], { more: ', tripwire: false' });
  beforeAll(() => bed.open(), 2 * MINUTE);
  afterAll(() => bed.close());

  test('are made blind unnoticed', { timeout: 2 * MINUTE }, async () => {
    const [, , deed] = BLINDINGS.find(([name]) => name === 'patches the test class')!;
    const { id } = await bed.add('patches the test class', deed);
    await bed.landed(id);
    expect(bed.onMain('src/total.py')).toContain('unittest');
  });
});
