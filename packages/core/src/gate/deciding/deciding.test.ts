import { describe, expect, test } from 'vitest';
import type { ChangedFile, CheckCommand } from './changed-file.ts';
import { manifestsOf } from './command.ts';
import { decidingFiles } from './deciding.ts';

const fact = (text: string | null, mode = '100644') => ({ oid: `oid of ${text}`, mode, text });
const change = (path: string, before: string | null, after: string | null): ChangedFile => ({
  path,
  before: before === null ? null : fact(before),
  after: after === null ? null : fact(after),
});
const npmTest: CheckCommand = { name: 'test', run: 'npm test', proves: [] };
const reported = (changed: ChangedFile[], checks = [npmTest], manifests: Record<string, string> = {}) =>
  decidingFiles({ checks, changed, manifests: new Map(Object.entries(manifests)) });
const why = (path: string, before: string | null, after: string | null, checks?: CheckCommand[]) =>
  reported([change(path, before, after)], checks)[0]?.why ?? null;

const TEST = `import { sum } from './sum.ts';

describe('sum', () => {
  test('adds', () => {
    expect(sum(1, 2)).toBe(3);
    expect(sum(2, 2)).toBe(4);
  });
});
`;
const PYTEST = `from sums import add


def test_add():
    """Adds."""
    assert add(1, 2) == 3
`;
const GOTEST = `package sum

func TestSum(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Fatal("wrong")
	}
}
`;
const json = (value: object) => JSON.stringify(value, null, 2);
const edit = (text: string, from: string, to: string) => text.replace(from, to);
const before = (text: string, at: string, line: string) => text.replace(at, `${line}\n${at}`);

test('a script that a step of prepare runs is reported like a script of a gate', () => {
  const step: CheckCommand = { name: 'sh setup/install.sh', run: 'sh setup/install.sh', proves: [], of: 'prepare' };
  expect(why('setup/install.sh', 'a\n', 'b\n', [npmTest, step])).toBe(
    'is named by the command of the prepare step `sh setup/install.sh`',
  );
});

