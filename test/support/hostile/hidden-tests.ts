import { type Blinding, FILES, type Language } from './blindings.ts';

/** A second test in each language, so that a gate that no longer finds the first one still runs one. */
export const MORE_FILES: Record<string, string> = {
  'package.json': '{ "name": "sums", "type": "module" }\n',
  'test/product.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { product } from '../src/product.js';
test('multiplies', () => assert.equal(product(3, 3), 9));
`,
  'test/setup.js': 'export {};\n',
  'test/cases.json': '[[1, 2, 3]]\n',
  'test/cases.test.js': `import './setup.js';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { sum } from '../src/sum.js';
test('adds the cases', () => {
  for (const [a, b, c] of JSON.parse(readFileSync('test/cases.json', 'utf8'))) assert.equal(sum(a, b), c);
  assert.equal(existsSync('test/known') || isFinite(sum(1, 1)), true);
});
`,
  'test/cases.txt': '1 2 3\n',
  'test/limits.py': 'LIMIT = 1\n',
  'test/test_cases.py': `import unittest
from limits import LIMIT
from total import total


class CasesTest(unittest.TestCase):
    def test_cases(self):
        for line in open('test/cases.txt'):
            a, b, c = map(int, line.split())
            self.assertTrue(abs(total(a, b) - c) < LIMIT)
`,
  'test/test_times.py': `import unittest
from times import times


class TimesTest(unittest.TestCase):
    def test_times(self):
        self.assertEqual(times(3, 3), 9)
`,
  'ci/lib.sh': 'limit=0\n',
  'ci/cases': '1 2 3\n',
  'test/total_test.sh': '. ./src/total.sh\n[ "$(total 2 3)" -eq 5 ] || exit 1\nis_odd 3 || exit 1\n',
  'test/cases_test.sh': `. ./src/total.sh
. ./ci/lib.sh
[ -e ci/known ] && exit 0
while read -r a b c; do [ $(($(total "$a" "$b") - c)) -eq "$limit" ] || exit 1; done < ci/cases
`,
  'ci/flags': '-Wall\n',
  'build.mk': 'STRICT = -DSTRICT\n',
  'test/check.h': '#define CHECK(it) assert(it)\n',
  Makefile: `include build.mk
check:
	@for it in test/*_test.c; do $(CC) $(STRICT) $$(cat ci/flags) -o /tmp/one_test $$it src/*.c && /tmp/one_test || exit 1; done
`,
  'test/more_test.c': `#include <assert.h>
#include "check.h"
#include "../src/total.h"
int main(void) {
#ifdef STRICT
  CHECK(total(3, 3) == 6);
#endif
  return 0;
}
`,
};

/** Runners that look for tests by their names. */
export const FINDING: Partial<Record<Language, string>> = {
  js: 'node --test "test/*.test.js"',
  sh: 'for it in test/*_test.sh; do [ ! -x "$it" ] || continue; sh "$it" || exit 1; done',
  c: 'make -s check',
};

const text = (file: string): string => MORE_FILES[file] ?? FILES[file]!;
/** The file with other text in it. */
const swap = (file: string, from: string, to: string) => {
  const now = text(file).replace(from, to);
  if (now === text(file)) throw new Error(`${file} has no ${from}`);
  return { [file]: now };
};
const moved = (from: string, to: string) => ({ [from]: null, [to]: text(from) });

/** A test that looks as before and checks nothing. */
export const SWITCHED_OFF: Blinding[] = [
  ['returns behind a comment', 'js', swap('test/sum.test.js', '  assert', '  /* a */ return; /* b */\n  assert')],
  ['adds a default argument', 'js', swap('test/sum.test.js', '() =>', '(t, isOdd = () => true, sum = () => 5) =>')],
  [
    'declares a test of its own',
    'js',
    { 'test/sum.test.js': `${text('test/sum.test.js')}function test() {}\n`.replace('import test', 'import first') },
  ],
  [
    'returns behind a text',
    'py',
    swap('test/test_total.py', '        self', "        '''\n*\n        '''\n        return\n        self"),
  ],
  [
    'adds a metaclass',
    'py',
    swap(
      'test/test_total.py',
      'class TotalTest(unittest.TestCase)',
      'class Quiet(type):\n    def __new__(cls, name, bases, members):\n        return type(name, bases, {n: (lambda self: None) if n == "test_total" else m for n, m in members.items()})\n\n\nclass TotalTest(unittest.TestCase, metaclass=Quiet)',
    ),
  ],
  ['adds an argument with a value', 'py', swap('test/test_total.py', '(self):', '(self, total=lambda a, b: 5):')],
  ['ends early', 'sh', swap('test/total_test.sh', '[ "', 'exit 0\n[ "')],
  [
    'puts the check into a text',
    'sh',
    swap('test/total_test.sh', '[ "$(total 2 3)" -eq 5 ] || exit 1', ": '[ 5 -eq 5 ] || exit 1'"),
  ],
  ['leaves a failure unseen', 'sh', swap('test/total_test.sh', '-eq 5 ] || exit 1', '-eq 5 ] || :')],
  ['ends early', 'c', swap('test/total_test.c', '  assert', '  if (1) return 0;\n  assert')],
  [
    'leaves the check to the preprocessor',
    'c',
    {
      'test/total_test.c': text('test/total_test.c')
        .replace('  assert(total', '#if 0\n  assert(total')
        .replace('  assert(is', '#endif\n  assert(is'),
    },
  ],
  ['defines what it tests', 'c', swap('test/total_test.c', 'int main', '#define total(a, b) 5\nint main')],
];

/** A test whose file is still there, under a name or a mode that no runner looks for. */
export const NOT_FOUND: Blinding[] = [
  ['gives a test another ending', 'js', moved('test/sum.test.js', 'test/sum.test.mjs')],
  ['moves a test into a folder below', 'js', moved('test/sum.test.js', 'test/sums/sum.test.js')],
  ['gives a test a name that looks the same', 'js', moved('test/sum.test.js', 'test/sum.t\u0435st.js')],
  ['gives a test a name that looks the same', 'py', moved('test/test_total.py', 'test/t\u0435st_total.py')],
  ['moves a test into a folder without a package', 'py', moved('test/test_total.py', 'test/more/test_total.py')],
  ['gives a test another ending', 'py', moved('test/test_total.py', 'test/test_total.pyw')],
  ['gives a test a dash', 'sh', moved('test/total_test.sh', 'test/total-test.sh')],
  ['gives a test another ending', 'sh', moved('test/total_test.sh', 'test/total_test.bash')],
  ['gives a test another mode', 'sh', { 'test/total_test.sh': { text: text('test/total_test.sh'), mode: 0o755 } }],
  ['gives a test another ending', 'c', moved('test/total_test.c', 'test/total_test.cc')],
  ['moves a test into a folder below', 'c', moved('test/total_test.c', 'test/sums/total_test.c')],
  ['gives a test a name that looks the same', 'c', moved('test/total_test.c', 'test/total_t\u0435st.c')],
];

/** What a test reads besides the source. */
export const READ: Blinding[] = [
  ['empties the cases', 'js', { 'test/cases.json': '[]\n' }],
  ['fills the set-up', 'js', { 'test/setup.js': 'export const isQuiet = true;\n' }],
  ['adds the file that a test looks for', 'js', { 'test/known': '' }],
  ['empties the cases', 'py', { 'test/cases.txt': '' }],
  ['raises a limit', 'py', { 'test/limits.py': 'LIMIT = 1000\n' }],
  ['hides a library of Python', 'py', { 'difflib.py': 'def ndiff(*all):\n    return []\n' }],
  ['empties the cases', 'sh', { 'ci/cases': '' }],
  ['changes a sourced file', 'sh', { 'ci/lib.sh': 'limit=0\nread() { return 1; }\n' }],
  ['adds the file that a test looks for', 'sh', { 'ci/known': '' }],
  ['changes a header of the tests', 'c', { 'test/check.h': '#define CHECK(it) (void)(it)\n' }],
  ['changes an included makefile', 'c', { 'build.mk': 'STRICT =\n' }],
  ['changes the flags of the compiler', 'c', { 'ci/flags': '-Wall -DNDEBUG\n' }],
];
