import { configurationWhy, isOfTests, nameOf } from '../deciding/names.ts';
import { isSource } from '../source.ts';
import { languageOf } from './language.ts';

const NOT_OWN =
  /(^|\/)(node_modules|vendor|third_party|dist|build|out|target|docs?|examples?|samples?|benchmarks?|bench|migrations|\.[^/]+)\/|\.min\.\w+$|\.d\.[cm]?ts$|_pb2?\.\w+$|\.generated\.\w+$/;

/**
 * The files in which faults are planted: the product's own code, neither its tests nor what gates run. `globs`: the setting
 * `source`. Where nothing looks like source, any other program will do.
 */
export function plantable(paths: readonly string[], globs: readonly string[], commands: readonly string[]): string[] {
  const words = new Set(commands.flatMap((run) => run.split(/[^\w./-]+/)).map((word) => word.replace(/^\.\//, '')));
  const own = paths.filter(
    (path) =>
      languageOf(path) !== null &&
      !NOT_OWN.test(path.toLowerCase()) &&
      !isOfTests(path) &&
      configurationWhy(path) === null &&
      !words.has(path),
  );
  const source = own.filter((path) => isSource(path, globs));
  return source.length > 0 ? source : own;
}

/** Whether one of these files looks like the test of the file, by its name. */
export function isTested(path: string, tests: ReadonlySet<string>): boolean {
  return tests.has(stemOf(path));
}

/** The names of the tested files, as the names of their tests say it: `sum` for `sum.test.js` and `test_sum.py`. */
export const testedStems = (paths: readonly string[]): Set<string> =>
  new Set(paths.filter(isOfTests).map((path) => stemOf(path).replace(/^test[-_.]?|[-_.]?(tests?|spec)$/g, '')));

const stemOf = (path: string): string =>
  nameOf(path)
    .toLowerCase()
    .replace(/\.\w+$/, '');

/** Code that reaches beyond its own module, or looks at itself or at its surroundings. */
const REACHES =
  /\b(?:assert\w*|expect|exit\w*|process|reflect|function|eval|exec\w*|global\w*|proto\w*|constructor|atexit|_exit|os|sys|trap|define|undef|unittest|pytest|mock\w*|patch\w*|setattr|getattr|__\w+__|importlib|inspect|ctypes|signal|abort|main|init)\b|\[['"`]|\$\(/i;
const LOOKS =
  /\b(?:read\w*|open|hash\w*|crypto|sha\w*|md5|checksum|digest|stat\w*|mtime\w*|fs|path\w*|git|env\w*|argv|import\.meta|__file__|__filename|__dirname|time\w*|date|now|reflect|eval|function|getattr|importlib|inspect)\b|\[['"`]|\$\(/i;

/** Code that names the tools of tests, or changes what others use. */
const TOUCHES =
  /\b(?:assert\w*|expect|unittest|pytest|jest|vitest|mock\w*|patch\w*|setattr|builtins|globalThis|prototype|defineProperty|registerHooks|gc)\b|__(?!init__|name__|main__|file__|all__|dirname\b|filename\b)\w+__/i;

/** Code that asks where it runs, or could do so unseen. */
const AROUND =
  /\b(?:env|environ\w*|getenv|secure_getenv|vars?_os|ENV|CI|git|reflect|globalThis|getattr)\b|\bprocess\s*(?:\?\.)?\[|\$\{?CI\b|\bgit_?dir\b|\b(?:getcwd|cwd|pwd|current_dir|current_exe|argv|BASH_SOURCE)\b|__(?:file(?:name)?|dirname)\b|\bimport\.meta\b|\b(?:env|file)!|\$(?:0|\{0\})|\bCARGO_/i;

/** Whether added code could behave differently where it is proven. Then it is also tried in other surroundings. */
export const looksAround = (added: readonly string[]): boolean => added.some((line) => AROUND.test(line));

/** The lines that a change adds to a file. */
export function addedLines(before: string, after: string): string[] {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => line.trim() !== '' && !known.has(line));
}

/** Orders changed files: the ones first that could affect how they are tested. A wrong order only costs time. */
export const reachOf = (added: readonly string[]): number => added.filter((line) => REACHES.test(line)).length;

/** Whether added code could make tests of other code blind, for example as long as its own file is right. */
export const touchesTests = (added: readonly string[]): boolean => added.some((line) => TOUCHES.test(line));

/** Whether added code could recognise that its file was changed. Then a fault is planted in another file, too. */
export const looksAtItself = (added: readonly string[]): boolean => added.some((line) => LOOKS.test(line));
