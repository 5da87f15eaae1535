import path from 'node:path';
import type { PrepareStep } from '@tidemill/contract';
import { type CheckCommand, manifestsOf, namedPaths } from '@tidemill/core';
import type { Workspace } from '../ports.ts';

/** Package managers run these scripts of a manifest, although no command names them. */
const LIFECYCLE = 'preinstall install postinstall prepublish preprepare prepare postprepare dependencies';

/** Files that programs which install packages read by themselves, in any folder. */
const INSTALLERS = new RegExp(
  [
    String.raw`package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb?`,
    String.raw`\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.\w+|pnpmfile\.\w+|bunfig\.toml|lerna\.json|\.node-version|\.nvmrc`,
    String.raw`(requirements|constraints)[^/]*\.(txt|in)|pyproject\.toml|setup\.(py|cfg)|manifest\.in|pipfile(\.lock)?`,
    String.raw`(poetry|uv|pdm|pixi)\.(lock|toml)|pip\.conf|environment\.ya?ml|conda-lock\.yml|\.python-version`,
    String.raw`cargo\.(toml|lock)|rust-toolchain(\.toml)?|build\.rs|go\.(mod|sum|work|work\.sum)|vendor/modules\.txt`,
    String.raw`gemfile(\.lock)?|[^/]*\.gemspec|\.ruby-version|composer\.(json|lock)|mix\.(exs|lock)|\.tool-versions`,
    String.raw`(gnu)?makefile|[^/]*\.mk|justfile|taskfile\.ya?ml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|pom\.xml`,
    String.raw`[^/]*\.csproj|packages\.lock\.json|nuget\.config|\.gitattributes|\.gitmodules`,
  ]
    .map((names) => `(^|/)(${names})$`)
    .concat(String.raw`(^|/)(\.yarn|patches|\.cargo|\.bundle)/`)
    .join('|'),
  'i',
);

/** The commands of `prepare`, as commands whose scripts decide what gates see. */
export const prepareChecks = (steps: readonly PrepareStep[]): CheckCommand[] =>
  steps.map(({ run }) => ({ name: run, run: `${run}\nnpm run ${LIFECYCLE}`, proves: [], of: 'prepare' as const }));

/** Whether a file says what is installed: it is declared in the config, or known to package managers. */
export const isOfInstaller = (steps: readonly PrepareStep[], file: string): boolean =>
  INSTALLERS.test(file) || steps.some((step) => step.files.some((glob) => matches(file, glob)));

const matches = (file: string, glob: string) => file === glob || (/[*?[{]/.test(glob) && path.matchesGlob(file, glob));

export type InputFile = [file: string, version: string];

/**
 * The files of a commit that the steps read: those that they were seen to read, and what can be known without running
 * them: the declared files, the scripts that the commands name with the files beside them, and the files that installers
 * read by themselves.
 */
export async function inputsOf(
  steps: readonly PrepareStep[],
  workspace: Pick<Workspace, 'filesAt' | 'changedFiles'>,
  commit: string,
  read: ReadonlySet<string>,
): Promise<InputFile[]> {
  const checks = prepareChecks(steps);
  const [files, { before }] = await Promise.all([
    workspace.filesAt(commit, 'all'),
    workspace.changedFiles(null, { trees: { base: commit, tree: commit }, alsoBefore: manifestsOf(checks) }),
  ]);
  const named = namedPaths(checks, before);
  const folders = [...named.folders.keys()];
  return files.filter(
    ([file]) =>
      read.has(file) ||
      isOfInstaller(steps, file) ||
      named.files.has(file) ||
      folders.some((folder) => file.startsWith(folder)),
  );
}
