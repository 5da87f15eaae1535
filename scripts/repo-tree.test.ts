import { expect, test } from 'vitest';
import { bareCode } from './repo-tree.ts';

test('bareCode knows a quote in a regular expression from a string', () => {
  const text = "const a = b / c; // '\nx(/[`/]'/, 'y'); d = e / f / 'g';";
  expect(bareCode(text, { strings: true })).toBe("const a = b / c;     \nx(/[`/]'/, 'y'); d = e / f / 'g';");
  expect(bareCode(text, { strings: false })).toBe('const a = b / c;     \nx(       ,    ); d = e / f /    ;');
});
