import { test } from 'vitest';
import { landTogether } from '../support/crowd-bed.ts';

test(
  'nine tasks that change the same three files at once all land when an agent resolves their conflicts',
  {
    timeout: 15 * 60_000,
  },
  () => landTogether(9),
);
