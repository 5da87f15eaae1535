import type { ApprovalMatter, ProjectRules, Task } from '@tidemill/contract';
import { scopesOverlap } from '../schedule/overlap.ts';

/** Files that declare a project's dependencies, by their names in package managers. */
const MANIFESTS = new Set([
  // JavaScript
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock'],
  ...['pnpm-workspace.yaml', 'bun.lockb', 'deno.json', 'deno.jsonc', 'deno.lock', 'bower.json'],
  // Python
  ...['pyproject.toml', 'poetry.lock', 'uv.lock', 'pdm.lock', 'Pipfile', 'Pipfile.lock', 'setup.py', 'setup.cfg'],
  ...['environment.yml', 'environment.yaml', 'pixi.toml', 'pixi.lock'],
  // Rust, Go, Ruby, PHP, Elixir, Dart, Swift
  ...['Cargo.toml', 'Cargo.lock', 'go.mod', 'go.sum', 'go.work', 'go.work.sum', 'Gemfile', 'Gemfile.lock'],
  ...['composer.json', 'composer.lock', 'mix.exs', 'mix.lock', 'pubspec.yaml', 'pubspec.lock'],
  ...['Package.swift', 'Package.resolved', 'Podfile', 'Podfile.lock', 'Cartfile', 'Cartfile.resolved'],
  // JVM, .NET, C and C++, others
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.lockfile'],
  ...['libs.versions.toml', 'build.sbt', 'project.clj', 'deps.edn', 'packages.config', 'packages.lock.json'],
  ...['Directory.Packages.props', 'paket.dependencies', 'paket.lock', 'conanfile.txt', 'conanfile.py', 'vcpkg.json'],
  ...['rebar.config', 'rebar.lock', 'stack.yaml', 'stack.yaml.lock', 'cabal.project', 'Project.toml', 'Manifest.toml'],
  ...['flake.nix', 'flake.lock', '.gitmodules', 'MODULE.bazel', 'MODULE.bazel.lock'],
]);
const MANIFEST_NAMES =
  /^(requirements[\w.-]*\.(txt|in)|constraints[\w.-]*\.txt|.+\.(csproj|fsproj|vbproj|gemspec|cabal))$/i;

const isManifest = (file: string) => {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return MANIFESTS.has(name) || MANIFEST_NAMES.test(name);
};

/**
 * The matters that a change touches, each with its files. Judged by the files alone, not by what the author says.
 */
export function touchesOf(
  files: string[],
  task: Pick<Task, 'files'>,
  rules: Pick<ProjectRules, 'critical'>,
): [ApprovalMatter, string[]][] {
  const isOutside = (file: string) => task.files.length > 0 && !scopesOverlap([literal(file)], task.files);
  const isCritical = (file: string) => scopesOverlap([literal(file)], rules.critical);
  const touched: [ApprovalMatter, string[]][] = [
    ['scopeChanges', files.filter(isOutside)],
    ['architectureDecisions', files.filter(isCritical)],
    ['dependencyModifications', files.filter(isManifest)],
  ];
  return touched.filter(([, those]) => those.length > 0);
}

/** A file's name may contain glob wildcards; here they have no meaning. */
const literal = (file: string) => file.replace(/[*?[\]{}]/g, '_');
