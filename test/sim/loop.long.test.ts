import { describe } from 'vitest';
import { loopsForDays } from './loop-suite.ts';

describe('the loop over virtual days', () => {
  loopsForDays(2, 7);
});
