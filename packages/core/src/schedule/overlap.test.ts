import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scopesOverlap } from './overlap.ts';

describe('overlap of file scopes', () => {
  test.each<[string, string, boolean]>([
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/b.ts', false],
    ['./src//a.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a.js', false],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**', 'src/deep/er/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'lib/a.ts', false],
    ['**/*.test.ts', 'src/**', true],
    ['**/*.md', 'src/*.ts', false],
    ['**', 'anything/at/all', true],
    ['**/a', 'b/**', true],
    ['a/**/b/**/c', 'a/x/b/y/z/c', true],
    ['a/**/b/**/c', 'a/x/y/z/c.md', false],
    ['**/*.test.ts', 'src/a.ts', false],
    ['docs/a.md', '**/*.ts', false],
    ['src/', 'src/a.ts', true],
    ['src/', 'src/deep/a.ts', true],
    ['src', 'src/a.ts', true],
    ['src', 'src', true],
    ['src', 'srcs/a.ts', false],
    ['src', '**/*.ts', true],
    ['.github', '.github/workflows/ci.yaml', true],
    ['src/*', 'src/deep/a.ts', false],
    ['packages/core', 'packages/core/src/**/*.ts', true],
    ['packages/core', 'packages/contract/src/**', false],
    ['.', 'README.md', true],
    ['my folder/the file.md', 'my folder/*.md', true],
    ['my folder/', 'my folder/a b/c.md', true],
    ['my folder', 'my', false],
    ['a?c.ts', 'abc.ts', true],
    ['a?c.ts', 'ac.ts', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b', 'a*c', false],
    ['*a*', '*b*', true],
    ['file-{a,b}.ts', 'file-c.ts', true],
    ['[ab].ts', 'c.ts', true],
    ['?.md', '🌊.md', true],
    ['caf\u00e9/a', 'cafe\u0301/a', true],
    ['日本/**', '日本/語.md', true],
    ['A.ts', 'a.ts', false],
  ])('%s and %s overlap: %s', (a, b, expected) => {
    expect(scopesOverlap([a], [b])).toBe(expected);
    expect(scopesOverlap([b], [a])).toBe(expected);
  });

  test('an empty scope overlaps nothing; of two lists any pair counts', () => {
    expect(scopesOverlap([], ['**'])).toBe(false);
    expect(scopesOverlap(['a', 'b'], ['c', 'b'])).toBe(true);
  });

  const name = fc.stringMatching(/^[ab]{1,3}$/);
  const path = fc.array(name, { minLength: 1, maxLength: 4 });

  test('a path and a glob made from it always overlap', () => {
    const loosened = path.chain((parts) =>
      fc.tuple(
        fc.constant(parts.join('/')),
        fc.tuple(...parts.map((part) => fc.constantFrom(part, '*', '**', `${part[0]}*`, `*${part.at(-1)}`))),
      ),
    );
    fc.assert(
      fc.property(loosened, ([plain, glob]) => {
        expect(scopesOverlap([plain], [glob.join('/')])).toBe(true);
      }),
    );
  });

  test('two globs that a path matches both overlap', () => {
    const glob = fc.array(fc.oneof(fc.stringMatching(/^[ab*?]{1,3}$/), fc.constant('**')), {
      minLength: 1,
      maxLength: 4,
    });
    const matches = (parts: string[], text: string) =>
      new RegExp(
        `^${parts.map((part) => (part === '**' ? '([ab]+/)*' : `${part.replaceAll('?', '[ab]').replaceAll('*', '[ab]*')}/`)).join('')}$`,
      ).test(text);
    fc.assert(
      fc.property(glob, glob, path, (a, b, parts) => {
        const text = `${parts.join('/')}/`;
        fc.pre(matches(a, text) && matches(b, text));
        expect(scopesOverlap([a.join('/')], [b.join('/')])).toBe(true);
      }),
      { numRuns: 300, maxSkipsPerRun: 2000 },
    );
  });

  test('a hostile pattern costs no more than a plain one', () => {
    const spite = `${'a*'.repeat(200)}b`;
    expect(scopesOverlap([spite], [`${'a'.repeat(400)}c`])).toBe(false);
    const deep = `${'**/a/'.repeat(100)}b`;
    expect(scopesOverlap([deep], [`${'a/'.repeat(300)}c.ts`])).toBe(false);
  });
});
