import { scopesOverlap } from '../../schedule/overlap.ts';
import type { ChangedFile, CheckCommand, Deciding } from './changed-file.ts';
import { type NamedPaths, namedPaths } from './command.ts';
import { isManifest, manifestWhys, packagesIn } from './manifest.ts';
import { configurationWhy, folderOf, isCode, isInTestFolder, isOfTests, isTestFile, nameOf } from './names.ts';
import { type GateReads, isDocument, observedWhys } from './observed.ts';
import { shown } from './shown.ts';
import { switchesIn } from './switches.ts';
import { holdsTests, inlineTestWhys, newTestWhys, testChangeWhys } from './test-change.ts';

/** A larger file is not examined: its `text` must be null. */
export const LARGEST_LOOKED_INTO = { bytes: 400_000, lines: 20_000 };
/** Does the content of this file matter, besides the fact that it changed? */
export const isLookedInto = (path: string) =>
  isCode(path) || isOfTests(path) || isManifest(path) || isDocument(path) || isLock(path);

export interface DecidingInput {
  checks: readonly CheckCommand[];
  changed: readonly ChangedFile[];
  /** Text of package manifests before the change, by path; see `manifestsOf`. */
  manifests: ReadonlyMap<string, string>;
  /** What gates were seen to read. Empty or absent: nothing was observed. */
  reads?: readonly GateReads[];
  /** The setting `source`. */
  source?: readonly string[];
}

/**
 * Changed files that decide what a gate checks: a gate that passes after such a change may pass because of it. Judged by
 * the files alone, not by what their author says. A person looks at each finding; it may be harmless.
 */
export function decidingFiles({ checks, changed, manifests, reads = [], source = [] }: DecidingInput): Deciding[] {
  const named = namedPaths(checks, manifests);
  const removed = changed.filter(({ after }) => after === null);
  const isExplained = changed.some(changesPackages);
  return changed.flatMap((file) => {
    const moved = file.before === null ? removed.find(({ before }) => before?.oid === file.after?.oid) : undefined;
    const whys = [
      ...whyNamed(file.path, checks, named),
      ...(isLock(file.path) && !isExplained && !isOwnVersion(file, changed)
        ? ['changes what is installed, without a change of the packages that a manifest names']
        : []),
      ...whysOf(file, changed, moved?.path),
      ...observedWhys(file, reads, source, changed),
    ];
    return whys.length === 0 ? [] : [toldOf(file, whys)];
  });
}

const toldOf = ({ path, after }: ChangedFile, whys: string[]): Deciding => ({
  file: shown(path),
  why: [...new Set(whys)].join('; '),
  content: `${after?.mode ?? 'deleted'} ${after?.oid ?? ''} ${path}`,
});

const MANIFESTS = new Set(['package.json', 'composer.json', 'pyproject.toml', 'cargo.toml', 'gemfile', 'go.mod']);
export const LOCK_FILES = new Set([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
  ...['uv.lock', 'poetry.lock', 'Cargo.lock', 'Gemfile.lock', 'composer.lock'],
]);

const isLock = (path: string) => LOCK_FILES.has(nameOf(path));

/** A lock file repeats the version of the product itself. The order of its packages means nothing. */
function isOwnVersion({ before, after }: ChangedFile, changed: readonly ChangedFile[]): boolean {
  if (!before?.text || !after?.text) return false;
  const versions = changed
    .filter(({ path }) => isManifest(path))
    .flatMap((file) => [file.before?.text ?? '', file.after?.text ?? ''])
    .map(versionIn);
  const [old, now] = withoutSame(before.text, after.text);
  if (old.length !== now.length) return false;
  return old.every((line, at) => {
    const [one, other] = [versionIn(line), versionIn(now[at]!)];
    return line === now[at] || (one !== '' && other !== '' && versions.includes(one) && versions.includes(other));
  });
}

/** The lines of the packages that are not the same in both lock files. Other formats are one piece. */
function withoutSame(before: string, after: string): [string[], string[]] {
  const [old, now] = [before, after].map((text) => text.split(/^(?=\[\[package\]\]$)/m)) as [string[], string[]];
  const left = (parts: string[], others: string[]) => {
    const known = new Set(others.slice(1).map((part) => part.trim()));
    return parts.filter((part, at) => at === 0 || !known.has(part.trim())).flatMap((part) => part.trim().split('\n'));
  };
  const isSame = new Set(old).size === old.length && new Set(now).size === now.length && old.length === now.length;
  return isSame ? [left(old, now), left(now, old)] : [before.split('\n'), after.split('\n')];
}

/** As Python's tools write it: `1.0.dev0` for `1.0.dev`, `1.0rc1` for `1.0-rc.1`. */
const versionIn = (text: string): string =>
  (VERSION.exec(text)?.[1] ?? '').replace(
    /[-_.]?(a|b|rc|post|dev)[-_.]?(\d*)$/,
    (_, kind, number) => `${kind}${number || 0}`,
  );
