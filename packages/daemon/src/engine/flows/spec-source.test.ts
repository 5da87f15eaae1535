import { expect, test } from 'vitest';
import { isNewRepository } from './spec-source.ts';

test.each([
  [['README.md'], true],
  [['README.md', 'src/tide.ts'], false],
  [[], true],
])('a repository with the files %j is new: %s', async (names, isNew) => {
  const filesAt = async () => names.map((name): [string, string] => [name, 'id']);
  expect(await isNewRepository({ filesAt: filesAt as never, targetCommit: async () => 'c1' })).toBe(isNew);
});
