import { expect, test } from 'vitest';
import { quietText, withoutClosingKeywords } from './quiet.ts';

test.each(['Fixes #5', 'closes: GH-5', 'resolved https://github.com/a/b/issues/5', 'close a/b#5'])(
  'the message of a commit closes no issue: %s',
  (text) => {
    const said = withoutClosingKeywords(text);
    expect(said).not.toBe(text);
    expect(said).toMatch(/^\w+\u2060/);
    expect(said.replaceAll('\u2060', '')).toBe(text);
  },
);

test('a text that closes no issue stays as it is', () => {
  expect(withoutClosingKeywords('Close the file and fix sums')).toBe('Close the file and fix sums');
  expect(quietText('a plain line')).toBe('a plain line');
});
