import type { MergeLoss } from '@tidemill/contract';
import { MOST_STEPS, type RemainingLine, Remains } from './remains.ts';
import { agreedRenames, type Renames, renamesIn } from './rename.ts';
import { type Means, textLoss } from './text-loss.ts';
import { linesOf, saysSomething, type TextLine } from './token.ts';

/** A file in one of the trees. */
export interface FileVersion {
  path: string;
  /** Equal for equal content. */
  id: string;
  mode: string;
  /** Null when it is not text, or too large to compare. */
  text: string | null;
}

/** A file that the target changed since the base. Null where a tree has no such file. */
export interface MergedFile {
  base: FileVersion | null;
  ours: FileVersion | null;
  target: FileVersion | null;
  result: FileVersion | null;
}

/** With all its lines. */
export type FoundLoss = Pick<MergeLoss, 'path' | 'kind' | 'detail' | 'lines'>;

/** What a resolved merge is made of. */
export interface ResolvedMerge {
  /** Files that the target changed, as far as the result may have lost something of them. */
  files: MergedFile[];
  /** Files that only the task or the resolution changed: before (the automatic merge) and in the result. */
  others: { before: string | null; result: FileVersion }[];
  /** Files that the task changed: the base's text and the task's. */
  ofTask: { base: string; ours: string }[];
}

/** What the target changed and the result does not have, file by file. */
export function mergeLosses({ files, others, ofTask }: ResolvedMerge): FoundLoss[] {
  const means = { renames: renamesOf(ofTask), budget: { steps: MOST_STEPS } };
  const texts = new Map<string, TextLine[]>();
  const lines = (version: FileVersion | null): TextLine[] => {
    if (version?.text == null) return [];
    const known = texts.get(version.id) ?? linesOf(version.text);
    texts.set(version.id, known);
    return known;
  };
  const results = [...others.map(({ result }) => result), ...files.flatMap(({ result }) => (result ? [result] : []))];
  const pools = [
    ...others.map(({ before, result }) => pool(result, before === null ? [] : [linesOf(before)])),
    ...files.flatMap(({ result, ...sides }) => (result ? [pool(result, Object.values(sides).map(lines))] : [])),
  ];
  return files.flatMap((file) => {
    const elsewhere = pools.filter(({ path }) => path !== file.result?.path).map(({ remains }) => remains);
    return lossOf(file, { lines, elsewhere, results, ...means });
  });

  function pool(result: FileVersion, versions: TextLine[][]) {
    return { path: result.path, remains: new Remains(unknownLines(lines(result), versions), means) };
  }
}

function renamesOf(ofTask: ResolvedMerge['ofTask']): Renames {
  const found = new Map<string, string | null>();
  for (const { base, ours } of ofTask) renamesIn(linesOf(base), linesOf(ours), found);
  return agreedRenames(found);
}

/** Lines that none of the versions has: the resolution wrote or moved them. */
function unknownLines(result: TextLine[], versions: TextLine[][]): RemainingLine[] {
  const known = new Set(versions.flatMap((lines) => lines.map(({ key }) => key)));
  return result.map((line) => (known.has(line.key) ? null : { line, isTasks: false }));
}

interface About extends Means {
  lines: (version: FileVersion | null) => TextLine[];
  results: FileVersion[];
}

function lossOf(file: MergedFile, about: About): FoundLoss[] {
  const { base, target, result } = file;
  if (!target) return result && base && isSameFile(base, result, about) ? [keptFile(file, about)] : [];
  const path = target.path;
  if (!result) return missingFile(file, about);
  if (result.id === target.id && result.mode === target.mode && result.path === target.path) return [];
  const losses: FoundLoss[] = [];
  if (base && base.path !== target.path && result.path === base.path)
    losses.push({ path, kind: 'renamed', detail: base.path, lines: [] });
  if (base?.mode !== target.mode && result.mode !== target.mode)
    losses.push({ path, kind: 'mode', detail: target.mode, lines: [] });
  if (result.id === target.id || target.id === base?.id || target.id === file.ours?.id) return losses;
  return [...losses, ...contentLoss(file, about)];
}

/**
 * Files that a package manager writes. After a conflict they are made again and look like neither side; their manifests are
 * compared like any file.
 */
const LOCK_FILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|(?:yarn|bun|deno|poetry|uv|pdm|pixi|Pipfile|Cargo|Gemfile|composer|mix|pubspec|Podfile|paket|rebar|flake|conan|MODULE\.bazel|stack\.yaml)\.lock|pnpm-lock\.yaml|go(?:\.work)?\.sum|(?:Package|Cartfile)\.resolved|gradle\.lockfile|packages\.lock\.json)$/;

const isText = (version: FileVersion | null) => version === null || (version.text !== null && version.mode !== LINK);
const LINK = '120000';

function contentLoss({ base, ours, target, result }: MergedFile, about: About): FoundLoss[] {
  const path = target!.path;
  const isOldAgain = result !== null && (result.id === base?.id || result.id === ours?.id);
  if (LOCK_FILE.test(path) && result && !isOldAgain) return [];
  if (![base, ours, target, result].every(isText)) return [{ path, kind: 'content', detail: '', lines: [] }];
  const { lines } = about;
  const sides = { base: lines(base), ours: lines(ours), target: lines(target), result: lines(result) };
  const { lost, back } = textLoss(sides, about);
  return [
    ...(lost.length > 0 ? [{ path, kind: 'lines' as const, detail: '', lines: lost }] : []),
    ...(back.length > 0 ? [{ path, kind: 'deleted_lines' as const, detail: '', lines: back }] : []),
  ];
}

/** The target has the file and the result does not. */
function missingFile(file: MergedFile, about: About): FoundLoss[] {
  const { base, target } = file;
  if (about.results.some(({ id }) => id === target!.id)) return [];
  const path = target!.path;
  const missing = (lines: FoundLoss['lines']): FoundLoss[] => [{ path, kind: 'file', detail: '', lines }];
  if (!isText(target) || !isText(base)) return missing([]);
  const lines = about.lines(target);
  // The task deleted or moved a file that the target only renamed: nothing of its content is the target's.
  if (base && base.id === target!.id) return [];
  const [loss] = contentLoss({ ...file, result: null }, about);
  if (loss?.kind === 'lines') return missing(loss.lines);
  return base === null && !lines.some(saysSomething) ? missing([]) : [];
}

/** The target deleted the file and the result has it. */
function keptFile({ base }: MergedFile, { lines }: About): FoundLoss {
  const shown = lines(base).map(({ text }, at) => ({ line: at + 1, text }));
  return { path: base!.path, kind: 'deleted_file', detail: '', lines: shown };
}

/** Another file may have the same name. */
function isSameFile(base: FileVersion, result: FileVersion, { lines }: About): boolean {
  if (base.path !== result.path) return false;
  if (base.id === result.id || base.text === null || result.text === null) return true;
  const there = new Set(lines(result).map(({ key }) => key));
  const own = lines(base).filter(saysSomething);
  return own.length === 0 || own.some(({ key }) => there.has(key));
}
