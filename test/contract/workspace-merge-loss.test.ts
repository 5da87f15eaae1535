import { describe } from 'vitest';
import { findsLosses } from './merge-loss-suite.ts';

describe('what a resolved conflict lost of the target', () => {
  findsLosses(40);
});
