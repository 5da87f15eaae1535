import { describe, expect, test } from 'vitest';
import { cutSection, isBinarySection, linesIn, nameBinary, sectionsIn, visible } from './diff-section.ts';

const HEAD = 'diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n';
const HUNK = '@@ -1,3 +1,4 @@ title\n one\n-two\n+2\n+3\n three\n';
const OTHER = 'diff --git a/b.txt b/b.txt\nnew file mode 100644\n';

describe('a diff', () => {
  test('is parted into one section per file', () => {
    expect(sectionsIn(HEAD + HUNK + OTHER)).toEqual([HEAD + HUNK, OTHER]);
    expect(sectionsIn('')).toEqual([]);
  });

  test('is not parted at a line of a file that looks like the head of a section', () => {
    const quoted = `${HEAD}@@ -1 +1 @@\n-diff --git a/x b/x\n+diff --git a/y b/y\n`;
    expect(sectionsIn(quoted)).toEqual([quoted]);
  });
});

describe('the lines of a section', () => {
  test('are counted by their sign, without the names in its head', () => {
    expect(linesIn(HEAD + HUNK)).toEqual({ added: 2, removed: 1 });
    expect(linesIn(OTHER)).toEqual({ added: 0, removed: 0 });
  });
});

describe('a section is binary', () => {
  const of = (line: string) => isBinarySection(`${HEAD}@@ -0,0 +1 @@\n+${line}\n`);
  test.each([
    ['text', 'plain text', false],
    ['control characters without a NUL', '\u0001'.repeat(50), false],
    ['one NUL in a long text', `${'text '.repeat(50)}\0`, false],
    ['a tenth of NULs, and not more', `${'x'.repeat(8)}\0`, false],
    ['more than a tenth of NULs', `${'x'.repeat(7)}\0`, true],
    ['NULs and other control characters', `\0${'\u0001\u000e\u007f\ufffd'.repeat(5)}`, true],
  ])('with %s: %s', (_what, line, isBinary) => expect(of(line)).toBe(isBinary));

  test('by its own lines only, not by its names', () => {
    expect(isBinarySection(`diff --git a/\0 b/\0\n--- a/\0\n+++ b/\0\n@@ -0,0 +1 @@\n+text text text\n`)).toBe(false);
  });

  test('and is then named as git names it, without its content', () => {
    const named = nameBinary('diff --git a/x y b/x y\nindex 1..2\n--- a/x y\t\n+++ b/x y\t\n@@ -0,0 +1 @@\n+\0\n');
    expect(named).toBe('diff --git a/x y b/x y\nindex 1..2\nBinary files a/x y and b/x y differ\n');
    expect(nameBinary(OTHER)).toBe(OTHER);
  });

  test('and a NUL in a text is shown as its picture', () => {
    expect(visible('+a\0b\0')).toBe('+a␀b␀');
  });
});

describe('a section that is cut', () => {
  const tail = ` ${'x'.repeat(100)}\n`;
  const whole = HEAD + HUNK + tail;
  const bytes = Buffer.byteLength(whole);
  const mark = '\\ [cut here: the rest of this file is not shown]\n';
  /** Room for exactly this beginning, and the mark. */
  const roomFor = (beginning: string) => Buffer.byteLength(beginning) + mark.length;

  test('stays whole where it has room to the byte, unless its end is missing already', () => {
    expect(cutSection(whole, bytes, true)).toEqual({ text: whole, isCut: false });
    expect(cutSection(whole, bytes - 1, true).isCut).toBe(true);
    expect(cutSection(HEAD + HUNK, 10_000, false)).toEqual({ text: HEAD + HUNK + mark, isCut: true });
  });

  test('keeps whole lines, and its last hunk says how many they are', () => {
    const room = roomFor(`${HEAD}@@ -1,3 +1,4 @@ title\n one\n-two\n+2\n+`);
    expect(cutSection(whole, room, true)).toEqual({
      text: `${HEAD}@@ -1,2 +1,2 @@ title\n one\n-two\n+2\n${mark}`,
      isCut: true,
    });
  });

  test('counts only the last hunk again, also one that had no counts', () => {
    const two = `${HEAD}@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n${tail}`;
    const room = roomFor(`${HEAD}@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n`);
    expect(cutSection(two, room, true).text).toBe(`${HEAD}@@ -1 +1 @@\n-a\n+b\n@@ -9,1 +9,0 @@\n-c\n${mark}`);
  });

  test('before its first hunk keeps lines of its head, or nothing', () => {
    const room = roomFor('diff --git a/a.txt b/a.txt\nindex');
    expect(cutSection(whole, room, true)).toEqual({ text: 'diff --git a/a.txt b/a.txt\n', isCut: true });
    expect(cutSection(whole, 10, true)).toEqual({ text: '', isCut: true });
  });

  test('never ends within a letter', () => {
    const letters = `${HEAD}@@ -0,0 +1,2 @@\n+ü\n+${'ü'.repeat(100)}\n`;
    const { text } = cutSection(letters, Buffer.byteLength(letters) - 1, true);
    expect(text).toBe(`${HEAD}@@ -0,0 +1,1 @@\n+ü\n${mark}`);
  });
});
