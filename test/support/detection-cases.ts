interface Case {
  files: Record<string, string>;
  tools?: string[];
  prepare?: string[];
  gates?: string[];
}
const pkg = (more: object) => JSON.stringify({ scripts: { test: 'x' }, ...more });
export const DEPENDS = pkg({ devDependencies: { a: '1' } });

/** Small repositories, and what `init` must find in each. */
export const detectedProjects: Record<string, Case> = {
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
export const detectionCases = Object.entries(detectedProjects).map(
  ([name, { files, tools = [], prepare = [], gates = [] }]) => ({
    name,
    files,
    tools,
    prepare,
    gates,
  }),
);
