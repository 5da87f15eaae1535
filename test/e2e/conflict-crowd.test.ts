import { test } from 'vitest';
import { landTogether } from '../support/crowd-bed.ts';

test(
  'three tasks that change the same three files at once all land when an agent resolves their conflicts',
  {
    timeout: 120_000,
  },
  () => landTogether(3),
);
