import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criteriaOf } from './criteria.ts';

const found = (body: string, given: string[] = []) => criteriaOf(body, given).map(({ id, text }) => `${id} ${text}`);

describe('acceptance criteria from a body', () => {
  test.each<[string, string, string[]]>([
    ['nothing', 'Some text.\n- a list item\n', []],
    ['checkboxes, ticked or not', '- [ ] one\n* [x] two\n+ [X] three', ['C1 one', 'C2 two', 'C3 three']],
    ['indented and widely spaced', '  -  [ ]   one  \n\t- [ ] two', ['C1 one', 'C2 two']],
    ['numbered', 'AC-1.2.a: one\n- AC-1.2.b: two\nAC-3: three', ['AC-1.2.a one', 'AC-1.2.b two', 'AC-3 three']],
    ['numbered in bold', '**AC-1.1.a:** one\n- **AC-1.1.b**: two', ['AC-1.1.a one', 'AC-1.1.b two']],
    ['numbered within a checkbox', '- [ ] AC-2.1.a: one', ['AC-2.1.a one']],
    ['both mixed', '- [ ] one\nAC-1.1: two\n- [x] three', ['C1 one', 'AC-1.1 two', 'C3 three']],
    ['a repeated number gets an id of its own', 'AC-1.1: one\nAC-1.1: two', ['AC-1.1 one', 'C2 two']],
    ['a repeated text stays twice', '- [ ] one\n- [ ] one', ['C1 one', 'C2 one']],
    ['CRLF', '- [ ] one\r\n- [ ] two\r\n', ['C1 one', 'C2 two']],
    [
      'lone CR and the unicode line separators',
      '- [ ] one\r- [ ] two\u2028AC-1: three',
      ['C1 one', 'C2 two', 'AC-1 three'],
    ],
    ['unicode', '- [ ] größer als 10 日本語 🌊', ['C1 größer als 10 日本語 🌊']],
    ['an empty box is none', '- [ ] \n- [ ]\n- [] x\n- [y] x\nAC-1:\nAC-: x', []],
    ['the number needs its colon', 'see AC-1.2.a for more\nAC-1.2.a without a colon', []],
  ])('are found in the case: %s', (_name, body, expected) => {
    expect(found(body)).toEqual(expected);
  });

  test('come after those that were given', () => {
    expect(found('- [ ] boxed\nAC-1: numbered', ['given'])).toEqual(['C1 given', 'C2 boxed', 'AC-1 numbered']);
  });

  test('start unjudged', () => {
    expect(criteriaOf('- [x] one', [])).toEqual([{ id: 'C1', text: 'one', met: null, evidence: '' }]);
  });

  test('have unique ids and are never empty, whatever the body', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('- [ ] ', '- [x] a', 'AC-1: b', '* [ ] AC-1: c', '**AC-1.a:** d', '\r', '- [ ] \u00a0'),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), fc.array(fc.string({ minLength: 1 })), (lines, given) => {
        const criteria = criteriaOf(lines.join('\n'), given);
        expect(new Set(criteria.map(({ id }) => id)).size).toBe(criteria.length);
        for (const { text } of criteria.slice(given.length)) expect(text.trim()).not.toBe('');
      }),
    );
  });
});
