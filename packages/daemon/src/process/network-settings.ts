import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { registrySettings } from './tool-settings.ts';

// How this machine reaches package registries: proxies, certificates, mirrors. Commands of the project that may use the
// network (installing dependencies, some gates) get these settings. Agents do not: they contain credentials, and an
// agent gets those only by name.

const VARIABLES = [
  /^(https?|all|no|ftp)_proxy$/i,
  /^(SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|NODE_USE_ENV_PROXY|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
  /^(GIT_SSL_(CAINFO|CAPATH)|NIX_SSL_CERT_FILE|DENO_(CERT|TLS_CA_STORE)|AWS_CA_BUNDLE|HEX_(MIRROR|CACERTS_PATH))$/,
  // Not all of npm's: a daemon started by npm also has variables for npm's local folders.
  /^npm_config_(.*:)?(registry|_?auth.*|https?[-_]?proxy|proxy|no_?proxy|ca|cafile|strict[-_]ssl|cert|key)$/i,
  /^npm_config_(\/\/.*|userconfig|globalconfig|fetch[-_].*|maxsockets)$/i,
  /^YARN_(REGISTRY|NPM_.*|HTTPS?_.*|CA_FILE_PATH|ENABLE_STRICT_SSL)$|^BUN_CONFIG_(REGISTRY|TOKEN)$|^COREPACK_NPM_/,
  /^PIP_|^UV_(.*INDEX.*|FIND_LINKS|CONFIG_FILE|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|HTTP_TIMEOUT|PYTHON_.*MIRROR)$/,
  /^POETRY_(REPOSITORIES|HTTP_BASIC|CERTIFICATES)_/,
  // Not CARGO_REGISTRY_TOKEN, which publishes.
  /^CARGO_(HTTP|NET|REGISTRIES|SOURCE)_|^CARGO_REGISTRY_(DEFAULT|INDEX)$|^RUSTUP_(DIST_SERVER|UPDATE_ROOT)$/,
  /^GO(PROXY|NOPROXY|PRIVATE|SUMDB|NOSUMDB|INSECURE|FLAGS|AUTH|VCS|TOOLCHAIN)$/,
  // The path of Java's certificate store.
  /^(JAVA_TOOL_OPTIONS|MAVEN_OPTS|MAVEN_ARGS|GRADLE_OPTS|COURSIER_(REPOSITORIES|CREDENTIALS|MIRRORS))$/,
  /^BUNDLE_(MIRROR_.*|SSL_.*|[A-Z0-9_]+__[A-Z0-9_]+)$|^COMPOSER_(AUTH|CAFILE|MIRROR_.*)$|^NuGetPackageSourceCredentials_/,
  /^(ELECTRON|NODEJS_ORG|SASS_BINARY|PUPPETEER|PLAYWRIGHT|CYPRESS|NVM_NODEJS_ORG).*(_MIRROR|_HOST|_URL|_SITE)$/i,
];

/** Without `.netrc`, which has passwords for other services, and without files for publishing. */
const HOME_FILES = [
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.bunfig.toml',
  '.config/pnpm/rc',
  '.config/pnpm/config.yaml',
  '.pip/pip.conf',
  '.config/pip/pip.conf',
  '.config/uv/uv.toml',
  '.condarc',
  '.config/pypoetry/config.toml',
  '.config/pypoetry/auth.toml',
  '.cargo/config.toml',
  '.cargo/config',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.config/go/env',
  '.gemrc',
  '.bundle/config',
  '.composer/config.json',
  '.composer/auth.json',
  '.nuget/NuGet/NuGet.Config',
  '.config/composer/config.json',
  '.config/composer/auth.json',
  '.config/coursier/mirror.properties',
];
const MACHINE_FILES = ['/etc/npmrc', '/etc/pip.conf', '/etc/uv/uv.toml', '/etc/bundle/config'];

/** Certificates, and settings in unusual locations. */
const NAMES_A_FILE =
  /CERT|CA_?BUNDLE|CAINFO|CAPATH|CA_?FILE|CACERTS|config_file$|userconfig$|globalconfig$|FIND_LINKS$/i;
const CERTIFICATE_IN_FILE =
  /^\s*"?(?:cafile|cert|client-cert|client_cert|cainfo|ca_cert|ssl_ca_cert|ssl_verify|httpsCaFilePath)"?\s*[=:]\s*"?([~/][^"\n#;]*)/gim;

/**
 * Temporary caches for installers that fail without a writable cache. In a sandbox the home folder is read-only, and a
 * shared writable cache would let one task affect the next.
 */
export const SCRATCH_CACHES = {
  npm_config_cache: '/tmp/.cache/npm',
  XDG_DATA_HOME: '/tmp/.cache/data',
  YARN_CACHE_FOLDER: '/tmp/.cache/yarn',
  UV_CACHE_DIR: '/tmp/.cache/uv',
  POETRY_CACHE_DIR: '/tmp/.cache/poetry',
};

export interface NetworkSettings {
  env: Record<string, string>;
  /** Paths that must be readable for the settings to work. */
  readable: string[];
}

/** The machine's network settings for a command with network access. */
export async function networkSettings(own: NodeJS.ProcessEnv, home: string | undefined): Promise<NetworkSettings> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && VARIABLES.some((pattern) => pattern.test(name))) env[name] = value;
  const at = home ?? homedir();
  const files = [
    ...HOME_FILES.map((name) => path.join(at, name)),
    ...MACHINE_FILES,
    ...(await registrySettings(at, own.PATH ?? '')),
    ...certificateFiles(env, at),
  ];
  const named = await Promise.all(files.map((file) => certificatesIn(file, at)));
  return { env, readable: [...files, ...named.flat()] };
}

/** Paths in a child's variables that must be readable. */
export function certificateFiles(env: Record<string, string>, home = env.HOME ?? homedir()): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!NAMES_A_FILE.test(name) || /KEY|TOKEN|PASSW/i.test(name)) return [];
    const places = name === 'SSL_CERT_DIR' ? value.split(path.delimiter) : [value];
    return places.map((place) => fromHome(place, home)).filter(path.isAbsolute);
  });
}

/** A settings file may name a certificate. */
async function certificatesIn(file: string, home: string): Promise<string[]> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile() || found.size > 256 * 1024) return [];
  const text = await readFile(file, 'utf8').catch(() => '');
  return [...text.matchAll(CERTIFICATE_IN_FILE)].map(([, place = '']) => fromHome(place.trim(), home));
}

/**
 * Resolves paths from a project's settings: `~` is the home folder, and a relative path starts at the repository's
 * root.
 */
export const readablePlaces = (declared: string[], root: string): string[] =>
  declared.map((place) => path.resolve(root, fromHome(place, homedir())));

const fromHome = (place: string, home: string): string =>
  place === '~' || place.startsWith('~/') ? path.join(home, place.slice(1)) : place;
