import type { ApprovalMatter, ProjectRules, Task } from '@tidemill/contract';
import { isUnplanned } from '../pipeline/plan.ts';
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

/** Whether the file declares dependencies: a package has one in its folder. */
export const isManifest = (file: string) => {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return MANIFESTS.has(name) || MANIFEST_NAMES.test(name);
};

/** Files that others rely on: how the program is built, run and deployed, its interfaces, and how it stores data. */
const STRUCTURE = [
  /^(dockerfile|containerfile)(\..+)?$|^(docker-)?compose(\..+)?\.ya?ml$|^(procfile|jenkinsfile|vagrantfile)$/i,
  /^(\.gitlab-ci\.yml|azure-pipelines\.yml|cloudbuild\.yaml|serverless\.ya?ml|fly\.toml|vercel\.json|netlify\.toml)$/i,
  /^(chart|kustomization|skaffold)\.ya?ml$|\.(tf|tfvars|bicep|nomad)$/i,
  /^(openapi|swagger)[\w.-]*\.(ya?ml|json)$|\.(proto|graphqls|wsdl|avsc|thrift|prisma)$|^schema\.(graphql|sql|rb)$/i,
];
const STRUCTURE_FOLDERS = /(^|\/)(\.github\/workflows|\.circleci|migrations|migrate|alembic\/versions)\//i;
const isStructure = (file: string) => {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return STRUCTURE_FOLDERS.test(file) || STRUCTURE.some((pattern) => pattern.test(name));
};

/** The top-level folder of each file that is in one. */
export const foldersOf = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => (file.includes('/') ? [file.slice(0, file.indexOf('/'))] : []))),
];

/**
 * The matters that a change touches, each with its files. Judged by the files alone, not by what the author says.
 * `added`: top-level folders and manifests that the target does not have.
 */
export function touchesOf(
  files: string[],
  task: Pick<Task, 'files' | 'pipeline' | 'hilConfig'>,
  rules: ProjectRules,
  added: ReadonlySet<string> = new Set(),
): [ApprovalMatter, string[]][] {
  const isAll = isUnplanned(rules, task);
  const isOutside = (file: string) => isAll || (task.files.length > 0 && !scopesOverlap([literal(file)], task.files));
  const isNew = (file: string) => added.has(file) || foldersOf([file]).some((folder) => added.has(folder));
  const isArchitecture = (file: string) =>
    scopesOverlap([literal(file)], rules.critical) || isStructure(file) || isNew(file);
  const touched: [ApprovalMatter, string[]][] = [
    ['scopeChanges', files.filter(isOutside)],
    ['architectureDecisions', files.filter(isArchitecture)],
    ['dependencyModifications', files.filter(isManifest)],
  ];
  return touched.filter(([, those]) => those.length > 0);
}

/** A file's name may contain glob wildcards; here they have no meaning. */
const literal = (file: string) => file.replace(/[*?[\]{}]/g, '_');
