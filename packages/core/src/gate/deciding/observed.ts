import { isSource } from '../source.ts';
import type { ChangedFile } from './changed-file.ts';
import { changesExamples } from './examples.ts';
import { isManifest } from './manifest.ts';
import { folderOf, isCode, isInTestFolder, isTestFile, nameOf } from './names.ts';
import { shown } from './shown.ts';
import { holdsTests } from './test-change.ts';

/** What a gate was seen to look at, by paths relative to the checkout. */
export interface GateReads {
  gate: string;
  /** The steps of `prepare`: they make the files that gates use. */
  of?: 'prepare';
  /** Opened or executed, on the target or in a proof. */
  files: ReadonlySet<string>;
  /** On the target: looked at without opening, listed, looked for in vain. */
  seen: ReadonlySet<string>;
  folders: ReadonlySet<string>;
  missing: ReadonlySet<string>;
  /** Changed files that a proof watched: one that is not among `files` was not read. */
  watched: ReadonlySet<string>;
}

/** A gate that reads more documents than this looks at all of them, as a formatter does. Their prose does not decide then. */
const MOST_DOCUMENTS = 5;
const DOCUMENT =
  /\.(md|mdx|markdown|rst|adoc)$|(^|\/)(license|licence|copying|authors|changelog|changes|notice)[^/]*$/i;
export const isDocument = (path: string) => DOCUMENT.test(path) && !isCode(path);

/** Why a changed file decides, as far as gates were observed. Product source does only if it takes the place of something else. */
export function observedWhys(
  file: ChangedFile,
  reads: readonly GateReads[],
  source: readonly string[],
  changed: readonly ChangedFile[],
): string[] {
  const { path, before, after } = file;
  if (reads.length === 0 || isManifest(path)) return [];
  const kind = kindOf(file);
  const instead = kind === 'deleted' ? null : reads.flatMap((each) => whyInstead(file, each, changed) ?? [])[0];
  if (instead) return [instead];
  if (isSource(path, source)) return [];
  if (kind === 'deleted' && isTest(file)) return movedTestWhys(file, reads, changed);
  // Content of tests is judged case by case, elsewhere.
  const isJudgedApart = kind === 'content' && isTest(file);
  if (kind === 'new') {
    const whys = [whyNew, whyFound].flatMap((why) => reads.flatMap((each) => why(file, each) ?? []));
    return whys.slice(0, 1);
  }
  for (const gateReads of reads) {
    const { files, seen } = gateReads;
    if (files.has(path) && !isJudgedApart && !isOnlyScanned(file, gateReads)) return [whyRead(gateReads, kind)];
    if (kind !== 'content' && (files.has(path) || seen.has(path))) return [whyRead(gateReads, kind)];
    // An approval of the old content covers neither a link nor a mode.
    if (before && after && before.mode !== after.mode && isListed(path, gateReads)) return [whyRead(gateReads, kind)];
  }
  return [];
}

/** A deleted test is reported elsewhere, unless it was only renamed. Its new name must be one that the gate reads. */
function movedTestWhys(
  { path, before }: ChangedFile,
  reads: readonly GateReads[],
  changed: readonly ChangedFile[],
): string[] {
  const moved = changed.filter((other) => other.before === null && other.after?.oid === before?.oid);
  const lost = reads.find(({ files }) => files.has(path) && !moved.some((other) => files.has(other.path)));
  return lost && moved.length > 0 ? [`is renamed, and ${who(lost)} reads it only under the old name`] : [];
}

type Kind = 'new' | 'deleted' | 'mode' | 'content';

function kindOf({ before, after }: ChangedFile): Kind {
  if (before === null) return 'new';
  if (after === null) return 'deleted';
  return before.mode === after.mode ? 'content' : 'mode';
}

const who = ({ gate, of }: GateReads) => (of === 'prepare' ? 'a step of `prepare`' : `gate ${gate}`);

const whyRead = (by: GateReads, kind: Kind) =>
  kind === 'deleted'
    ? `is deleted, and ${who(by)} reads it`
    : kind === 'mode'
      ? `gets another mode, and ${who(by)} reads it`
      : `${who(by)} reads it`;

function isTest({ path, before, after }: ChangedFile): boolean {
  if (!isCode(path)) return false;
  return isTestFile(path) || (isInTestFolder(path) && holdsTests(before?.text ?? after?.text ?? ''));
}

const isListed = (path: string, { folders }: GateReads) => folders.has(folderOf(path));

/** Examples in a document may be run. */
function isOnlyScanned({ path, before, after }: ChangedFile, reads: GateReads): boolean {
  const [old, now] = [before?.text ?? null, after?.text ?? null];
  return isScanned(path, reads) && old !== null && now !== null && !changesExamples(old, now);
}

function isScanned(path: string, { files }: GateReads): boolean {
  if (!isDocument(path)) return false;
  let documents = 0;
  for (const each of files) if (isDocument(each)) documents += 1;
  return documents > MOST_DOCUMENTS;
}

/** Programs that nobody can read. */
const COMPILED = /\.(py[co]|so|pyd|dll|dylib|class|jar|o|obj|a|lib|node|wasm|exe|beam|rlib)$/i;

/**
 * A file, also of the product, that a gate uses in place of another one: it looked for the file in vain on the target, or a
 * language finds it before a file that the gate read there. Nobody who looks at the old file sees what runs.
 */
function whyInstead(file: ChangedFile, reads: GateReads, changed: readonly ChangedFile[]): string | null {
  const { path, before } = file;
  const { files, missing } = reads;
  if (COMPILED.test(path) && (files.has(path) || missing.has(path))) return `${who(reads)} runs it, and it is compiled`;
  if (before !== null) return null;
  if (missing.has(path)) return `${who(reads)} looks for it`;
  const hidden = hiddenBy(path);
  const isMoved = changed.some((other) => other.path === hidden && other.after === null);
  return hidden !== null && files.has(hidden) && !isMoved ? `${who(reads)} finds it before ${shown(hidden)}` : null;
}

/** Python finds a package before a module of the same name. */
const hiddenBy = (path: string): string | null =>
  path.endsWith('/__init__.py') ? path.replace(/\/__init__\.py$/, '.py') : null;

/** A new file that the gate read. New tests are what gates are for. */
function whyNew(file: ChangedFile, reads: GateReads): string | null {
  const { path } = file;
  const { files, missing } = reads;
  if (isTest(file)) return null;
  if (files.has(path)) return isScanned(path, reads) ? null : `${who(reads)} reads it`;
  if (isDocument(path)) return null;
  return parentsOf(path).some((folder) => missing.has(folder)) ? `${who(reads)} looks for its folder` : null;
}

/** A new file that the gate may find in a folder that it lists, as far as no proof has shown that it does not read it. */
function whyFound(file: ChangedFile, reads: GateReads): string | null {
  const { path } = file;
  if (isTest(file) || isDocument(path) || reads.watched.has(path) || !MAY_BE_FOUND.test(nameOf(path))) return null;
  return isListed(path, reads) ? `${who(reads)} lists its folder` : null;
}

/** Other kinds of files are not loaded by their presence alone. */
const MAY_BE_FOUND = /\.(py|pth|[cm]?[jt]sx?|json|ya?ml|toml|ini|cfg|mk|sh|rb|rs|go|h|hpp|lua|pl)$|^[^.]+$|^\./i;

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
