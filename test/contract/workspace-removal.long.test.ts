import { afterEach, beforeEach, describe } from 'vitest';
import { deletesBehind, killsOnTheWay } from './removal-suite.ts';
import { type Bed, makeBed } from './workspace-bed.ts';

let bed: Bed;
beforeEach(async () => {
  bed = await makeBed();
});
afterEach(() => bed.remove());

describe('removal', () => {
  deletesBehind(() => bed, 20_000);
});

describe('a killed process', () => {
  killsOnTheWay(
    () => bed,
    Array.from({ length: 7 }, (_, index) => 60 * (index + 1)),
  );
});
