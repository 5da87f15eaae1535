import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

// A home folder contains credentials and also the tools that a build needs. A sandbox sees only the tools: programs,
// toolchains, libraries and downloads. This is an allowlist down to the parts of each tool's folder, because tools keep
// their settings and logins beside their programs, and a complete denylist is impossible.

const names = (text: string, folder = '') => text.split(' ').map((name) => path.join(folder, name));

const VERSIONS = 'bin shims versions version libexec plugins completions lib src';
const CONDA = 'bin sbin condabin lib libexec include share pkgs envs ssl conda-meta shell etc/profile.d';

const TOOLS = [
  ...names('bin go/bin go/pkg sdk Android/Sdk .nix-profile .pnpm-store .swiftly/bin .swiftly/toolchains'),
  ...['miniconda3', 'anaconda3', 'miniforge3'].flatMap((folder) => names(CONDA, folder)),
  ...names('envs pkgs', '.conda'),
  ...names('ignore attributes', '.config/git'),
  ...names('_cacache _npx _prebuilds', '.npm'),
  ...names('versions alias nvm.sh nvm-exec bash_completion', '.nvm'),
  ...names('node-versions aliases', '.fnm'),
  ...names('bin tools cache', '.volta'),
  ...names('bin install', '.bun'),
  ...names('bin', '.deno'),
  ...names('bin berry cache releases', '.yarn'),
  ...['.npm-global', '.npm-packages'].flatMap((folder) => names('bin lib share', folder)),
  ...names('bin registry git env', '.cargo'),
  ...['.rustup', '.elan'].flatMap((folder) => names('bin toolchains settings.toml update-hashes', folder)),
  ...['.pyenv', '.rbenv', '.jenv', '.goenv', '.nodenv'].flatMap((folder) => names(VERSIONS, folder)),
  ...names('pyenv.d', '.pyenv'),
  ...names('rbenv.d', '.rbenv'),
  ...names('bin gems rubies scripts lib environments wrappers', '.rvm'),
  ...names('ruby specs', '.gem'),
  ...names('bin shims installs plugins lib completions asdf.sh', '.asdf'),
  ...names('bin candidates libexec src', '.sdkman'),
  ...names('dotnet host sdk shared packs templates sdk-manifests tools library-packs metadata', '.dotnet'),
  ...names('.nuget/packages .m2/repository .m2/wrapper .ivy2/cache .sbt/boot .composer/vendor'),
  ...names('wrapper caches jdks native', '.gradle'),
  ...names('bin ghc hls cabal stack share env', '.ghcup'),
  ...names('bin packages store', '.cabal'),
  ...names('programs snapshots pantry setup-exe-cache stack.sqlite3', '.stack'),
  ...names('default/bin default/lib default/share opam-init', '.opam'),
  ...names('bin', '.juliaup'),
  ...names('juliaup packages artifacts compiled registries environments scratchspaces', '.julia'),
  ...names('bin shims tools plugins', '.proto'),
  ...names('bin sbin lib opt share include Cellar Homebrew etc/openssl@3 etc/ca-certificates', '.linuxbrew'),
  ...names('bin hosted git global_packages', '.pub-cache'),
  ...names('.local/bin .local/lib .local/pipx'),
  ...names('claude/versions uv/tools uv/python pipx/venvs pipx/shared pipx/py fnm/node-versions', '.local/share'),
  ...names(
    'fnm/aliases mise/installs mise/shims mise/plugins mise/bin pnpm nvm virtualenv virtualenvs',
    '.local/share',
  ),
  ...names('coursier/bin coursier/jvm gem/ruby', '.local/share'),
  ...names('pip uv pypoetry go-build node pnpm yarn deno zig bazel ccache coursier ms-playwright puppeteer', '.cache'),
  ...names('Cypress electron selenium pre-commit golangci-lint torch huggingface/hub', '.cache'),
];

/** Folders of tools of which only parts are shown, relative to a home. */
export const PARTLY_SHOWN: ReadonlySet<string> = new Set(
  TOOLS.map((name) => path.dirname(name)).filter((folder) => folder !== '.'),
);

/** These stay hidden below a folder that a person declared readable, such as `~/.config`. */
const SECRETS = [
  ...names('.cargo/credentials .cargo/credentials.toml .gradle/gradle.properties .gradle/init.d .gem/credentials'),
  ...names('.julia/servers .composer/auth.json .bundle/config .condarc .dotnet/corefx .stack/upload'),
  ...names('.pub-cache/credentials.json .local/share/uv/credentials .m2/settings.xml .terraform.d .password-store'),
  ...names('.ssh .gnupg .aws .azure .kube .docker .oci .netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials'),
  ...names('.vault-token .claude .claude.json .codex .gemini .mozilla .local/share/keyrings .local/share/opencode'),
  ...names('gcloud gh hub git/credentials op google-chrome', '.config'),
];

/** All home folders that matter for this child: from its environment, of the daemon and of the account. */
export async function homesOf(told: string | undefined): Promise<string[]> {
  const real = await Promise.all([told ?? '', homedir(), accountHome()].map((at) => realOr(at, '')));
  return [...new Set(real)].filter((at) => at !== '' && at !== path.sep);
}

function accountHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return ''; // an unknown account has no home
  }
}

export const homeTools = (home: string): string[] => TOOLS.map((name) => path.join(home, name));
export const homeSecrets = (home: string): string[] => SECRETS.map((name) => path.join(home, name));

const realOr = (at: string, otherwise: string) =>
  at === '' ? Promise.resolve('') : realpath(at).catch(() => otherwise);
