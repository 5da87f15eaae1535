import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

// A home folder contains credentials and also the tools that a build needs. A sandbox sees only the tools. This is an
// allowlist, because a complete denylist is impossible.

const names = (text: string, folder = '') => text.split(' ').map((name) => path.join(folder, name));

/** Tools, their libraries and their downloads. */
const TOOLS = [
  ...names('bin go/bin go/pkg sdk miniconda3 anaconda3 miniforge3 Android/Sdk'),
  ...names('ignore attributes', '.config/git'),
  ...names('.npm .nvm .fnm .volta .bun .deno .yarn .pnpm-store .npm-global .npm-packages .cargo .rustup .pyenv .rbenv'),
  ...names('.rvm .gem .asdf .sdkman .jenv .goenv .nodenv .dotnet .nuget/packages .m2/repository .m2/wrapper .gradle'),
  ...names('.ivy2/cache .sbt/boot .composer/vendor .ghcup .cabal/bin .cabal/packages .cabal/store .stack .opam .elan'),
  ...names('.juliaup .julia .swiftly .proto .linuxbrew .nix-profile .conda/envs .conda/pkgs .pub-cache'),
  ...names('.local/bin .local/lib .local/pipx'),
  ...names('claude uv pipx mise fnm pnpm nvm virtualenv virtualenvs coursier gem', '.local/share'),
  ...names('pip uv pypoetry go-build node pnpm yarn deno zig bazel ccache coursier ms-playwright puppeteer', '.cache'),
  ...names('Cypress electron selenium pre-commit golangci-lint torch huggingface/hub', '.cache'),
];

/** Secrets inside tool folders, or in the home folder when it is the repository itself. */
const SECRETS = [
  ...names('.cargo/credentials .cargo/credentials.toml .gradle/gradle.properties .gem/credentials .julia/servers'),
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
