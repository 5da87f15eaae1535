import { describe, expect, test } from 'vitest';
import { isSource, sourceGlobs } from './source.ts';

describe('product source', () => {
  test.each([
    ['src/a.ts', ['src/**'], true],
    ['src/a.test.ts', ['src/**'], false],
    ['pkg/sum_test.go', ['pkg/**'], false],
    ['src/test/java/SumTest.java', ['src/**'], false],
    ['src/tsconfig.json', ['src'], false],
    ['src/data.json', ['src'], true],
    ['difflib.py', ['mypkg/**', 'six.py'], false],
    ['six.py', ['mypkg/**', 'six.py'], true],
    ['packages/a/src/b.ts', ['packages/*/src/**'], true],
    ['packages/a/scripts/b.ts', ['packages/*/src/**'], false],
  ])('%s with source %j: %s', (path, globs, expected) => {
    expect(isSource(path, globs)).toBe(expected);
  });

  test.each([
    ['src/a.ts', true],
    ['lib/data.json', true],
    ['app/models/user.rb', true],
    ['packages/core/src/a.ts', true],
    ['crates/x/src/lib.rs', true],
    ['click/core.py', true],
    ['main.go', true],
    ['index.js', true],
    ['difflib.py', false],
    ['scripts/check.js', false],
    ['tools/lint/rule.js', false],
    ['packages/core/scripts/a.sh', false],
    ['.github/a.js', false],
    ['data/cases.json', false],
    ['Makefile', false],
    ['flag', false],
    ['tests/test_a.py', false],
  ])('is assumed where the setting is empty: %s is %s', (path, expected) => {
    expect(isSource(path, [])).toBe(expected);
  });

  test.each<[string, string[], string[]]>([
    ['node', ['package.json', 'src/a.ts', 'src/a.test.ts', 'test/b.js', 'scripts/x.js'], ['src/**']],
    ['a small package', ['package.json', 'index.js', 'cli.js', 'test.js', 'eslint.config.js'], ['cli.js', 'index.js']],
    ['workspaces', ['packages/a/src/x.ts', 'packages/b/index.js'], ['packages/*/index.js', 'packages/*/src/**']],
    [
      'workspaces with documentation and a playground',
      ['packages/a/index.js', 'packages/docs/typedoc.mjs', 'packages/playground/a.ts', 'packages/b/deploy-check.sh'],
      ['packages/*/index.js'],
    ],
    ['python', ['click/__init__.py', 'click/core.py', 'setup.py', 'docs/conf.py', 'tests/test_a.py'], ['click/**']],
    ['a python module', ['six.py', 'test_six.py', 'setup.py'], ['six.py']],
    ['go', ['go.mod', 'mux.go', 'mux_test.go', 'middleware/a.go', 'hack/x.go'], ['*.go', 'middleware/**']],
    ['rust', ['Cargo.toml', 'build.rs', 'crates/a/src/lib.rs', 'crates/a/tests/x.rs'], ['crates/*/src/**']],
    ['c', ['sum.c', 'sum.h', 'test_sum.c', 'Makefile'], ['*.c', 'sum.h']],
    [
      'packages in the root',
      ['a/deno.json', 'a/mod.ts', 'a/a_test.ts', 'b/x.ts', '_tools/c.ts', 'playground/package.json', 'playground/a.ts'],
      ['a/**'],
    ],
    [
      'modules of Maven',
      ['pom.xml', 'a/pom.xml', 'a/src/main/java/A.java', 'a/src/test/java/ATest.java'],
      ['a/src/**'],
    ],
    ['gems', ['a/a.gemspec', 'a/lib/a.rb', 'a/spec/a_spec.rb', 'bench/b.rb'], ['a/lib/**']],
    [
      'packages with many files of their own',
      [...'abcdefg'].map((name) => `packages/x/${name}.ts`),
      ['packages/*/*.ts'],
    ],
    [
      'settings, tests of types and measurements in the root',
      [
        'index.js',
        'index.test-d.ts',
        'vitest.compile.config.ts',
        '.php-cs-fixer.php',
        'phpstan-more.neon.php',
        'benchmark.js',
      ],
      ['index.js'],
    ],
    ['go with examples that it leaves out', ['go.mod', '_examples/a/main.go', 'b.go'], ['*.go']],
    ['text only', ['README.md', 'check.sh'], []],
  ])('is proposed from the files of the repository: %s', (_name, paths, expected) => {
    expect(sourceGlobs(paths)).toEqual(expected);
  });

  test('is proposed with at most eighty globs', () => {
    const paths = Array.from({ length: 100 }, (_, at) => `module${at}.py`);
    expect(sourceGlobs(paths)).toEqual(paths.toSorted().slice(0, 80));
  });
});
