/** A file's part of a unified diff: its head, then its hunks. Lines of a hunk always begin with a sign. */

const SECTION = /^diff --git /m;
/** Of characters that no text has, from which on a file with a NUL in it is called binary. */
const BINARY_SHARE = 0.1;
const CUT_MARK = '\\ [cut here: the rest of this file is not shown]\n';

export function sectionsIn(diff: string): string[] {
  const starts = [...diff.matchAll(new RegExp(SECTION, 'gm'))].map(({ index }) => index);
  return starts.map((start, index) => diff.slice(start, starts[index + 1]));
}

/** By its content: attributes may say what they like. One NUL in a source file does not hide it. */
export function isBinarySection(section: string): boolean {
  if (!section.includes('\0')) return false;
  const hunks = section.slice(Math.max(0, section.indexOf('\n@@ ')));
  const body = hunks.match(/^[+-].*/gm)?.join('') ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const strange = body.match(/[\0-\x08\x0e-\x1f\x7f\ufffd]/g)?.length ?? 0;
  return strange > body.length * BINARY_SHARE;
}

/** Lines added and removed. */
export function linesIn(section: string): { added: number; removed: number } {
  const hunks = section.slice(Math.max(0, section.indexOf('\n@@ ')));
  const count = (sign: RegExp) => hunks.match(sign)?.length ?? 0;
  return { added: count(/^\+/gm), removed: count(/^-/gm) };
}

/** In git's own words for it. */
export function nameBinary(section: string): string {
  const names = /^--- (.*)\n\+\+\+ (.*)$/m.exec(section);
  if (!names) return section;
  const [, before = '', after = ''] = names.map((name) => name.replace(/\t$/, ''));
  return `${section.slice(0, names.index)}Binary files ${before} and ${after} differ\n`;
}

/** A NUL cannot be stored or shown everywhere; its picture can. */
export const visible = (section: string) => section.replaceAll('\0', '\u2400');

/** Keeps whole lines of at most `room` bytes, and counts the last hunk again so that a reader finds its end. */
export function cutSection(section: string, room: number, isWhole: boolean): { text: string; isCut: boolean } {
  if (isWhole && Buffer.byteLength(section) <= room) return { text: section, isCut: false };
  const kept = Buffer.from(section)
    .subarray(0, Math.max(0, room - CUT_MARK.length))
    .toString();
  const end = kept.lastIndexOf('\n') + 1;
  const lines = kept.slice(0, end).split('\n').slice(0, -1);
  const last = lines.findLastIndex((line) => line.startsWith('@@ '));
  if (last < 0) return { text: lines.length === 0 ? '' : `${lines.join('\n')}\n`, isCut: true };
  const signs = lines.slice(last + 1).map((line) => line[0]);
  const before = signs.filter((sign) => sign === ' ' || sign === '-').length;
  const after = signs.filter((sign) => sign === ' ' || sign === '+').length;
  lines[last] = lines[last]!.replace(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/, `@@ -$1,${before} +$2,${after} @@`);
  return { text: `${lines.join('\n')}\n${CUT_MARK}`, isCut: true };
}
