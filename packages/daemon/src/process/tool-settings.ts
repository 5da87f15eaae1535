import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isInside } from './mounts.ts';

// Tools keep settings also inside their own installation, among programs that a sandbox must see: `npm config set --global`
// writes a registry's token to `etc/npmrc` beside `bin`, and Maven reads `conf/settings.xml`.

/** Folders of a home that are an installation each. */
const INSTALLATIONS = [
  '.npm-global',
  '.npm-packages',
  '.nvm/versions/*/*',
  '.fnm/node-versions/*/installation',
  '.local/share/fnm/node-versions/*/installation',
  '.local/share/pnpm',
  '.local/share/pnpm/nodejs/*',
  '.local/share/pnpm/global/*',
  '.bun/install/global',
  '.volta/tools/image/*/*',
  '.asdf/installs/*/*',
  '.asdf/installs/*/*/*',
  '.local/share/mise/installs/*/*',
  '.local/share/mise/installs/*/*/*',
  '.proto/tools/*/*',
  '.sdkman/candidates/*/*',
  '.linuxbrew/Cellar/*/*',
  '.gradle/wrapper/dists/*/*/*',
  '.m2/wrapper/dists/*/*',
  '.m2/wrapper/dists/*/*/*',
  ...['.pyenv', '.rbenv', '.jenv', '.goenv', '.nodenv'].flatMap((at) => [
    `${at}/versions/*`,
    `${at}/versions/*/envs/*`,
  ]),
  '.rvm/rubies/*',
  '.local/pipx/venvs/*',
  ...['uv/tools/*', 'uv/python/*', 'pipx/venvs/*', 'virtualenvs/*'].map((at) => `.local/share/${at}`),
  '.cache/pypoetry/virtualenvs/*',
  ...['miniconda3', 'anaconda3', 'miniforge3', '.conda'].map((at) => `${at}/envs/*`),
];
/** How such an installation reaches registries. */
const REGISTRIES = 'etc/npmrc .npmrc pip.conf .condarc condarc etc/gemrc conf/settings.xml init.d'.split(' ');
/** Of no use to a program there, or not for registries. */
const OTHERS = ['.env', '.git/config'];
/** Clones whose remote may have a password in its address. */
const CLONES = [
  '.asdf/plugins/*',
  '.pyenv/plugins/*',
  '.rbenv/plugins/*',
  '.julia/registries/*',
  '.cache/pre-commit/*',
];

/** Settings with logins inside the tools of a home: hidden, although the folder around them is shown. */
export async function toolSettings(home: string, searchPath: string): Promise<string[]> {
  const [known, clones] = await Promise.all([expanded(home, INSTALLATIONS), expanded(home, CLONES)]);
  const places = [...known, ...onPath(home, searchPath)];
  const settings = places.flatMap((place) => [...REGISTRIES, ...OTHERS].map((name) => path.join(place, name)));
  return [...new Set([...settings, ...clones.map((place) => path.join(place, '.git/config'))])];
}

/** Those of them that say how registries are reached, for commands with this machine's network settings. */
export async function registrySettings(home: string, searchPath: string): Promise<string[]> {
  const known = (await expanded(home, INSTALLATIONS)).flatMap((at) => REGISTRIES.map((name) => path.join(at, name)));
  // A project may have its programs on PATH, too: its other files are no settings of a tool.
  return [...known, ...onPath(home, searchPath).map((place) => path.join(place, 'etc/npmrc'))];
}

/** Installations whose programs are on PATH. */
const onPath = (home: string, searchPath: string): string[] =>
  searchPath
    .split(path.delimiter)
    .filter(path.isAbsolute)
    .map((folder) => path.dirname(path.normalize(folder)))
    .filter((place) => isInside(place, home));

/** A folder with more entries than this is no list of versions. */
const MOST_ENTRIES = 1_000;

async function expanded(home: string, patterns: readonly string[]): Promise<string[]> {
  const listed = new Map<string, Promise<string[]>>();
  const list = (at: string) => {
    const known = listed.get(at) ?? namesIn(at);
    listed.set(at, known);
    return known;
  };
  const places = async (pattern: string) => {
    let at = [home];
    for (const step of pattern.split('/')) {
      const below = async (place: string) =>
        (step === '*' ? await list(place) : [step]).map((name) => path.join(place, name));
      at = (await Promise.all(at.map(below))).flat();
    }
    return at;
  };
  return (await Promise.all(patterns.map(places))).flat();
}

async function namesIn(at: string): Promise<string[]> {
  const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  return folders.slice(0, MOST_ENTRIES);
}
