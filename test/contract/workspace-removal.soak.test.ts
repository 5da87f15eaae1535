import { afterEach, beforeEach, describe } from 'vitest';
import { killsOnTheWay } from './removal-suite.ts';
import { type Bed, makeBed } from './workspace-bed.ts';

let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

describe('a killed process', () => {
  killsOnTheWay(
    () => bed,
    Array.from({ length: 300 }, (_, index) => 20 + ((index * 37) % 480)),
  );
});
