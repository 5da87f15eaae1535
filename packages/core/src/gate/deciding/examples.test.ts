import { describe, expect, test } from 'vitest';
import { changesExamples } from './examples.ts';

const SESSION = '# A\n\nA total:\n\n    >>> from a import total\n    >>> total(1, 2)\n    3\n\nThat is all.\n';
const FENCED = '# A\n\nText.\n\n```js\nassert(total(1, 2) === 3);\n```\n\nThat is all.\n';
const RST = 'A\n=\n\nText::\n\n    total(1, 2) == 3\n\nThat is all.\n';

describe('the examples of a document', () => {
  test.each<[string, string, string]>([
    ['is removed', SESSION, '# A\n\nA total is a + b.\n'],
    ['expects something else', SESSION, SESSION.replace('    3\n', '    4\n')],
    ['is skipped', SESSION, SESSION.replace('total(1, 2)', 'total(1, 2)  # doctest: +SKIP')],
    ['gets a line more', SESSION, SESSION.replace('    >>> total', '    >>> total = max\n    >>> total')],
    [
      'uses a name that a new one before it defines',
      SESSION,
      SESSION.replace('A total:', '    >>> def total(a, b):\n    ...     return 3\n\nA total:'),
    ],
    ['is no code of its language any more', FENCED, FENCED.replace('```js', '```text')],
    ['in a fence expects something else', FENCED, FENCED.replace('=== 3', '> 0')],
    ['after two colons changes', RST, RST.replace('== 3', '> 0')],
    [
      'is put into a fence',
      SESSION,
      SESSION.replace('    >>> from', '~~~text\n    >>> from').replace('    3\n', '    3\n~~~\n'),
    ],
  ])('decide when one %s', (_name, before, after) => {
    expect(after).not.toBe(before);
    expect(changesExamples(before, after)).toBe(true);
  });

  test.each<[string, string, string]>([
    ['the text changes', SESSION, SESSION.replace('That is all.', 'That is all, really.')],
    ['one is added after them', SESSION, `${SESSION}\n    >>> total(2, 2)\n    4\n`],
    ['one is added before them', FENCED, FENCED.replace('Text.', 'Text.\n\n```js\nother(1);\n```\n')],
    ['a list with indented text changes', '- a\n\n    more\n', '- a\n\n    even more\n'],
  ])('do not decide when %s', (_name, before, after) => {
    expect(changesExamples(before, after)).toBe(false);
  });
});
