import { scopesOverlap } from '../schedule/overlap.ts';
import { configurationWhy, folderOf, isCode, isOfTests, nameOf } from './deciding/names.ts';

/**
 * Product source is what gates judge. Every other file that a gate reads decides how it judges. A test inside a source
 * folder is not source, and neither is a configuration file or one whose name begins with a dot. `globs`: the setting
 * `source`; empty: unknown, so the usual places of source are assumed.
 */
export function isSource(path: string, globs: readonly string[]): boolean {
  if (isOfTests(path) || configurationWhy(path) !== null || nameOf(path).startsWith('.')) return false;
  return globs.length > 0 ? scopesOverlap([literal(path)], [...globs]) : isUsual(path);
}

/** A file's own name is not a glob. */
const literal = (path: string) => path.replace(/[*?[\]{}]/g, '_');

const FOLDERS = ['src', 'lib', 'app', 'source', 'sources', 'include', 'internal', 'pkg', 'cmd', 'server', 'client'];
const MORE_FOLDERS = [
  'api',
  'web',
  'frontend',
  'backend',
  'components',
  'pages',
  'routes',
  'views',
  'models',
  'assets',
];
const SOURCE_FOLDERS = new Set([...FOLDERS, ...MORE_FOLDERS]);
/** Folders that contain packages with source folders of their own. */
const GROUPS = new Set(['packages', 'crates', 'apps', 'libs', 'modules', 'services', 'plugins', 'workspaces']);
/** Folders whose programs usually belong to the checks, and those whose files nobody runs. */
const OTHER_FOLDERS =
  /^([._].*|scripts?|ci|tools?|tooling|bin|hack|tasks?|build|dev|etc|make|config|configs|docs?|examples?|samples?|demos?|playgrounds?|benchmarks?|bench|vendor|third_party|patches|node_modules|rules|eslint[\w-]*)$/i;
/** In the root, a new file with another ending may shadow a library, or be found by a gate. */
const ROOT_SOURCE =
  /\.(go|rs|c|cc|cpp|cxx|java|kt|swift|cs|php|html|css)$|^(index|main|app|server|cli)\.[cm]?[jt]sx?$/i;

function isUsual(path: string): boolean {
  const [first = '', second = '', third = ''] = folderOf(path).split('/');
  if (first === '') return ROOT_SOURCE.test(path);
  if (SOURCE_FOLDERS.has(first.toLowerCase())) return true;
  if (GROUPS.has(first.toLowerCase()))
    return SOURCE_FOLDERS.has(third.toLowerCase()) || (third === '' && ROOT_SOURCE.test(nameOf(path)) && second !== '');
  return isCode(path) && !OTHER_FOLDERS.test(first);
}

const MOST_PROPOSED = 80;
/** More single files of one folder than this are proposed as one pattern per ending. */
const MOST_SINGLE = 6;
/** Each shows that a folder is a package of its own. */
const MANIFEST =
  /(^|\/)(package\.json|deno\.jsonc?|jsr\.json|pom\.xml|build\.gradle(\.kts)?|cargo\.toml|pyproject\.toml|composer\.json|mix\.exs|[^/]+\.gemspec)$/i;
/** Files in the root that describe or check a project rather than being it. */
const NOT_SOURCE =
  /^(\..*|setup|conftest|noxfile|tasks|fabfile|manage|bench(mark)?|gulpfile|gruntfile|build|make|release|publish|rollup[\w.]*|webpack[\w.]*|[\w-]+\.config(\.[\w-]+)?)\.\w+$/i;

/** What `init` proposes for the setting `source`, from the paths of a repository's files. Empty: nothing was found. */
export function sourceGlobs(paths: readonly string[]): string[] {
  const code = paths.filter((path) => isCode(path) && !isOfTests(path) && configurationWhy(path) === null);
  const isGo = paths.includes('go.mod');
  const packages = new Set(paths.filter((path) => MANIFEST.test(path)).map(folderOf));
  const globs = new Set<string>();
  for (const path of code) {
    const [first = '', second = '', third = ''] = folderOf(path).split('/');
    if (first === '') {
      for (const glob of rootGlob(path)) globs.add(glob);
    } else if (SOURCE_FOLDERS.has(first.toLowerCase())) globs.add(`${first}/**`);
    else if (GROUPS.has(first.toLowerCase())) {
      if (SOURCE_FOLDERS.has(third.toLowerCase())) globs.add(`${first}/*/${third}/**`);
      else if (third === '' && isOfPackage(second, nameOf(path))) globs.add(`${first}/*/${nameOf(path)}`);
    } else if (OTHER_FOLDERS.test(first)) continue;
    else if (paths.includes(`${first}/__init__.py`)) globs.add(`${first}/**`);
    else if (isGo && path.endsWith('.go')) globs.add(`${first}/**`);
    else if (packages.has(first)) {
      if (SOURCE_FOLDERS.has(second.toLowerCase())) globs.add(`${first}/${second}/**`);
      else if (second === '' && !NOT_SOURCE.test(nameOf(path))) globs.add(`${first}/**`);
    }
  }
  return shorter([...globs])
    .sort()
    .slice(0, MOST_PROPOSED);
}

/** Whether a file beside a package's manifest is part of it. Packages of documentation or for trying out have other files there. */
const isOfPackage = (folder: string, name: string) =>
  folder !== '' && !OTHER_FOLDERS.test(folder) && !NOT_SOURCE.test(name) && !name.endsWith('.sh');

/** Replaces many single files of a folder by one pattern for each of their endings: a list of all would not be read. */
function shorter(globs: string[]): string[] {
  const single = globs.filter((glob) => glob.includes('/') && !glob.endsWith('/**'));
  const isLong = (folder: string) => single.filter((glob) => folderOf(glob) === folder).length > MOST_SINGLE;
  const each = (glob: string) =>
    single.includes(glob) && isLong(folderOf(glob)) ? `${folderOf(glob)}/*${glob.slice(glob.lastIndexOf('.'))}` : glob;
  const short = [...new Set(globs.map(each))];
  const isInside = (glob: string) =>
    short.some((other) => other !== glob && other.endsWith('/**') && glob.startsWith(other.slice(0, -2)));
  return short.filter((glob) => !isInside(glob));
}

/** A compiler is told which files it reads, or reads all of them. An interpreter finds a module by its name. */
function rootGlob(path: string): string[] {
  if (NOT_SOURCE.test(path)) return [];
  const compiled = /\.(go|rs|c|cc|cpp|cxx|java|kt|swift|cs)$/.exec(path);
  if (compiled) return [`*${compiled[0]}`];
  return /\.([cm]?[jt]sx?|py|php|rb|lua|h|hpp)$/.test(path) ? [path] : [];
}
