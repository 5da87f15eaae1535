import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { detect } from './detect/detect.ts';
import { initProject, splitWords } from './init.ts';
import { protectingGates } from './protection.ts';

const AGENT = { type: 'command', command: ['true'] };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tm init ü '));
});
afterEach(() => rm(root, { recursive: true }));

interface Case {
  files: Record<string, string>;
  tools?: string[];
  prepare?: string[];
  gates?: string[];
}
const pkg = (more: object) => JSON.stringify({ scripts: { test: 'x' }, ...more });
const DEPENDS = pkg({ devDependencies: { a: '1' } });

const table: Record<string, Case> = {
  nothing: { files: { 'readme.md': 'hi' } },
  npm: {
    files: { 'package.json': '{"scripts":{"test":"node --test","lint":"x"}}' },
    tools: ['npm'],
    gates: ['npm run lint', 'npm test'],
  },
  'npm without tests': {
    files: { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
  },
  'npm with a lock': {
    files: { 'package.json': DEPENDS, 'package-lock.json': '{}' },
    tools: ['npm'],
    prepare: ['npm ci --no-audit --no-fund'],
    gates: ['npm test'],
  },
  'npm without a lock': {
    files: { 'package.json': DEPENDS },
    tools: ['npm'],
    prepare: ['npm install --no-package-lock --no-audit --no-fund'],
    gates: ['npm test'],
  },
  'pnpm by lock': {
    files: { 'package.json': DEPENDS, 'pnpm-lock.yaml': '' },
    tools: ['pnpm'],
    prepare: ['pnpm install --frozen-lockfile'],
    gates: ['pnpm test'],
  },
  'pnpm by field': {
    files: { 'package.json': pkg({ packageManager: 'pnpm@9.0.0' }) },
    tools: ['pnpm'],
    gates: ['pnpm test'],
  },
  'yarn classic': {
    files: { 'package.json': DEPENDS, 'yarn.lock': '# yarn lockfile v1\n' },
    tools: ['yarn'],
    prepare: ['yarn install --non-interactive --frozen-lockfile'],
    gates: ['yarn test'],
  },
  'yarn berry': {
    files: { 'package.json': DEPENDS, 'yarn.lock': '__metadata:\n  version: 8\n' },
    tools: ['yarn'],
    prepare: ['yarn install --immutable'],
    gates: ['yarn test'],
  },
  'bun by its text lock': {
    files: { 'package.json': DEPENDS, 'bun.lock': '{}' },
    tools: ['bun'],
    prepare: ['bun install --frozen-lockfile'],
    gates: ['bun run test'],
  },
  'bun by its binary lock, with tests of its own': {
    files: { 'package.json': '{"dependencies":{"a":"1"}}', 'bun.lockb': '', 'src/a.test.ts': '' },
    tools: ['bun'],
    prepare: ['bun install --frozen-lockfile'],
    gates: ['bun test'],
  },
  'a broken package.json': { files: { 'package.json': '{' } },
  uv: {
    files: {
      'pyproject.toml': '[project]\n[tool.ruff]\n',
      'uv.lock': 'name = "pytest"\nname = "ruff"\n',
      'tests/test_a.py': '',
    },
    tools: ['uv'],
    prepare: ['uv sync --frozen --all-groups --all-extras'],
    gates: ['uv run --no-sync ruff check .', 'uv run --no-sync python -m pytest -q'],
  },
  'poetry, with a linter that only a hook of git brings': {
    files: {
      'pyproject.toml': '[tool.poetry]\n[tool.ruff]\n',
      'poetry.lock': 'name = "pytest"\n',
      'tests/test_a.py': '',
    },
    tools: ['poetry'],
    prepare: ['poetry install --no-interaction'],
    gates: ['poetry run python -m pytest -q'],
  },
  'pytest without dependencies': {
    files: { 'pyproject.toml': '[tool.pytest.ini_options]\n[tool.ruff]\n' },
    tools: ['pip'],
    gates: ['ruff check .', 'python3 -m pytest -q'],
  },
  'pip by a list': {
    files: { 'requirements.txt': 'flask\n', 'tests/test_a.py': '' },
    tools: ['pip'],
    prepare: ['python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt pytest'],
    gates: ['.venv/bin/python -m pytest -q'],
  },
  'pip by a package with an extra': {
    files: {
      'pyproject.toml': '[project]\nname="a"\n[project.optional-dependencies]\ntest = ["pytest"]\n[build-system]\n',
      'tests/test_a.py': '',
    },
    tools: ['pip'],
    prepare: ['python3 -m venv .venv && .venv/bin/pip install --quiet -e ".[test]"'],
    gates: ['.venv/bin/python -m pytest -q'],
  },
  'pip by an extra with a dotted key, and a linter that would repair': {
    files: {
      'pyproject.toml':
        '[project]\nname = "a"\noptional-dependencies.tests = [\n  "freezegun",\n  "pytest[x]>=9",\n]\n[tool.ruff]\nfix = true\n',
      '.pre-commit-config.yaml': 'repos:\n  - repo: https://github.com/astral-sh/ruff-pre-commit\n    rev: v0.15.0\n',
      'tests/test_a.py': '',
    },
    tools: ['pip'],
    prepare: ['python3 -m venv .venv && .venv/bin/pip install --quiet -e ".[tests]" ruff==0.15.0'],
    gates: ['.venv/bin/ruff check --no-fix .', '.venv/bin/python -m pytest -q'],
  },
  'pip by groups that include others': {
    files: {
      'pyproject.toml':
        '[project]\nname = "a"\n[dependency-groups]\ndev = [{include-group = "more"}, "tox"]\nmore = ["pytest>=8; python_version < \'4\'"]\n',
      'tests/test_a.py': '',
    },
    tools: ['pip'],
    prepare: [`python3 -m venv .venv && .venv/bin/pip install --quiet -e . tox 'pytest>=8; python_version < "4"'`],
    gates: ['.venv/bin/python -m pytest -q'],
  },
  'pip by the extra in setup.py': {
    files: { 'setup.py': 'setup(extras_require={"test": ["mock", "pytest"]})\n', 'tests/test_a.py': '' },
    tools: ['pip'],
    prepare: ['python3 -m venv .venv && .venv/bin/pip install --quiet -e ".[test]"'],
    gates: ['.venv/bin/python -m pytest -q'],
  },
  'pip by the extra in setup.cfg': {
    files: {
      'setup.py': 'setup()\n',
      'setup.cfg': '[options.extras_require]\ndev =\n  mock\n  pytest\n',
      'tests/test_a.py': '',
    },
    tools: ['pip'],
    prepare: ['python3 -m venv .venv && .venv/bin/pip install --quiet -e ".[dev]"'],
    gates: ['.venv/bin/python -m pytest -q'],
  },
  cargo: { files: { 'Cargo.toml': '[package]\nname = "a"\n' }, tools: ['cargo'], gates: ['cargo test'] },
  'cargo with dependencies': {
    files: { 'Cargo.toml': '[package]\n[dependencies]\nx = "1"\n', 'Cargo.lock': '' },
    tools: ['cargo'],
    prepare: ['cargo fetch --locked'],
    gates: ['cargo test --offline'],
  },
  go: { files: { 'go.mod': 'module a\n' }, tools: ['go'], gates: ['go vet ./...', 'go test ./...'] },
  'go with dependencies': {
    files: { 'go.mod': 'module a\nrequire x v1\n', 'go.sum': '' },
    tools: ['go'],
    prepare: ['GOMODCACHE="$PWD/.cache/go-mod" GOFLAGS=-modcacherw go mod download'],
    gates: ['vet', 'test'].map(
      (name) => `GOMODCACHE="$PWD/.cache/go-mod" GOFLAGS=-modcacherw GOPROXY=off go ${name} ./...`,
    ),
  },
  maven: {
    files: { 'pom.xml': '', mvnw: '' },
    tools: ['maven'],
    prepare: ['./mvnw -q -B -Dmaven.repo.local=.cache/m2 dependency:go-offline'],
    gates: ['./mvnw -q -B -Dmaven.repo.local=.cache/m2 test'],
  },
  gradle: {
    files: { 'build.gradle.kts': '', gradlew: '' },
    tools: ['gradle'],
    prepare: ['./gradlew --no-daemon --quiet testClasses'],
    gates: ['./gradlew --no-daemon --quiet test'],
  },
  bundler: {
    files: { Gemfile: '', 'Gemfile.lock': '', '.rspec': '' },
    tools: ['bundler'],
    prepare: ['bundle install'],
    gates: ['bundle exec rspec'],
  },
  'bundler with rake': {
    files: { Gemfile: '', Rakefile: 'Rake::TestTask.new(:test)\n' },
    tools: ['bundler'],
    prepare: ['bundle install'],
    gates: ['bundle exec rake test'],
  },
  composer: {
    files: { 'composer.json': '{"require-dev":{"phpunit/phpunit":"^11"}}', 'composer.lock': '' },
    tools: ['composer'],
    prepare: ['composer install --no-interaction --no-progress'],
    gates: ['vendor/bin/phpunit'],
  },
  'scripts that check before scripts that repair': {
    files: {
      'package.json': JSON.stringify({
        scripts: {
          lint: 'biome lint --write',
          'lint:check': 'biome lint',
          'type-check': 'tsc',
          format: 'prettier --write .',
          'format:check': 'prettier --check .',
          test: 'vitest',
          'test:watch': 'vitest --watch',
        },
      }),
    },
    tools: ['npm'],
    gates: ['npm run type-check', 'npm run format:check', 'npm run lint:check', 'npm test'],
  },
  'scripts that are named after another kind': {
    files: {
      'package.json': '{"scripts":{"test:lint":"eslint .","test:unit":"jest","typecheck:all":"tsc -p ."}}',
    },
    tools: ['npm'],
    gates: ['npm run typecheck:all', 'npm run test:lint', 'npm run test:unit'],
  },
  'no script that repairs through another': {
    files: { 'package.json': '{"scripts":{"lint":"npm run lint:fix","lint:fix":"eslint --fix .","test":"x"}}' },
    tools: ['npm'],
    gates: ['npm test'],
  },
  'tests in parts, without those that need a person or a browser': {
    files: { 'package.json': '{"scripts":{"test:lib":"a","test:cli":"b","test:watch":"c --watch","test:e2e":"d"}}' },
    tools: ['npm'],
    gates: ['npm run test:lib', 'npm run test:cli'],
  },
  'no gate that another one runs': {
    files: { 'package.json': '{"scripts":{"test":"npm run lint && node --test","lint":"x","check":"npm run lint"}}' },
    tools: ['npm'],
    gates: ['npm run check', 'npm test'],
  },
  'of several names, the one that CI runs': {
    files: {
      'package.json': '{"scripts":{"test:ci":"x","test:unit":"y"}}',
      '.github/workflows/ci.yml': 'on: push\njobs: {a: {steps: [{run: npm run test:unit}]}}\n',
    },
    tools: ['npm'],
    gates: ['npm run test:unit'],
  },
  'a workspace of cargo': {
    files: { 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' },
    tools: ['cargo'],
    prepare: ['cargo fetch'],
    gates: ['cargo test --workspace --offline'],
  },
  deno: {
    files: { 'deno.json': '{\n"tasks": {\n"test": "deno test"\n},\n"lint": {}\n}', 'deno.lock': '{}' },
    tools: ['deno'],
    prepare: ['deno install --frozen'],
    gates: ['deno fmt --check', 'deno lint', 'deno task test'],
  },
  cmake: {
    files: { 'CMakeLists.txt': 'enable_testing()\n' },
    tools: ['cmake'],
    gates: [
      'd=$(mktemp -d) && cmake -S . -B "$d" && cmake --build "$d" -j 4 && ctest --test-dir "$d" --output-on-failure',
    ],
  },
  autotools: {
    files: { 'configure.ac': '', 'Makefile.am': 'TESTS = a\n' },
    tools: ['autotools'],
    gates: ['autoreconf -fi && ./configure && make -j 4 check'],
  },
  'autotools that only build programs': {
    files: { 'configure.ac': '', 'Makefile.am': 'check_PROGRAMS = fuzz\n' },
    tools: ['autotools'],
    gates: ['autoreconf -fi && ./configure && make -j 4'],
  },
  'a script with the name of a formatter that only looks': {
    files: { 'package.json': '{"scripts":{"format":"prettier --check src","test":"x"}}' },
    tools: ['npm'],
    gates: ['npm run format', 'npm test'],
  },
  'no script with the name of a formatter that repairs, and none that waits for changes': {
    files: {
      'package.json':
        '{"scripts":{"format":"biome format","lint":"prettier -w .","test":"vitest watch","test:unit":"x"}}',
    },
    tools: ['npm'],
    gates: ['npm run format', 'npm run test:unit'],
  },
  'no install in a folder without a gate': {
    files: { 'go.mod': 'module a\n', 'web/package.json': '{"dependencies":{"a":"1"}}', 'web/package-lock.json': '{}' },
    tools: ['go'],
    gates: ['go vet ./...', 'go test ./...'],
  },
  make: { files: { Makefile: 'all:\n\ntest: all\n\techo\n' }, tools: ['make'], gates: ['make test'] },
  'a Makefile with a variable only': { files: { Makefile: 'test := 1\n' } },
  'make beside npm': { files: { Makefile: 'test:\n', 'package.json': pkg({}) }, tools: ['npm'], gates: ['npm test'] },
  'two languages': {
    files: { 'go.mod': 'module a\n', 'Cargo.toml': '[package]\n' },
    tools: ['cargo', 'go'],
    gates: ['cargo test', 'go vet ./...', 'go test ./...'],
  },
  'workspaces: one install': {
    files: {
      'package.json': pkg({ workspaces: ['packages/*'] }),
      'package-lock.json': '{}',
      'packages/a/package.json': DEPENDS,
      'packages/a/node_modules/b/package-lock.json': '{}',
    },
    tools: ['npm'],
    prepare: ['npm ci --no-audit --no-fund'],
    gates: ['npm test'],
  },
  'packages of their own': {
    files: {
      'web/package.json': DEPENDS,
      'web/package-lock.json': '{}',
      'my api/requirements.txt': 'pytest\n',
      'my api/tests/test_a.py': '',
      'tests/fixtures/package-lock.json': '{}',
      'vendor/x/go.sum': '',
      'a/b/c/d/Cargo.lock': '',
    },
    tools: ['pip in my api', 'npm in web'],
    prepare: [
      "cd 'my api' && python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt",
      'cd web && npm ci --no-audit --no-fund',
    ],
    gates: ["cd 'my api' && .venv/bin/python -m pytest -q", 'cd web && npm test'],
  },
};
const cases = Object.entries(table).map(([name, { files, tools = [], prepare = [], gates = [] }]) => ({
  name,
  files,
  tools,
  prepare,
  gates,
}));
const runs = (list: { run: string }[]) => list.map(({ run }) => run);

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

describe('the detection of a project', () => {
  test.each(cases)('finds its tools, steps and gates: $name', async ({ files, tools, prepare, gates }) => {
    await put(files);
    const detected = await detect(root, async () => false);
    expect(detected.tools).toEqual(tools);
    expect(runs(detected.prepare)).toEqual(prepare);
    expect(runs(detected.gates)).toEqual(gates);
    expect(new Set(detected.gates.map((gate) => gate.name)).size).toBe(gates.length);
  });

  test('lists the files that decide what is installed', async () => {
    await put({ ...table['workspaces: one install']!.files, '.npmrc': '', 'patches/a.patch': '', '.nvmrc': '24' });
    expect((await detect(root, async () => false)).prepare).toMatchObject([
      { files: ['package-lock.json', 'package.json', 'packages/*/package.json', '.npmrc', '.nvmrc', 'patches/**'] },
    ]);
  });

  test('starts everything through mise where it is installed, and says so where it is not', async () => {
    await put({ ...table['npm with a lock']!.files, 'mise.toml': '[tools]\nnode = "24"\n[tasks.test]\nrun = "x"\n' });
    const without = await detect(root, async () => false);
    expect(without.notes.join()).toContain('as they are on PATH');
    const { tools, prepare, gates } = await detect(root, async (program) => program === 'mise');
    expect(tools).toEqual(['mise', 'npm']);
    expect(prepare[0]?.run).toContain('mise install');
    expect(prepare[1]?.run).toContain("mise exec -- sh -c 'npm ci");
    expect(runs(gates)).toEqual([expect.stringContaining('mise run test')]);
  });

  test('takes a command of the CI for a language without a tool of its own, and only a plain one', async () => {
    const run = ['sudo swift test', 'swift test --x=$X', 'swift test --parallel'].map((text) => ({
      run: text,
    }));
    await put({
      'a.swift': '',
      '.github/workflows/ci.yml': JSON.stringify({ on: ['push'], jobs: { a: { steps: run } } }),
    });
    execFileSync('git', ['init', '-q'], { cwd: root });
    expect((await detect(root, async () => false)).gates).toMatchObject([
      { run: 'swift test --parallel', network: true },
    ]);
  });

  test('says that nothing tests the main language, instead of a gate that proves nothing about it', async () => {
    await put({
      'a.swift': '',
      'b.swift': '',
      'c.swift': '',
      'package.json': '{"scripts":{"lint":"prettier --check ."}}',
    });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { gates, notes } = await detect(root, async () => false);
    expect(gates).toEqual([]);
    expect(notes.join()).toContain('most of the code is Swift, and no command that tests it was found');
  });

  test('expects a cache of Yarn that is committed from the checkout', async () => {
    const lock = { 'package.json': DEPENDS, 'yarn.lock': '__metadata:\n  version: 8\n' };
    await put({ ...lock, '.yarn/cache/a.zip': '', '.gitignore': '.pnp.*\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const makes = async () => (await detect(root, async () => false)).prepare[0]?.makes;
    expect(await makes()).toEqual(['.yarn/cache']);
    execFileSync('git', ['add', '.'], { cwd: root });
    expect(await makes()).toEqual([]);
  });

  test('does not count a lock file that git ignores: no worktree has it', async () => {
    await put({ ...table['npm with a lock']!.files, '.gitignore': '*-lock.*\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    expect(runs((await detect(root, async () => false)).prepare)).toEqual([
      'npm install --no-package-lock --no-audit --no-fund',
    ]);
    execFileSync('git', ['add', '-f', 'package-lock.json'], { cwd: root });
    expect(runs((await detect(root, async () => false)).prepare)).toEqual(['npm ci --no-audit --no-fund']);
  });

  test('proposes a bounded number of steps', async () => {
    for (let index = 0; index < 15; index += 1)
      await put({ [`p${index}/package.json`]: DEPENDS, [`p${index}/package-lock.json`]: '{}' });
    const { prepare, notes } = await detect(root, async () => false);
    expect(prepare).toHaveLength(10);
    expect(notes.join()).toContain('by hand');
  });
});

describe('init', () => {
  test.each(cases)('writes a valid config: $name', async ({ files, prepare, gates }) => {
    await put(files);
    const result = await initProject({ root, target: 'feature/ünïcode: "x"', agent: AGENT });
    expect(result).toMatchObject({ written: true, target: 'feature/ünïcode: "x"' });
    expect(runs(result.prepare)).toEqual(prepare);
    expect(runs(result.gates.filter(({ kind }) => kind === undefined))).toEqual(gates);
    expect(result.gates.flatMap(({ kind }) => kind ?? [])).toEqual(['secrets', 'docs']);
  });

  test('adds an audit where the registry answered, and says in one line when it did not', async () => {
    await put(table['npm with a lock']!.files);
    const asked: string[] = [];
    const init = (answers: boolean) =>
      initProject({ root, target: 'main', agent: AGENT, auditAnswers: async (run) => asked.push(run) > 0 && answers });
    const silent = await init(false);
    expect(silent.gates.map(({ name }) => name)).not.toContain('audit');
    expect(silent.warnings.filter((each) => each.includes('npm audit --json` did not answer'))).toHaveLength(1);
    await rm(join(root, '.tidemill'), { recursive: true });
    const answered = await init(true);
    expect(answered.gates.at(-1)).toEqual({ name: 'audit', kind: 'audit', run: 'npm audit --json' });
    await init(true);
    expect(asked).toEqual(['npm audit --json', 'npm audit --json']);
  });

  test('keeps the name of a gate that the repository has', async () => {
    await put({ 'package.json': '{"scripts":{"test":"x","check:docs":"y"}}' });
    expect((await protectingGates(root, ['docs'], async () => false)).gates).toEqual([
      { name: 'secrets', kind: 'secrets' },
      { name: 'docs-scan', kind: 'docs' },
    ]);
  });

  test('says what git has to ignore, and what it must not', async () => {
    await put({ ...table['npm with a lock']!.files, '.gitignore': '.*\n', '.env.test': 'A=1\n', '.env': 'SECRET=1\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    await put({ '.env.testing': 'A=1\n' });
    execFileSync('git', ['add', '-f', '.env.testing'], { cwd: root });
    const { include, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(include).toEqual(['.env.test']);
    expect(warnings).toEqual([expect.stringContaining('Add this line to .gitignore: /node_modules/')]);
    await put({ '.gitignore': '.*\n*.yaml\n/node_modules/\n!/.tidemill/\n!/.tidemill/**\n' });
    await rm(join(root, '.tidemill'), { recursive: true });
    expect((await initProject({ root, target: 'main', agent: AGENT })).warnings).toEqual([]);
  });

  test('a cache that is only for us ignores itself: nothing in the repository has to be edited', async () => {
    await put({ 'go.mod': 'module a\n\nrequire example.org/b v1.0.0\n', 'a.go': 'package a\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { prepare, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([]);
    expect(runs(prepare)).toEqual([expect.stringMatching(/^mkdir -p \.cache\/ .* && GOMODCACHE=.* go mod download$/)]);
    const [first] = prepare[0]!.run.split(' && GOMODCACHE');
    execFileSync('sh', ['-c', `${first} && echo x > .cache/x`], { cwd: root });
    expect(execFileSync('git', ['status', '--porcelain', '--', '.cache'], { cwd: root }).toString()).toBe('');
    await put({ '.gitignore': '.cache\n' });
    await rm(join(root, '.tidemill'), { recursive: true });
    const again = await initProject({ root, target: 'main', agent: AGENT });
    expect(runs(again.prepare)).toEqual([expect.stringMatching(/^GOMODCACHE/)]);
  });

  test('an environment of Python and gems that git does not ignore ignore themselves', async () => {
    await put({ 'requirements.txt': 'pytest\n', 'tests/test_a.py': '', Gemfile: '', '.rspec': '' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { prepare, warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([]);
    const [venv = '', gems = ''] = prepare.map(({ run }) => run.slice(0, run.search(/python3|bundle install/)));
    execFileSync('sh', ['-c', `${venv} ${gems} echo x > .venv/x; echo x > vendor/bundle/x`], { cwd: root });
    expect(execFileSync('git', ['status', '--porcelain', '--', '.venv', 'vendor'], { cwd: root }).toString()).toBe('');
  });

  test('proposes the folders of the product as source, without tests and scripts', async () => {
    await put({ 'src/a.ts': '', 'src/a.test.ts': '', 'scripts/b.ts': '', 'six.py': '', 'node_modules/c/lib/d.js': '' });
    await put({ '.gitignore': 'node_modules\n' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    const { source } = await initProject({ root, target: 'main', agent: AGENT });
    expect(source).toEqual(['six.py', 'src/**']);
  });

  test('says in the file how to install an agent that is not there yet', async () => {
    const result = await initProject({ root, target: 'main', agent: { type: 'codex' }, install: 'npm install x' });
    expect(await readFile(join(root, result.file), 'utf8')).toContain(
      '# The default agent is not installed yet: npm install x\nagents:\n  default:\n    type: codex\n',
    );
    // There is no code yet.
    expect(result.warnings).toEqual([]);
  });

  test('without a command that tests the code, says that no task starts', async () => {
    await put({ 'notes.txt': 'Code without tests\n' });
    const { warnings } = await initProject({ root, target: 'main', agent: AGENT });
    expect(warnings).toEqual([expect.stringContaining('no gate tests a change, so no task starts')]);
  });

  test('never overwrites a config', async () => {
    const mine = 'agents: { default: { type: command, command: [mine] } }\n';
    await put({ '.tidemill/config.yaml': mine });
    expect(await initProject({ root, target: 'main', agent: AGENT })).toMatchObject({ written: false });
    expect(await readFile(join(root, '.tidemill/config.yaml'), 'utf8')).toBe(mine);
  });

  test.each([
    ['./a --b', ['./a', '--b']],
    ['"my agent" \'-x y\' a\\ b', ['my agent', '-x y', 'a b']],
    ['node "C:\\\\x"', ['node', 'C:\\x']],
  ])('splits the agent command %s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test('refuses an empty agent command', () => {
    expect(() => splitWords('  ')).toThrow('empty');
  });
});
