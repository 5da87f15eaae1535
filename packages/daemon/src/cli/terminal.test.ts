import { describe, expect, test } from 'vitest';
import { elapsed, fit, oneLine, table, took, widthOf } from './terminal.ts';

describe('text on a terminal', () => {
  test.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [180_000, '3 min'],
    [7_500_000, '2 h 5 min'],
    [7_200_000, '2 h'],
    [345_600_000, '4 d'],
  ])('%i ms is shown as %s', (ms, text) => expect(elapsed(ms)).toBe(text));

  test('less than a second is shown in milliseconds', () => expect(took(120.4)).toBe('120 ms'));

  test('control characters from outside are removed', () => {
    expect(oneLine('a\u001b[31mred\u001b[0m\r\nb\u0007')).toBe('ared b');
  });

  test('lines of an error become one line, without the indentation between them', () => {
    expect(oneLine('TypeError: no money\n    at sell (bakery.js:12:3)')).toBe(
      'TypeError: no money at sell (bakery.js:12:3)',
    );
  });

  test.each(['plain', '長い題名です', 'e\u0301'.repeat(30), 'x'.repeat(300)])('%s is cut to its width', (text) => {
    for (const width of [1, 5, 10, 80]) expect(widthOf(fit(text, width))).toBeLessThanOrEqual(width);
  });

  test('indentation stays', () => expect(fit('  two', 10)).toBe('  two'));

  test('tables fit the width', () => {
    const lines = table(
      [
        ['#1', 'open', 'x'.repeat(200)],
        ['#10000', 'needs_info', '題'.repeat(100)],
      ],
      80,
    );
    expect(lines.every((line) => widthOf(line) <= 80)).toBe(true);
  });
});
