import { nameOf } from './names.ts';
import { shown } from './shown.ts';

/** Sections of a manifest that no gate depends on. A change of any other section is reported. */
const HARMLESS_JSON = new Set([
  ...['name', 'version', 'description', 'keywords', 'author', 'authors', 'contributors', 'maintainers', 'license'],
  ...['homepage', 'bugs', 'repository', 'funding', 'private', 'files', 'publishConfig', 'icon', 'support', 'time'],
  ...['dependencies', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta', 'optionalDependencies'],
  ...['require', 'require-dev', 'suggest', 'conflict', 'man', 'sideEffects', 'types', 'typings', 'directories'],
]);
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'require', 'require-dev'];
/** A package from outside its registry, or under another package's name. */
const ELSEWHERE =
  /^(file|link|portal|patch|git|git\+\w+|github|gitlab|bitbucket|https?|npm|workspace|exec):|^[./~]|^[\w-]+\/[\w.-]+$/;
const CHECK_TOOLS =
  /^(@?(vitest|jest|mocha|ava|tap|tape|uvu|karma|jasmine|playwright|cypress|chai|sinon|expect|eslint|prettier|biomejs|stylelint|oxlint|typescript|ts-node|tsx|ts-jest|swc|babel|c8|nyc|knip|phpunit|pest|phpstan|psalm)([/.-].*|js)?|typescript|phpunit\/.*|pestphp\/.*|phpstan\/.*)$/;

const HARMLESS_TOML: Record<string, RegExp> = {
  'pyproject.toml':
    /^(project(\..*)?|dependency-groups|tool\.poetry(\.(dependencies|dev-dependencies|group\..*|urls|extras|scripts))?)$/,
  'cargo.toml':
    /^(package(\.metadata.*)?|(workspace\.)?((dev|build)-)?dependencies(\..*)?|target\..*dependencies(\..*)?|features|badges|workspace\.package)$/,
  'setup.cfg': /^(metadata|options(\..*)?)$/,
};

export function isManifest(path: string): boolean {
  const name = nameOf(path).toLowerCase();
  return name in HARMLESS_TOML || ['package.json', 'composer.json', 'go.mod'].includes(name);
}

/** What a manifest says about packages, to compare it. Everything, where its sections are not known. */
export function packagesIn(path: string, text: string): string {
  const name = nameOf(path).toLowerCase();
  if (name === 'package.json' || name === 'composer.json') {
    const mapping = mappingOf(text) ?? {};
    const about = Object.entries(mapping).filter(([key]) => !DESCRIBES.test(key));
    return JSON.stringify(about);
  }
  return lines(text)
    .filter(
      (line) => line !== '' && !/^(version|description|authors?|name|license|readme|edition|keywords)\s*=/.test(line),
    )
    .join('\n');
}

const DESCRIBES =
  /^(name|version|description|keywords|authors?|contributors|maintainers|license|homepage|bugs|repository|funding|private|scripts|files|icon|support|time|types|typings|man|sideEffects|directories)$/;

/** The changed parts of a manifest that decide what a gate checks, in words; null for other files. */
export function manifestWhys(path: string, before: string, after: string): string[] | null {
  const name = nameOf(path).toLowerCase();
  if (name === 'package.json' || name === 'composer.json') return jsonWhys(before, after);
  if (name === 'go.mod') return goWhys(before, after);
  const harmless = HARMLESS_TOML[name];
  return harmless ? tomlWhys(before, after, harmless) : null;
}

function jsonWhys(before: string, after: string): string[] {
  const [old, now] = [mappingOf(before), mappingOf(after)];
  if (old === null || now === null) return ['is not valid JSON'];
  const whys: string[] = [];
  const sections = [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((key) => !HARMLESS_JSON.has(key))
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]));
  if (sections.includes('scripts')) whys.push('changes the scripts that gates run');
  const others = sections.filter((key) => key !== 'scripts');
  if (others.length > 0) whys.push(`changes ${listed(others)}`);
  const swapped = DEPENDENCIES.flatMap((key) => swappedIn(asMapping(old[key]), asMapping(now[key])));
  if (swapped.length > 0) whys.push(`changes where a tool or package comes from (${listed(swapped)})`);
  return whys;
}

/** Tools of gates that were changed or removed, and packages from other sources. */
function swappedIn(old: Record<string, unknown>, now: Record<string, unknown>): string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => {
    if (old[name] === now[name]) return false;
    const isElsewhere = typeof now[name] === 'string' && ELSEWHERE.test(now[name]);
    return isElsewhere || (name in old && CHECK_TOOLS.test(name));
  });
}

function mappingOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? asMapping(value) : null;
  } catch {
    return null;
  }
}

const asMapping = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;

const lines = (text: string) => text.split('\n').map((line) => line.trim());

function goWhys(before: string, after: string): string[] {
  const replacing = (text: string) => lines(text).filter((line) => /^replace\b|=>/.test(line));
  const old = new Set(replacing(before));
  return replacing(after).some((line) => !old.has(line)) ? ['replaces a module with another'] : [];
}

function tomlWhys(before: string, after: string, harmless: RegExp): string[] {
  const [old, now] = [sectionsOf(before), sectionsOf(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
  const reported = changed.filter((name) => !harmless.test(name));
  const whys = reported.length > 0 ? [`changes ${listed(reported.map((name) => `[${name}]`))}`] : [];
  // Keys of otherwise harmless sections that exclude tests, or add code that runs before them.
  const switches = (sections: Map<string, string>) =>
    [...sections.values()]
      .flatMap(lines)
      .filter((line) => /^(autotests|autobins|test|harness|build|links)\s*=/.test(line));
  const isSwitched = switches(old).join('\n') !== switches(now).join('\n');
  if (isSwitched && reported.length === 0) whys.push('changes which tests are built');
  const known = new Set(elsewhereIn(old));
  const swapped = elsewhereIn(now).filter((line) => !known.has(line));
  if (swapped.length > 0) whys.push(`changes where a tool or package comes from (${listed(swapped)})`);
  return whys;
}

/** Packages from a folder, a repository or an address, under another name, and programs that load themselves as plugins. */
const elsewhereIn = (sections: Map<string, string>): string[] =>
  [...sections].flatMap(([name, text]) => {
    const isOfPackages = /dependenc|group|source/.test(name) || name === 'project';
    const found = isOfPackages ? lines(text).filter((line) => ELSEWHERE_TOML.test(line)) : [];
    const plugins = /entry-?points|plugins/.test(name) ? lines(text).filter((line) => line !== '') : [];
    return [...found, ...plugins].map((line) => `[${name}] ${line}`);
  });
const ELSEWHERE_TOML =
  /[{,\s"'](path|git|url|file|registry|package|index)\s*=|^(path|git|url|package|registry)\s*=|@ ?(git\+|file:|https?:)/;

/** The text of each section by its name. The text above the first section has an empty name. */
function sectionsOf(text: string): Map<string, string> {
  const sections = new Map<string, string>();
  let name = '';
  for (const line of lines(text)) {
    const header = /^\[+\s*(.+?)\s*\]+\s*(#.*)?$/.exec(line)?.[1];
    if (header !== undefined) name = header.replace(/["'\s]/g, '');
    else if (line !== '' && !line.startsWith('#')) sections.set(name, `${sections.get(name) ?? ''}${line}\n`);
  }
  return sections;
}

const MOST_LISTED = 10;
/** The names come from the author: they are made safe to show, and the list is cut. */
const listed = (names: string[]) =>
  names
    .slice(0, MOST_LISTED)
    .map((name) => `\`${shown(name).slice(0, 60)}\``)
    .join(', ') + (names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '');
