/** Facts from a file's path alone. All compare the path in lower case: some file systems ignore case. */

const JS = '[cm]?[jt]sx?';
const DATA = 'json|jsonc|json5|ya?ml|toml|cfg|ini|xml|neon|dist';
const LINTERS = [
  ...['eslint', 'prettier', 'stylelint', 'oxlint', 'oxlintrc', 'xo', 'markdownlint', 'markdownlint-cli2', 'commitlint'],
  ...['tslint', 'jshint', 'htmlhint', 'golangci', 'rubocop', 'rubocop_todo', 'flake8', 'pylint', 'ruff', 'mypy'],
  ...['phpstan', 'psalm', 'phpcs', 'pmd', 'rustfmt', 'clippy', 'clang-tidy', 'clang-format', 'checkstyle', 'detekt'],
  ...['ktlint', 'scalafmt', 'swiftlint', 'yamllint', 'shellcheck', 'hadolint', 'credo', 'knip', 'depcheck', 'sqlfluff'],
  ...['php-cs-fixer', 'php_cs'],
].join('|');
const named = (pattern: string) => new RegExp(`(^|/)(${pattern})$`);

/** Files that decide what a test, a linter, a package manager or an external pipeline does. The first match counts. */
const CONFIGURATION: [why: string, paths: RegExp][] = [
  ['is a program or package that gates use', /(^|\/)(node_modules|\.venv|venv|vendor\/bin)\//],
  [
    'is a CI pipeline of this repository',
    new RegExp(
      [
        '^\\.github/(workflows|actions)/',
        '^\\.(circleci|buildkite|woodpecker|husky|forgejo|gitea)/',
        '(^|/)(\\.gitlab-ci|\\.travis|\\.drone|\\.woodpecker|\\.?appveyor|azure-pipelines|bitbucket-pipelines|cloudbuild|codecov|\\.codecov)[^/]*\\.ya?ml$',
        '(^|/)(jenkinsfile[^/]*|\\.pre-commit-config\\.yaml|\\.?lefthook\\.(ya?ml|toml|json)|\\.lintstagedrc[^/]*)$',
      ].join('|'),
    ),
  ],
  [
    'configures a package manager or the versions of tools',
    named(
      '\\.npmrc|\\.yarnrc(\\.ya?ml)?|\\.?pnpmfile\\.[cm]?js|bunfig\\.toml|\\.?pip\\.(conf|ini)|uv\\.toml|poetry\\.toml|\\.cargo/config(\\.toml)?|\\.bundle/config|\\.mvn/.*|mvnw(\\.cmd)?|gradlew(\\.bat)?|gradle\\.properties|gradle/wrapper/.*|\\.nvmrc|\\.node-version|\\.python-version|\\.ruby-version|\\.tool-versions|\\.?mise(\\.[\\w-]+)*\\.toml|\\.?mise/.*|rust-toolchain(\\.toml)?|\\.env(\\.[\\w.-]+)?|\\.envrc',
    ),
  ],
  [
    'configures tests',
    named(
      `(vitest|vite|jest|mocha|ava|karma|playwright|cypress|wdio|nightwatch|babel|swc|c8|nyc|stryker|tap)(\\.[\\w-]+)?\\.(config|conf|workspace|setup|projects)\\.(${JS}|json|ya?ml)|(jest|vitest|test|tests|mocha|ava|playwright)[._-]?(global[._-]?)?(setup|teardown|bootstrap|environment|preset|reporter)[^/]*\\.(${JS})|setup[-_.]?(tests?|jest|vitest)[^/]*\\.(${JS})|\\.(mocharc|nycrc|c8rc|taprc|babelrc|swcrc|jestrc|avarc)(\\.[\\w]+)?|vitest\\.workspace\\.\\w+|pytest\\.ini|\\.?pytest\\.(toml|ini)|tox\\.ini|noxfile\\.py|conftest\\.py|\\.coveragerc|phpunit(\\.dist)?\\.xml(\\.dist)?|pest\\.php|behat\\.ya?ml(\\.dist)?|\\.rspec(-[\\w]+)?|(spec|rails|test)_helper\\.rb|sitecustomize\\.py|usercustomize\\.py|[^/]+\\.pth|(pytest|unittest|nose|coverage|doctest)(\\.py|/__init__\\.py)|\\.config/nextest\\.toml|testng\\.xml|junit-platform\\.properties|[^/]*\\.runsettings|deno\\.jsonc?`,
    ),
  ],
  [
    'instructs the coding agents that work here later',
    new RegExp(
      [
        '(^|/)(agents?(\\.override|\\.local)?|claude(\\.local)?|gemini|qwen)\\.mdc?$',
        '(^|/)\\.(cursor|windsurf|cline|roo|goose|kilocode|codeium|aider|augment)(rules|hints|ignore|-guidelines)?[^/]*$',
        '(^|/)\\.(claude|codex|cursor|gemini|qwen|windsurf|clinerules|roo|kiro|amazonq|continue|opencode|augment|junie|factory|goose|crush|agents?|agent-rules|trae|kilocode|cline|rules|openhands|devin|tabnine|idx|codebuddy|lingma|cody|claude-plugin)/',
        '(^|/)\\.github/(copilot-instructions\\.md$|(instructions|prompts|chatmodes|agents|skills)/)',
        '(^|/)\\.(rules|agentrules|airules|ai-rules)$|(^|/)skill\\.md$',
        // Programs that an agent starts, and names that could be a page of the project elsewhere than in its root.
        '(^|/)(\\.?mcp|\\.?opencode|\\.?crush)\\.jsonc?$|^\\.?(warp|crush|codex|replit)\\.md$',
      ].join('|'),
    ),
  ],
  ['changes how files are checked out', named('\\.gitattributes')],
  ['replaces real code in tests', /(^|\/)__mocks__\//],
  [
    'configures a linter, a formatter or a type checker',
    named(
      [
        `\\.(${LINTERS})(rc|ignore)?(\\.(${DATA}|${JS}|php))*`,
        `(${LINTERS})(rc|ignore)?(\\.(${DATA}))+`,
        `(${LINTERS})[._-]config\\.(${JS}|${DATA})`,
        'biome\\.jsonc?|dprint\\.jsonc?|pyrightconfig\\.json|(ts|js)config[^/]*\\.json|pylintrc|phpstan[^/]*\\.php|analysis_options\\.yaml|sonar-project\\.properties',
      ].join('|'),
    ),
  ],
  [
    'defines what the commands of gates do',
    named(
      '(gnu)?makefile|[^/]+\\.mk|\\.?justfile|taskfile\\.ya?ml|rakefile|[^/]+\\.rake|gruntfile\\.\\w+|gulpfile\\.\\w+|build\\.gradle(\\.kts)?|settings\\.gradle(\\.kts)?|pom\\.xml|turbo\\.json|nx\\.json|lerna\\.json|moon\\.ya?ml|wireit\\.json|build\\.rs|meson\\.build|mix\\.exs|package\\.swift|dockerfile[^/]*|(docker-)?compose[^/]*\\.ya?ml',
    ),
  ],
];

export function configurationWhy(path: string): string | null {
  const lower = path.toLowerCase();
  return CONFIGURATION.find(([, paths]) => paths.test(lower))?.[0] ?? null;
}

const CODE =
  /\.([cm]?[jt]sx?|vue|svelte|astro|py|pyi|pyx|go|rs|rb|php|java|kt|kts|scala|groovy|cs|fs|vb|swift|exs?|erl|clj[cs]?|dart|c|cc|cpp|cxx|h|hpp|m|mm|lua|pl|pm|r|jl|hs|ml|mli|zig|nim|sh|bash|zsh|fish|bats|ps1|feature)$/;
export const isCode = (path: string) => CODE.test(path.toLowerCase());

const TEST_FILE = new RegExp(
  [
    `\\.(test|tests|spec|specs|e2e|cy|bench|test-d)\\.(${JS})$`,
    `(^|/)(tests?|specs?)\\.(${JS})$`,
    `(^|/)test[-_.][^/]+\\.(${JS})$`,
    `[-_]test\\.(${JS})$`,
    '(^|/)(test_[^/]*|[^/]*_test|tests?)\\.(py|go|rb|c|cc|cpp|rs|dart|exs|php|lua|ml)$',
    '_spec\\.(rb|lua|cr)$',
    '[a-z0-9](test|tests|it|spec|testcase)\\.(java|kt|scala|groovy|cs|fs|vb|swift|php)$',
    '\\.(bats|feature|hurl)$',
  ].join('|'),
);
const TEST_FOLDER =
  /(^|\/)(tests?|__tests__|specs?|e2e|integration|testing|testdata|test[-_](utils|helpers|support|lib|fixtures|data)|cypress|__fixtures__|__snapshots__|fixtures)\//;

export const isTestFile = (path: string) => TEST_FILE.test(path.toLowerCase());
export const isInTestFolder = (path: string) => TEST_FOLDER.test(path.toLowerCase());
/** Java and Rust projects keep tests in `src/test` and in source files. Names and content cover both. */
export const isOfTests = (path: string) => isTestFile(path) || isInTestFolder(path);

export const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
export const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
