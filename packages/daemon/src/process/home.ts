import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

// A person's home holds keys to everything they own, and next to them the tools that a build needs. A sandbox shows none
// of it but the tools: a list of what may be seen, since nobody could list what may not.

/** Tools, their libraries and what they have downloaded. None of these is where a tool keeps passwords. */
const TOOLS = [
  ...['bin', 'go', 'sdk', '.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'],
  ...['.npm', '.nvm', '.fnm', '.volta', '.bun', '.deno', '.yarn', '.pnpm-store', '.npm-global', '.npm-packages'],
  ...['.cargo', '.rustup', '.pyenv', '.rbenv', '.rvm', '.gem', '.asdf', '.sdkman', '.jenv', '.goenv', '.nodenv'],
  ...['.dotnet', '.nuget/packages', '.m2/repository', '.m2/wrapper', '.gradle', '.ivy2/cache', '.sbt/boot'],
  ...['.composer/vendor', '.ghcup', '.cabal/bin', '.cabal/packages', '.cabal/store', '.stack', '.opam', '.elan'],
  ...['.juliaup', '.julia', '.swiftly', '.proto', '.linuxbrew', '.nix-profile', '.local/bin', '.local/lib'],
  ...['claude', 'uv', 'pipx', 'mise', 'fnm', 'pnpm', 'nvm', 'virtualenv', 'virtualenvs', 'coursier'].map(
    (name) => `.local/share/${name}`,
  ),
  ...['pip', 'uv', 'pypoetry', 'go-build', 'node', 'pnpm', 'yarn', 'deno', 'zig', 'bazel', 'ccache', 'coursier'].map(
    (name) => `.cache/${name}`,
  ),
  ...['ms-playwright', 'puppeteer', 'Cypress', 'electron', 'selenium', 'pre-commit', 'golangci-lint'].map(
    (name) => `.cache/${name}`,
  ),
];

/** Kept among the tools nevertheless, or in plain sight where the repository is the home folder itself. */
const SECRETS = [
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gradle/gradle.properties', '.gem/credentials'],
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.oci', '.config/gcloud', '.config/gh', '.config/hub'],
  ...['.netrc', '.npmrc', '.pypirc', '.pgpass', '.my.cnf', '.git-credentials', '.config/git/credentials'],
  ...['.vault-token', '.m2/settings.xml', '.claude', '.claude.json', '.codex', '.gemini', '.password-store'],
  ...[
    '.local/share/keyrings',
    '.local/share/opencode',
    '.config/op',
    '.terraform.d',
    '.mozilla',
    '.config/google-chrome',
  ],
];

/** Many things of different kinds lie in these; being next to a tool says nothing. */
const SHARED = ['', '.local', '.local/share', '.local/state', '.config', '.cache'];
const INSTALLED_MARKS = ['lib', 'lib64', 'libexec', 'share', 'versions', 'package.json', 'pyvenv.cfg'];
const PROJECT_MARKS = ['package.json', 'pyproject.toml', 'Cargo.toml', 'go.mod', '.git'];

/** Every folder that is somebody's home for this child: the one it is told, the daemon's and the account's. */
export async function homesOf(told: string | undefined): Promise<string[]> {
  const real = await Promise.all([told ?? '', homedir(), accountHome()].map((at) => realOr(at, '')));
  return [...new Set(real)].filter((at) => at !== '' && at !== path.sep);
}

function accountHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return ''; // an account that the system does not know has no home either
  }
}

export const homeTools = (home: string): string[] => TOOLS.map((name) => path.join(home, name));
export const homeSecrets = (home: string): string[] => SECRETS.map((name) => path.join(home, name));

/**
 * What belongs to a program, or to a folder of programs, in a home: the project or the tree it was installed in, as
 * little around it as can be told. `~/.local/bin/x` is alone; `~/node-v24/bin/node` needs all of `~/node-v24`. Null for
 * a folder where much else lies too.
 */
export async function homeTree(file: string, home: string): Promise<string | null> {
  const names = path.relative(home, file).split(path.sep);
  const modules = names.indexOf('node_modules');
  if (modules >= 0) return path.join(home, ...names.slice(0, modules + 1));
  const isFolder = (await stat(file).catch(() => null))?.isDirectory() ?? false;
  const folder = isFolder ? file : path.dirname(file);
  const isShared = (at: string) => SHARED.includes(path.relative(home, at));
  if (isShared(folder)) return isFolder ? null : file;
  if (/^(s?bin|shims|libexec)$/.test(path.basename(folder))) {
    const above = path.dirname(folder);
    return !isShared(above) && (await hasAny(above, INSTALLED_MARKS)) ? above : folder;
  }
  for (let at = folder; !isShared(at); at = path.dirname(at)) if (await hasAny(at, PROJECT_MARKS)) return at;
  return folder;
}

async function hasAny(folder: string, names: string[]): Promise<boolean> {
  const found = await Promise.all(names.map((name) => stat(path.join(folder, name)).catch(() => null)));
  return found.some((entry) => entry !== null);
}

/** Where the links in a folder of programs lead: `~/.local/bin/node` is often one into a folder that is not on PATH. */
export async function linkedPrograms(folder: string): Promise<string[]> {
  if (folder.includes(`${path.sep}node_modules${path.sep}`)) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  return Promise.all(links.map(({ name }) => realOr(path.join(folder, name), folder)));
}

const realOr = (at: string, otherwise: string) =>
  at === '' ? Promise.resolve('') : realpath(at).catch(() => otherwise);
