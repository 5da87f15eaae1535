import { describe } from 'vitest';
import { learnsFromMistakes } from './learning-suite.ts';

describe('learning in a world where agents repeat five mistakes', () => {
  learnsFromMistakes([1, 2, 4, 5, 6]);
});
