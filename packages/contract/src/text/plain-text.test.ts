import { describe, expect, it } from 'vitest';
import { plainLine, plainText } from './plain-text.ts';

describe('text from outside', () => {
  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a window title', '\u001b]0;owned\u0007title', 'title'],
    ['a link', '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['eight-bit sequences', '\u009b2Jgone', 'gone'],
    ['half a sequence', 'a\u001b', 'a'],
    ['a reset', '\u001bcfresh', 'fresh'],
    ['bells and backspaces', 'safe\u0008\u0008\u0008\u0008evil\u0007', 'safeevil'],
    ['NUL', 'a\0b', 'ab'],
    ['an override of the direction', 'photo\u202egpj.exe', 'photogpj.exe'],
    ['isolates and marks', '\u2066a\u2069\u200e\u200f\u061cb', 'ab'],
    ['no width', 'pass\u200bword\ufeff\u2060', 'password'],
    ['a joiner between Latin letters', 'ad\u200dmin\u200c', 'admin'],
    ['tag characters', `hi${String.fromCodePoint(0xe0041, 0xe0042)}`, 'hi'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['a progress line', 'one\rtwo\r\nthree', 'one\ntwo\nthree'],
    ['other line breaks', 'a\u2028b\u2029c\u0085d', 'a\nb\nc\nd'],
    ['a blank letter', '\u3164', ''],
  ])('loses %s', (_, given, kept) => {
    expect(plainText(given)).toBe(kept);
  });

  it.each([
    ['line breaks and tabs', 'a\n\tb\n'],
    ['other scripts', 'Größe, 日本語, العربية, हिन्दी, עברית'],
    ['joiners where they belong', 'می\u200cخواهم'],
    ['composed pictures', '👩\u200d👩\u200d👧 ❤\ufe0f 🏳\ufe0f\u200d🌈 👍🏽'],
  ])('keeps %s', (_, text) => {
    expect(plainText(text)).toBe(text);
  });

  it('is one line where a line is meant', () => {
    expect(plainLine('  a\n\tb\r\n\u202ec ')).toBe('a b c');
  });

  // A pattern that backtracks without end would run into the time limit of the test.
  it('is made of hostile text, too', () => {
    expect(plainText('\u001b]'.repeat(200_000))).toBe('');
    expect(plainText('\u200d'.repeat(400_000))).toBe('');
    expect(plainText(`\u001b[${'0'.repeat(400_000)}`)).toMatch(/^\[?0*$/);
  });
});
