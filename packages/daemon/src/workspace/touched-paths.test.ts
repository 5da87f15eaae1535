import { expect, test } from 'vitest';
import type { RawChange } from '../git/output.ts';
import { touchedPaths } from './touched-paths.ts';

test('the folders above touched files are all known, also where the name of one ends like another', () => {
  const change = (path: string) => ({ path, status: 'M' }) as RawChange;
  const { folders } = touchedPaths(['src/a', 'src/b/c/d', 'xsrc/e', 'f'].map(change));
  expect([...folders].toSorted()).toEqual(['', 'src', 'src/b', 'src/b/c', 'xsrc']);
});