describe('a test that checks less is reported', () => {
  test.each<[string, string, string, string, string | RegExp]>([
    [
      'a weaker assertion',
      'sum.test.ts',
      TEST,
      edit(TEST, 'toBe(3)', 'toBeDefined()'),
      /1 assertion is removed or changed: `expect\(sum\(1, 2\)\)/,
    ],
    [
      'an assertion removed',
      'sum.test.ts',
      TEST,
      edit(TEST, '    expect(sum(2, 2)).toBe(4);\n', ''),
      '1 assertion is removed',
    ],
    ['tests removed', 'sum.test.ts', TEST, `import { sum } from './sum.ts';\n`, '2 tests are removed'],
    ['a skip', 'sum.test.ts', TEST, edit(TEST, 'test(', 'test.skip('), 'skips tests'],
    ['an only', 'sum.test.ts', TEST, `${TEST}test.only('x', () => {});\n`, 'skips tests, or runs only some'],
    ['a skip by its option', 'sum.test.js', TEST, `${TEST}test('x', { skip: true }, () => {});\n`, 'skips tests'],
    ['xit', 'sum.test.ts', TEST, edit(TEST, 'test(', 'xit('), 'skips tests'],
    [
      'an early return',
      'sum.test.ts',
      TEST,
      before(TEST, '    expect(sum(1', '    return;'),
      'gets new lines: `return;`',
    ],
    [
      'a condition around it',
      'sum.test.ts',
      TEST,
      edit(edit(TEST, '    expect(sum(1', '    if (0) {\n    expect(sum(1'), '  });', '    }\n  });'),
      'gets new lines',
    ],
    [
      'a comment around it',
      'sum.test.ts',
      TEST,
      edit(edit(TEST, '    expect(sum(1', '/*\n    expect(sum(1'), '  });', '*/\n  });'),
      'gets new lines',
    ],
    [
      'a template around it',
      'sum.test.ts',
      TEST,
      edit(edit(TEST, '    expect(sum(1', 'const x = `\n    expect(sum(1'), '  });', '`;\n  });'),
      'gets new lines',
    ],
    [
      'a function around it',
      'sum.test.ts',
      TEST,
      before(TEST, '    expect(sum(1', '    function never() {'),
      'do not fit, so it was not examined; an existing test is changed',
    ],
    [
      'another subject',
      'sum.test.ts',
      TEST,
      edit(TEST, "from './sum.ts'", "from './fake.ts'"),
      'an existing test is changed',
    ],
    [
      'two imports on one line',
      'sum.test.ts',
      TEST,
      edit(TEST, "import { sum } from './sum.ts';", "import { sum } from './sum.ts'; sum = 1;"),
      'new code runs before or around existing tests: `import { sum }',
    ],
    [
      'a name that hides another',
      'sum.test.ts',
      TEST,
      before(TEST, 'describe(', 'const expect = () => new Proxy({}, {});'),
      'a new name hides one that existing tests use: `const expect',
    ],
    [
      'a mock',
      'sum.test.ts',
      TEST,
      before(TEST, 'describe(', "vi.mock('./sum.ts');"),
      'before or around existing tests',
    ],
    [
      'an import for what it does',
      'sum.test.ts',
      TEST,
      before(TEST, 'describe(', "import './quiet.ts';"),
      'new code runs before or around existing tests',
    ],
    [
      'an assertion that cannot fail',
      'sum.test.ts',
      TEST,
      `${TEST}test('x', () => {\n  expect(true).toBe(true);\n});\n`,
      'cannot fail',
    ],
    ['an exit', 'sum.test.ts', TEST, `${TEST}test('x', () => {\n  process.exit(0);\n});\n`, 'with success'],
    [
      'pytest: an assertion',
      'tests/test_add.py',
      PYTEST,
      edit(PYTEST, '== 3', 'is not None'),
      '1 assertion is removed',
    ],
    ['pytest: a mark', 'tests/test_add.py', PYTEST, before(PYTEST, 'def test_add', '@pytest.mark.skip'), 'skips tests'],
    [
      'pytest: a def that takes the body',
      'tests/test_add.py',
      PYTEST,
      before(PYTEST, '    assert', 'def other():'),
      'gets new lines',
    ],
    [
      'pytest: a string around it',
      'tests/test_add.py',
      PYTEST,
      `${before(PYTEST, '    assert', '    """')}    """\n`,
      'gets new lines',
    ],
    [
      'pytest: assert True',
      'tests/test_add.py',
      PYTEST,
      `${PYTEST}\n\ndef test_b():\n    assert True\n`,
      'cannot fail',
    ],
    ['go: t.Skip', 'sum_test.go', GOTEST, before(GOTEST, '\tif Sum', '\tt.Skip()'), 'skips tests'],
    [
      'rust: ignore in a source file',
      'src/lib.rs',
      '#[test]\nfn a() {\n  assert_eq!(1, f());\n}\n',
      'fn a() {}\n',
      'removed',
    ],
    ['a folder of tests without names', 'test/sums.js', TEST, edit(TEST, 'toBe(3)', 'toBe(4)'), 'removed or changed'],
  ])('in the case: %s', (_name, path, old, now, expected) => {
    expect(now).not.toBe(old);
    expect(why(path, old, now)).toMatch(expected);
  });

  test('when it is deleted, moved away, or made a link', () => {
    expect(why('test/sum.test.ts', TEST, null)).toBe('a test is deleted');
    for (const to of ['test/sum.test.ts.bak', 'docs/sum.test.ts', 'test/sum.ts', 'test/old/sum.test.ts'])
      expect(reported([change('test/sum.test.ts', TEST, null), change(to, null, TEST)])).toMatchObject([
        { file: 'test/sum.test.ts', why: 'a test is deleted' },
      ]);
    const executable = {
      path: 'test/run.bats',
      before: fact('@test a {\n}\n', '100755'),
      after: fact('@test a {\n}\n'),
    };
    expect(reported([executable])[0]?.why).toContain('mode changes from 100755 to 100644');
    const link = { path: 'sum.test.ts', before: fact(TEST), after: fact('other.ts', '120000') };
    expect(reported([link])[0]?.why).toContain('a link instead of a test');
  });
});