const VERSION = /^\s*"?version"?\s*[:=]\s*"([^"]{1,100})"/m;

/** A manifest with other packages than before. Another version of the product itself needs no other lock file. */
const changesPackages = ({ path, before, after }: ChangedFile): boolean =>
  MANIFESTS.has(nameOf(path).toLowerCase()) &&
  packagesIn(path, before?.text ?? '') !== packagesIn(path, after?.text ?? '');

/** Globs are matched; a file's own name is not a glob. */
const literal = (file: string) => file.replace(/[*?[\]{}]/g, '_');

function whyNamed(path: string, checks: readonly CheckCommand[], { files, folders }: NamedPaths): string[] {
  const by = files.get(path);
  if (by !== undefined && !MANIFESTS.has(nameOf(path).toLowerCase())) return [`is named by the command of ${by}`];
  const proving = checks.find(({ proves }) => proves.length > 0 && scopesOverlap([literal(path)], proves));
  if (proving) return [`is in \`proves\` of gate ${proving.name}`];
  const folder = [...folders.keys()].find((each) => path.startsWith(each));
  return folder === undefined ? [] : [`is in the same folder as a script of ${folders.get(folder)}`];
}

function whysOf(file: ChangedFile, changed: readonly ChangedFile[], movedFrom: string | undefined): string[] {
  const { path, before, after } = file;
  const [old, now] = [before?.text ?? '', after?.text ?? ''];
  const isUnread = (before !== null && before.text === null) || (after !== null && after.text === null);
  const ofManifest = isUnread ? null : manifestWhys(path, old, now);
  if (ofManifest) return after === null ? ['is deleted'] : ofManifest;
  const configuration = configurationWhy(path);
  if (configuration !== null) return [configuration];
  if (after === null) return deletedWhys(file, changed);
  if (isUnread) return isCode(path) || isOfTests(path) ? ['is too large or not text, so it was not examined'] : [];
  const ofTests = before === null ? [] : ofTest(file, old, now);
  const ofNewTest = before === null && isOfTests(path) && movedFrom === undefined ? newTestWhys(path, now) : [];
  const isTest = isTestFile(path) || (before !== null && isOfTests(path) && holdsTests(old));
  const onlyAdds = ofTests.length === 0 && isTest && isCode(path);
  const isExamined = movedFrom === undefined && (isCode(path) || isOfTests(path));
  const switches = isExamined ? switchesIn(path, old, now, { onlyAdds }) : [];
  if (before === null)
    return [...switches, ...ofNewTest, ...(isInTestFolder(path) && SETUP.test(nameOf(path)) ? ['sets tests up'] : [])];
  return [...ofTests, ...switches];
}

const SETUP = /setup|teardown|bootstrap|global|environment|preload|register|hooks?\.|plugin/i;

/** What a change of an existing file means for tests. */
function ofTest({ path, before, after }: ChangedFile, old: string, now: string): string[] {
  const isLink = before?.mode === '120000' || after?.mode === '120000';
  if (!isOfTests(path)) return holdsTests(old) && isCode(path) ? inlineTestWhys(path, old, now) : [];
  if (isLink) return ['is or was a link instead of a test'];
  // A runner that executes its tests passes over one that cannot be executed.
  const mode = before?.mode === after?.mode ? [] : [`a test's mode changes from ${before?.mode} to ${after?.mode}`];
  const changes = isCode(path) && (isTestFile(path) || holdsTests(old)) ? testChangeWhys(path, old, now) : null;
  if (changes !== null) return [...mode, ...changes];
  return old === now ? mode : [...mode, 'is a helper or an expected result of tests'];
}

/** A test that was only renamed within its folder is still found by the test runner. */
function deletedWhys({ path, before }: ChangedFile, changed: readonly ChangedFile[]): string[] {
  const isRenamed = changed.some(
    (other) =>
      other.before === null &&
      other.after?.oid === before?.oid &&
      other.after?.mode === before?.mode &&
      folderOf(other.path) === folderOf(path) &&
      formOf(other.path) === formOf(path),
  );
  if (isTestFile(path) || (isInTestFolder(path) && holdsTests(before?.text ?? '')))
    return isRenamed ? [] : ['a test is deleted'];
  if (isInTestFolder(path)) return ['is deleted; tests may have used it'];
  return holdsTests(before?.text ?? '') && isCode(path) ? ['tests are deleted with it'] : [];
}

/** What a test runner matches: `.test.ts` of `sum.test.ts`, `test_ .py` of `test_sum.py`. */
function formOf(path: string): string {
  const name = nameOf(path);
  const dot = name.indexOf('.', 1);
  const [stem, ending] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  return `${/^test_/i.test(stem) ? 'test_' : ''}${/(_test|_spec|Test|Tests|Spec|IT)$/.exec(stem)?.[0] ?? ''}${ending}`;
}
