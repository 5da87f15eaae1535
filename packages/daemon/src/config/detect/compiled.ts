import type { Folder } from './folder.ts';
import { gate, type Tool } from './tool.ts';

/**
 * These tools store downloads in the home folder, which is deleted after each sandboxed command. So they get a folder in
 * the worktree that git ignores. It becomes part of the result of `prepare`.
 */
const CACHE = '.cache';
const KEPT = 'Kept in the worktree: gates run without the home folder and without the network.';
/** Both download parts of their plugins only when tests run. */
const ALSO_LATER = 'Fetched ahead; what the tests themselves ask for late comes over the network.';

export const compiledTools: Tool[] = [
  {
    name: 'cargo',
    language: 'rust',
    shownBy: ['Cargo.toml'],
    ownIn: ['Cargo.lock'],
    async propose(folder) {
      const manifest = await folder.text('Cargo.toml');
      const isWorkspace = /^\[workspace[\].]/m.test(manifest);
      const needs = /^\[(.*\.)?(dev-|build-)?dependencies/m.test(manifest) || isWorkspace;
      if (!needs) return { prepare: [], gates: [gate('test', 'cargo test', '10m')] };
      const env = { CARGO_HOME: 'target/cargo-home' };
      const lock = folder.present('Cargo.lock');
      const files = [
        ...lock,
        '**/Cargo.toml',
        ...folder.present('rust-toolchain', 'rust-toolchain.toml', '.cargo/config.toml'),
      ];
      const run = `cargo fetch${lock.length > 0 ? ' --locked' : ''}`;
      return {
        prepare: [{ run, files, env, comment: KEPT, makes: ['target'] }],
        gates: [gate('test', `cargo test${isWorkspace ? ' --workspace' : ''} --offline`, '20m', { env })],
      };
    },
  },
  {
    name: 'go',
    language: 'go',
    shownBy: ['go.mod', 'go.work'],
    ownIn: ['go.sum'],
    async propose(folder) {
      const isVendored = folder.has('vendor/modules.txt');
      const needs = /^require\b/m.test(await folder.text('go.mod')) || folder.has('go.work');
      if (isVendored || !needs)
        return { prepare: [], gates: [gate('vet', 'go vet ./...', '5m'), gate('test', 'go test ./...', '10m')] };
      // Go accepts no relative path here. Without the flag its cache is read-only and could not be deleted.
      const cache = `GOMODCACHE="$PWD/${CACHE}/go-mod" GOFLAGS=-modcacherw`;
      const gates = [
        ['vet', '5m'],
        ['test', '10m'],
      ].map(([name, timeout]) => gate(name!, `${cache} GOPROXY=off go ${name} ./...`, timeout));
      const files = folder.present('go.mod', 'go.sum', 'go.work', 'go.work.sum');
      return { prepare: [{ run: `${cache} go mod download`, files, comment: KEPT, makes: [CACHE] }], gates };
    },
  },
  {
    name: 'maven',
    language: 'jvm',
    shownBy: ['pom.xml'],
    ownIn: ['mvnw'],
    async propose(folder) {
      const program = folder.has('mvnw') ? './mvnw' : 'mvn';
      const env = { MAVEN_USER_HOME: `${CACHE}/maven` };
      const command = `${program} -q -B -Dmaven.repo.local=${CACHE}/m2`;
      const files = ['**/pom.xml', ...(folder.has('.mvn') ? ['.mvn/**'] : [])];
      return {
        prepare: [{ run: `${command} dependency:go-offline`, files, env, comment: ALSO_LATER, makes: [CACHE] }],
        gates: [gate('test', `${command} test`, '10m', { env, network: true })],
      };
    },
  },
  {
    name: 'gradle',
    language: 'jvm',
    shownBy: ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
    ownIn: ['gradlew'],
    async propose(folder) {
      const command = `${folder.has('gradlew') ? './gradlew' : 'gradle'} --no-daemon --quiet`;
      const env = { GRADLE_USER_HOME: `${CACHE}/gradle` };
      const files = [
        '**/*.gradle',
        '**/*.gradle.kts',
        ...folder.present('gradle.lockfile', 'gradle.properties', 'gradle/libs.versions.toml'),
        ...folder.present('gradle/wrapper/gradle-wrapper.properties'),
      ];
      return {
        prepare: [
          { run: `${command} testClasses`, files, env, comment: ALSO_LATER, makes: [CACHE, '.gradle', 'build'] },
        ],
        gates: [gate('test', `${command} test`, '10m', { env, network: true })],
      };
    },
  },
  {
    name: 'bundler',
    language: 'ruby',
    shownBy: ['Gemfile'],
    ownIn: ['Gemfile.lock'],
    async propose(folder) {
      const env = { BUNDLE_PATH: 'vendor/bundle' };
      const lock = folder.present('Gemfile.lock');
      const files = [...lock, 'Gemfile', ...folder.present('.ruby-version', '.bundle/config')];
      const rakefile = await folder.text('Rakefile');
      const command =
        folder.has('.rspec') || folder.has('spec') ? 'rspec' : /\btest\b/i.test(rakefile) ? 'rake test' : null;
      const gates = [
        ...(folder.has('.rubocop.yml') ? [gate('lint', 'bundle exec rubocop', '2m', { env })] : []),
        ...(command ? [gate('test', `bundle exec ${command}`, '5m', { env })] : []),
      ];
      const frozen = lock.length > 0 ? { BUNDLE_FROZEN: 'true' } : {};
      return {
        prepare: [{ run: 'bundle install', files, env: { ...env, ...frozen }, makes: ['vendor/bundle'] }],
        gates,
      };
    },
  },
  {
    name: 'composer',
    language: 'php',
    shownBy: ['composer.json'],
    ownIn: ['composer.lock'],
    async propose(folder) {
      const files = [...folder.present('composer.lock'), 'composer.json'];
      const run = 'composer install --no-interaction --no-progress';
      return { prepare: [{ run, files, makes: ['vendor'] }], gates: await phpGates(folder) };
    },
  },
];

async function phpGates(folder: Folder) {
  const manifest = await folder.text('composer.json');
  const tests = [
    { isThere: folder.has('tests/Pest.php') || manifest.includes('"pestphp/pest"'), run: 'vendor/bin/pest' },
    {
      isThere: folder.present('phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml').length > 0,
      run: 'vendor/bin/phpunit',
    },
    { isThere: manifest.includes('"phpunit/phpunit"'), run: 'vendor/bin/phpunit' },
  ].find(({ isThere }) => isThere);
  const isAnalysed = folder.present('phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon').length > 0;
  return [
    ...(isAnalysed ? [gate('lint', 'vendor/bin/phpstan analyse --no-progress')] : []),
    ...(tests ? [gate('test', tests.run, '5m')] : []),
  ];
}
