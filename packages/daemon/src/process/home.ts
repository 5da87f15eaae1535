import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

// A person's home holds keys to everything they own, and next to them the tools that a build needs. A sandbox shows none
// of it but the tools: a list of what may be seen, since nobody could list what may not.

const names = (text: string, folder = '') => text.split(' ').map((name) => path.join(folder, name));

/** Tools, their libraries and what they have downloaded. */
const TOOLS = [
  ...names('bin go/bin go/pkg sdk miniconda3 anaconda3 miniforge3 Android/Sdk .gitconfig'),
  ...names('config ignore attributes', '.config/git'),
  ...names('.npm .nvm .fnm .volta .bun .deno .yarn .pnpm-store .npm-global .npm-packages .cargo .rustup .pyenv .rbenv'),
  ...names('.rvm .gem .asdf .sdkman .jenv .goenv .nodenv .dotnet .nuget/packages .m2/repository .m2/wrapper .gradle'),
  ...names('.ivy2/cache .sbt/boot .composer/vendor .ghcup .cabal/bin .cabal/packages .cabal/store .stack .opam .elan'),
  ...names('.juliaup .julia .swiftly .proto .linuxbrew .nix-profile .conda/envs .conda/pkgs .pub-cache'),
  ...names('.local/bin .local/lib .local/pipx'),
  ...names('claude uv pipx mise fnm pnpm nvm virtualenv virtualenvs coursier gem', '.local/share'),
  ...names('pip uv pypoetry go-build node pnpm yarn deno zig bazel ccache coursier ms-playwright puppeteer', '.cache'),
  ...names('Cypress electron selenium pre-commit golangci-lint torch huggingface/hub', '.cache'),
];

/** Kept among the tools nevertheless, or in plain sight where the repository is the home folder itself. */
const SECRETS = [
  ...names('.cargo/credentials .cargo/credentials.toml .gradle/gradle.properties .gem/credentials .julia/servers'),
  ...names('.pub-cache/credentials.json .local/share/uv/credentials .m2/settings.xml .terraform.d .password-store'),
  ...names('.ssh .gnupg .aws .azure .kube .docker .oci .netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials'),
  ...names('.vault-token .claude .claude.json .codex .gemini .mozilla .local/share/keyrings .local/share/opencode'),
  ...names('gcloud gh hub git/credentials op google-chrome', '.config'),
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
