/** A file of a unified diff. `lines` are as git writes them, including hunk headers; a missing line number is 0. */
export interface DiffFile {
  path: string;
  /** The previous name of a renamed or copied file. */
  from: string | null;
  status: 'added' | 'deleted' | 'renamed' | 'copied' | 'changed';
  isBinary: boolean;
  /** For example a changed mode. */
  notes: string[];
  added: number;
  removed: number;
  lines: string[];
  before: number[];
  after: number[];
  /** The number of lines that were not kept. */
  more: number;
}

/** Lines beyond this are only counted. */
const MOST_LINES = 400_000;
/** Longer lines are cut, with the number of omitted characters. */
const LONGEST_LINE = 2000;

/** Reads a unified diff in chunks of any size, so that a large one does not block the page. */
export class DiffReader {
  readonly files: DiffFile[] = [];
  #rest = '';
  #kept = 0;
  /** Lines the current hunk still has, on each side. */
  #left = { before: 0, after: 0 };
  #at = { before: 0, after: 0 };

  push(text: string): void {
    this.#rest += text;
    let from = 0;
    for (let end = this.#rest.indexOf('\n'); end >= 0; end = this.#rest.indexOf('\n', from)) {
      this.#line(this.#rest.slice(from, end));
      from = end + 1;
    }
    this.#rest = this.#rest.slice(from);
  }

  end(): void {
    if (this.#rest !== '') this.#line(this.#rest);
    this.#rest = '';
  }

  #line(line: string): void {
    const file = this.files.at(-1);
    // Use the hunk's line counts, because a changed line may look like a file header.
    if (file && (this.#left.before > 0 || this.#left.after > 0)) this.#hunkLine(file, line);
    else if (file && line.startsWith('\\')) this.#keep(file, line, 0, 0);
    else if (line.startsWith('diff --git ') || line.startsWith('diff --cc ') || line.startsWith('diff --combined ')) {
      this.files.push(newFile(line));
    } else if (file) this.#headLine(file, line);
  }

  #headLine(file: DiffFile, line: string): void {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (!hunk) {
      readHead(file, line);
      return;
    }
    this.#at = { before: Number(hunk[1]), after: Number(hunk[3]) };
    this.#left = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
    this.#keep(file, line, 0, 0);
  }

  #hunkLine(file: DiffFile, line: string): void {
    const sign = line[0] ?? ' ';
    const isMark = sign === '\\';
    const isBefore = sign !== '+' && !isMark;
    const isAfter = sign !== '-' && !isMark;
    if (sign === '+') file.added += 1;
    if (sign === '-') file.removed += 1;
    this.#keep(file, line, isBefore ? this.#at.before : 0, isAfter ? this.#at.after : 0);
    if (isBefore) [this.#at.before, this.#left.before] = [this.#at.before + 1, this.#left.before - 1];
    if (isAfter) [this.#at.after, this.#left.after] = [this.#at.after + 1, this.#left.after - 1];
  }

  #keep(file: DiffFile, line: string, before: number, after: number): void {
    if (this.#kept >= MOST_LINES) {
      file.more += 1;
      return;
    }
    this.#kept += 1;
    const more = line.length - LONGEST_LINE;
    file.lines.push(
      more > 0 ? `${line.slice(0, LONGEST_LINE)}… ${more.toLocaleString('en-US')} more characters` : line,
    );
    file.before.push(before);
    file.after.push(after);
  }
}

function newFile(line: string): DiffFile {
  const path = nameInHead(line);
  const lists = { notes: [], lines: [], before: [], after: [] };
  return { path, from: null, status: 'changed', isBinary: false, added: 0, removed: 0, more: 0, ...lists };
}

/** In `diff --git a/x b/x` both names are the same unless another line says otherwise, so the second half is the name. */
function nameInHead(line: string): string {
  const quoted = / ("b\/(?:[^"\\]|\\.)*")$/.exec(line)?.[1];
  if (quoted !== undefined) return side(quoted);
  const names = line.replace(/^diff --(?:git|cc|combined) /, '');
  const half = names.slice(Math.ceil(names.length / 2));
  return names === `a/${half.slice(2)} ${half}` ? half.slice(2) : names;
}

function readHead(file: DiffFile, line: string): void {
  const [, word = '', name = ''] =
    /^(--- |\+\+\+ |rename from |rename to |copy from |copy to )([^\t]*)/.exec(line) ?? [];
  if (word === '+++ ') {
    if (name !== '/dev/null') file.path = side(name);
  } else if (word === '--- ') {
    if (name !== '/dev/null' && file.status !== 'renamed' && file.status !== 'copied') file.path = side(name);
  } else if (word.endsWith(' from ')) file.from = unquoted(name);
  else if (word.endsWith(' to ')) {
    file.path = unquoted(name);
    file.status = word.startsWith('rename') ? 'renamed' : 'copied';
  } else if (line.startsWith('new file mode')) file.status = 'added';
  else if (line.startsWith('deleted file mode')) file.status = 'deleted';
  else if (line.startsWith('old mode ') || line.startsWith('new mode ')) file.notes.push(line);
  else if (line.startsWith('Binary files ') || line.startsWith('GIT binary patch')) file.isBinary = true;
}

/** Removes git's prefix `a/` or `b/`. */
const side = (name: string) => unquoted(name).replace(/^[abciow]\//, '');

const ESCAPES: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, '\\': 92 };

/** git quotes names with unusual characters and escapes them byte by byte. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part, octal, letter] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
    else bytes.push(...encoder.encode(part));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