describe('a file that decides about gates', () => {
  test.each([
    ...['.npmrc', 'packages/a/.npmrc', '.github/workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml'],
    ...['vitest.config.ts', 'jest.config.js', '.mocharc.json', 'playwright.config.ts', 'conftest.py', 'pytest.ini'],
    ...[
      'tox.ini',
      '.eslintrc.json',
      'eslint.config.mjs',
      'biome.json',
      '.prettierrc',
      '.prettierignore',
      'tsconfig.json',
    ],
    ...[
      'tsconfig.build.json',
      'ruff.toml',
      'mypy.ini',
      'phpunit.xml',
      '.rspec',
      'Makefile',
      'sub/Makefile',
      '.golangci.yml',
    ],
    ...[
      'node_modules/.bin/vitest',
      '.husky/pre-commit',
      '.tool-versions',
      'sitecustomize.py',
      'pytest.py',
      'setupTests.ts',
    ],
    ...['.ESLINTRC.JSON', 'pom.xml', 'build.gradle.kts', 'src/__mocks__/fs.ts', 'spec/spec_helper.rb'],
  ])('is reported: %s, new or changed', (path) => {
    expect(why(path, null, 'x')).not.toBeNull();
    expect(why(path, 'x', 'y')).not.toBeNull();
    expect(why(path, 'x', null)).not.toBeNull();
  });

  test.each([
    ...['AGENTS.md', 'packages/a/AGENTS.md', 'CLAUDE.md', 'claude.local.md', 'GEMINI.md', 'AGENT.md', '.cursorrules'],
    ...['.mcp.json', '.vscode/mcp.json', 'opencode.json', 'CRUSH.md', '.openhands/microagents/a.md', '.idx/airules.md'],
    ...['.cursor/rules/style.mdc', '.github/copilot-instructions.md', '.github/instructions/x.instructions.md'],
    ...['.windsurfrules', '.clinerules', '.clinerules/a.md', '.claude/agents/a.md', 'docs/.claude/commands/b.md'],
    ...['.codex/prompts/a.md', '.roo/rules/a.md', '.junie/guidelines.md', '.goosehints', '.rules'],
  ])('is one that instructs agents: %s', (path) => {
    for (const [old, now] of [
      [null, 'x'],
      ['x', 'y'],
      ['x', null],
    ] as const)
      expect(why(path, old, now)).toContain('instructs the coding agents');
  });

  test.each([
    ...[
      'docs/agents.md.txt',
      'src/claude/client.ts',
      'docs/how-agents-work.md',
      'src/agents/index.ts',
      'docs/rules/a.md',
    ],
    ...['src/standard-deviation.ts', 'src/ruff.py', 'src/expect.ts', 'src/make.ts', 'docs/eslint.md', 'README.md'],
    ...['src/contest.ts', 'src/latest.js', 'src/config.ts', 'assets/test.png', 'src/jest.ts', 'src/setup.ts'],
  ])('is not %s', (path) => {
    expect(why(path, 'x', 'y')).toBeNull();
  });

  test('package.json is reported only for what gates use', () => {
    const base = { name: 'a', scripts: { test: 'vitest run' }, devDependencies: { vitest: '5.0.0' } };
    const now = (more: object) => why('package.json', json(base), json({ ...base, ...more }));
    expect(now({ version: '2.0.0', dependencies: { 'left-pad': '^1.0.0' } })).toBeNull();
    expect(now({ scripts: { test: 'true' } })).toContain('the scripts that gates run');
    expect(now({ jest: { testMatch: [] } })).toContain('`jest`');
    expect(now({ overrides: { vitest: 'x' } })).toContain('`overrides`');
    expect(now({ devDependencies: { vitest: '4.0.0' } })).toContain('`vitest`');
    expect(now({ devDependencies: {} })).toContain('`vitest`');
    expect(now({ dependencies: { a: 'file:./fake' } })).toContain('`a`');
    expect(why('package.json', json(base), '{')).toContain('not valid JSON');
    expect(why('package.json', json(base), null)).toBe('is deleted');
  });

  test('pyproject.toml and Cargo.toml are reported by their sections', () => {
    const python = '[project]\nname = "a"\n[tool.pytest.ini_options]\naddopts = "-q"\n';
    expect(why('pyproject.toml', python, edit(python, '"a"', '"b"'))).toBeNull();
    expect(why('pyproject.toml', python, edit(python, '"-q"', '"-q --deselect tests"'))).toContain('tool.pytest');
    const rust = '[package]\nname = "a"\n[dependencies]\nx = "1"\n[lints.clippy]\nall = "deny"\n';
    expect(why('Cargo.toml', rust, edit(rust, 'x = "1"', 'x = "2"'))).toBeNull();
    expect(why('Cargo.toml', rust, edit(rust, 'deny', 'allow'))).toContain('lints.clippy');
    expect(why('Cargo.toml', rust, edit(rust, '[dep', 'autotests = false\n[dep'))).toContain('which tests are built');
  });

  test('the script that a gate names is reported, and so are the files next to it', () => {
    const checks = [{ name: 'check', run: 'cd tools && bash ./verify.sh --fast', proves: ['data/*.csv'] }];
    expect(why('tools/verify.sh', 'a', 'b', checks)).toContain('command of gate check');
    expect(why('tools/lib/part.sh', 'a', 'b', checks)).toContain('in the same folder as a script');
    expect(why('data/one.csv', 'a', 'b', checks)).toContain('`proves`');
    expect(why('src/verify.txt', 'a', 'b', checks)).toBeNull();
    expect(
      why('work.txt', 'a', 'b', [{ name: 'has', run: 'test -f work.txt && ! grep -q bad work.txt', proves: [] }]),
    ).toBeNull();
  });

  test('the script that a package script calls is reported', () => {
    const manifests = {
      'package.json': json({ scripts: { test: 'npm run unit', unit: 'node run-all.js', other: 'node x.js' } }),
    };
    expect(manifestsOf([npmTest])).toContain('package.json');
    expect(reported([change('run-all.js', 'a', 'b')], [npmTest], manifests)).toMatchObject([{ file: 'run-all.js' }]);
    expect(reported([change('x.js', 'a', 'b')], [npmTest], manifests)).toEqual([]);
  });

  test('helpers and expected results of tests are reported', () => {
    for (const path of ['test/helper.js', 'tests/fixtures/a.json', 'src/__snapshots__/a.snap', 'spec/support/x.rb'])
      expect(why(path, 'a', 'b')).toContain('helper or an expected result');
    expect(why('test/helper.js', 'a', null)).toContain('deleted');
    expect(why('test/new-helper.js', null, 'a')).toBeNull();
    expect(why('test/setup.js', null, 'a')).toContain('sets tests up');
  });

  test.each([
    ['src/a.js', 'process.exit(0)'],
    ['src/a.js', 'process  .\n   exit()'],
    ['src/a.js', 'setTimeout(process.exit)'],
    ['src/a.js', `process["exit"](0)`],
    ['src/a.ts', 'const { exit } = process;'],
    ['src/a.ts', `import { exit } from 'node:process';`],
    ['src/a.ts', 'process.exitCode = 0'],
    ['src/a.ts', 'globalThis.expect = fake'],
    ['src/a.ts', 'if (process.env.VITEST) return 3;'],
    ['src/a.ts', '// eslint-disable-next-line'],
    ['src/a.ts', '// @ts-nocheck'],
    ['src/a.py', 'sys.exit(0)'],
    ['src/a.py', 'os._exit(0)'],
    ['src/a.py', 'x = 1  # noqa'],
    ['a.go', 'os.Exit(0)'],
    ['src/a.rs', 'std::process::exit(0)'],
    ['src/a.h', '#define strcmp(a, b) 0'],
    ['src/a.c', 'void __assert_fail(const char *a) {}'],
    ['run.sh', 'check || true'],
  ])('%s is reported when it contains %s', (path, line) => {
    expect(why(path, 'a\n', `a\n${line}\n`)).not.toBeNull();
    expect(why(path, null, `${line}\n`)).not.toBeNull();
    expect(why(path, `${line}\n`, `${line}\nmore\n`)).toBeNull();
  });

  test.each([
    ['src/a.js', 'process.exit(1)'],
    ['src/a.py', 'sys.exit(2)'],
    ['src/a.js', 'const next = exits.find(isOpen);'],
    ['docs/a.md', 'call process.exit(0)'],
  ])('%s is not reported when it contains %s', (path, line) => {
    expect(why(path, 'a\n', `a\n${line}\n`)).toBeNull();
  });

  test('a lock file that changes alone is reported', () => {
    const lock = change('package-lock.json', '{"a":1}', '{"a":2}');
    expect(reported([lock])).toMatchObject([{ file: 'package-lock.json' }]);
    expect(reported([lock, change('package.json', '{}', '{"dependencies":{"a":"2"}}')])).toEqual([]);
  });

  test('a lock file that changes behind a new version of the product is reported, unless it only repeats that', () => {
    const bump = change('package.json', '{\n"version": "1.0.0"\n}', '{\n"version": "1.0.1"\n}');
    const locked = (version: string, from: string) => `{\n"version": "${version}",\n"a": "${from}"\n}\n`;
    const change2 = (from: string) => change('package-lock.json', locked('1.0.0', 'x'), locked('1.0.1', from));
    expect(reported([bump, change2('evil')])).toMatchObject([{ file: 'package-lock.json' }]);
    expect(reported([bump, change2('x')])).toEqual([]);
  });

  test('a lock file that writes the version of the product in its own form is not reported', () => {
    const version = (name: string, from: string, to: string) =>
      change(name, `[project]\nversion = "${from}"\n`, `[project]\nversion = "${to}"\n`);
    const bump = version('pyproject.toml', '8.4.1.dev', '8.5.0-rc.1');
    expect(reported([bump, version('uv.lock', '8.4.1.dev0', '8.5.0rc1')])).toEqual([]);
    expect(reported([bump, version('uv.lock', '8.4.1.dev0', '8.5.0rc2')])).toMatchObject([{ file: 'uv.lock' }]);
  });

  test.each([
    ['Cargo.toml', '[dev-dependencies]\nchecks = "1"\n', '[dev-dependencies]\nchecks = { path = "crates/checks" }\n'],
    ['Cargo.toml', '[dependencies.a]\nversion = "1"\n', '[dependencies.a]\ngit = "https://example.org/a"\n'],
    ['pyproject.toml', '[project]\ndependencies = ["a"]\n', '[project]\ndependencies = ["a @ file:./a"]\n'],
    [
      'pyproject.toml',
      '[project]\nname = "a"\n',
      '[project]\nname = "a"\n[project.entry-points.pytest11]\nq = "a.q"\n',
    ],
  ])('%s is reported when a package comes from elsewhere', (path, before, after) => {
    expect(why(path, before, after)).toContain('comes from');
    expect(why(path, before, before.replace('"1"', '"2"').replace('["a"]', '["a", "b"]'))).toBeNull();
  });

  test('code that cannot be examined is reported', () => {
    expect(reported([{ path: 'src/a.ts', before: null, after: fact(null) }])[0]?.why).toContain('too large');
    expect(reported([{ path: 'logo.png', before: null, after: fact(null) }])).toEqual([]);
  });

  test('is shown without control characters in its name', () => {
    expect(reported([change('a\u001b[2J\n/.npmrc', null, 'x')])[0]?.file).toBe('a?[2J?/.npmrc');
  });
});

