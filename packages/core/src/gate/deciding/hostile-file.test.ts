import { expect, test } from 'vitest';
import { decidingFiles, LARGEST_LOOKED_INTO } from './deciding.ts';

const fact = (text: string) => ({ oid: `oid of ${text}`, mode: '100644', text });
const why = (path: string, before: string, after: string) =>
  decidingFiles({
    checks: [{ name: 'test', run: 'npm test', proves: [] }],
    changed: [{ path, before: fact(before), after: fact(after) }],
    manifests: new Map(),
  })[0]?.why ?? null;

const TEST = `import { sum } from './sum.ts';

describe('sum', () => {
  test('adds', () => {
    expect(sum(1, 2)).toBe(3);
  });
});
`;

test('a hostile file is examined quickly', () => {
  const long = LARGEST_LOOKED_INTO.bytes;
  const changed = "an existing test is changed: `import { sum } from './sum.ts';`";
  const longer = (line: string) => `new code runs before or around existing tests: \`${line}\``;
  const unread = 'its brackets, quotes or indentation do not fit, so it was not examined; an existing test is changed';
  const evil: [string, string | null, string | null][] = [
    ['exit '.repeat(long / 5), changed, longer('exit exit exit exit')],
    [`process${' '.repeat(long)}x`, changed, longer('process')],
    ['/*'.repeat(long / 2), `${unread}: \`import { sum } from './sum.ts';\``, unread],
    ['from pytest import '.repeat(long / 20), changed, null],
    ['const a1 = 1;\n'.repeat(LARGEST_LOOKED_INTO.lines), 'an existing test gets new lines: `const a1 = 1;`', unread],
    [`it.each${' '.repeat(long)}`, changed, longer('it.each')],
    ['a\n'.repeat(LARGEST_LOOKED_INTO.lines), 'an existing test gets new lines: `a`', longer('a')],
    ['\n'.repeat(LARGEST_LOOKED_INTO.lines), null, null],
  ];
  // A pattern that backtracks without end would run into the time limit of the test.
  for (const [text, ofTest, ofPython] of evil) {
    const found = [
      why('src/a.test.ts', `${TEST}${text}`, `${text}${TEST}`),
      why('tests/test_a.py', text, `${text}\n${text.slice(0, 20)}`),
      why('src/a.ts', 'a', text),
    ];
    expect(found, text.slice(0, 20)).toEqual([ofTest, ofPython, null]);
  }
});