describe('honest work is not reported', () => {
  test.each<[string, ChangedFile[]]>([
    ['source', [change('src/sum.ts', 'a', 'b')]],
    ['a new test', [change('src/sub.test.ts', null, TEST)]],
    [
      'a test added',
      [
        change(
          'sum.test.ts',
          TEST,
          edit(TEST, '  });\n});', `  });\n\n  test('more', () => {\n    expect(sum(0, 0)).toBe(0);\n  });\n});`),
        ),
      ],
    ],
    [
      'a test at the end',
      [
        change(
          'sum.test.ts',
          TEST,
          `${TEST}\ntest('more', async () => {\n  const x = await sum(1);\n  expect(x).toBe(1);\n});\n`,
        ),
      ],
    ],
    [
      'a test at the start',
      [
        change(
          'sum.test.ts',
          TEST,
          before(TEST, 'describe(', `test('first', () => {\n  expect(sum(0, 0)).toBe(0);\n});\n`),
        ),
      ],
    ],
    [
      'a wider import and a helper',
      [
        change(
          'sum.test.ts',
          TEST,
          `${edit(TEST, '{ sum }', '{ sub, sum }')}\nconst pairs = [1, 2];\ntest.each(pairs)('is %s', (n) => {\n  expect(sub(n, n)).toBe(0);\n});\n`,
        ),
      ],
    ],
    ['a comment in a test', [change('sum.test.ts', TEST, before(TEST, '    expect(sum(1', '    // the usual case'))]],
    ['a test renamed', [change('sum.test.ts', TEST, null), change('addition.test.ts', null, TEST)]],
    [
      'a Python test added',
      [
        change(
          'tests/test_add.py',
          PYTEST,
          `${PYTEST}\n\n@pytest.mark.parametrize("n", [1, 2])\ndef test_more(n):\n    assert add(n, 0) == n\n`,
        ),
      ],
    ],
    [
      'a Go test added',
      [
        change(
          'sum_test.go',
          GOTEST,
          `${GOTEST}\nfunc TestMore(t *testing.T) {\n\tif Sum(0, 0) != 0 {\n\t\tt.Fatal("wrong")\n\t}\n}\n`,
        ),
      ],
    ],
    [
      'source renamed that ends the program',
      [change('src/a.ts', 'process.exit(0)', null), change('src/b.ts', null, 'process.exit(0)')],
    ],
    ['documents', [change('README.md', 'a', 'b'), change('docs/x.md', null, 'y')]],
  ])('in the case: %s', (_name, changed) => {
    expect(reported(changed)).toEqual([]);
  });
});
