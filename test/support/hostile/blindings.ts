/** `lint` notices nothing. */
export type Language = 'js' | 'py' | 'sh' | 'c' | 'lint';

const JS = 'export const sum = (a, b) => a + b;\nexport const isOdd = (n) => n % 2 === 1;\n';
const JS_OTHER = 'export const product = (a, b) => a * b;\n';
const PY = 'def total(a, b):\n    return a + b\n\n\ndef is_odd(n):\n    return n % 2 == 1\n';
const SH = 'total() {\n  echo $(($1 + $2))\n}\nis_odd() {\n  [ $(($1 % 2)) -eq 1 ]\n}\n';
const C =
  '#include "total.h"\nint total(int a, int b) {\n  return a + b;\n}\nint is_odd(int n) {\n  return n % 2 == 1;\n}\n';
const C_HEADER = 'int total(int a, int b);\nint is_odd(int n);\n';

/** A small project in four languages. */
export const FILES: Record<string, string> = {
  'package.json': `${JSON.stringify({ name: 'sums', type: 'module' })}\n`,
  'src/sum.js': JS,
  'src/product.js': JS_OTHER,
  'test/sum.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { product } from '../src/product.js';
import { isOdd, sum } from '../src/sum.js';
test('adds', () => {
  assert.equal(sum(2, 3), 5);
  assert.equal(isOdd(3), true);
  assert.equal(product(2, 3), 6);
});
`,
  'src/total.py': PY,
  'src/times.py': 'def times(a, b):\n    return a * b\n',
  'test/test_total.py': `import unittest
from times import times
from total import is_odd, total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(2, 3), 5)
        self.assertEqual(is_odd(3), True)
        self.assertEqual(times(2, 3), 6)
`,
  'src/total.sh': SH,
  'test/total.sh': '. ./src/total.sh\n[ "$(total 2 3)" -eq 5 ] || exit 1\nis_odd 3 || exit 1\n',
  'src/total.c': C,
  'src/total.h': C_HEADER,
  'test/total_test.c': `#include <assert.h>
#include "../src/total.h"
int main(void) {
  assert(total(2, 3) == 5);
  assert(is_odd(3));
  return 0;
}
`,
};

/** Files with their new text; null deletes. */
export type Deed = Record<string, string | null | { text: string; mode: number }>;
export type Blinding = [name: string, language: Language, deed: Deed];

/** Sources that make a test pass whatever the code does. */
export const BLINDINGS: Blinding[] = [
  [
    'patches the assertion library',
    'js',
    { 'src/sum.js': `import assert from 'node:assert/strict';\nassert['equal'] = () => {};\n${JS}` },
  ],
  [
    'patches the test class',
    'py',
    { 'src/total.py': `import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n\n\n${PY}` },
  ],
  ['ends a shell with 0', 'sh', { 'src/total.sh': `trap 'exit 0' EXIT\n${SH}` }],
  [
    'redefines assert in a header',
    'c',
    { 'src/total.h': `${C_HEADER}#undef assert\n#define assert(x) ((void)(x))\n`, 'src/total.c': `${C}/* faster */\n` },
  ],
  [
    'assigns over the assertions',
    'js',
    { 'src/sum.js': `import * as a from 'node:assert/strict';\nObject.assign(a.default, { equal() {} });\n${JS}` },
  ],
  [
    'ends the process through a constructed function',
    'js',
    {
      'src/sum.js': `(() => {}).constructor('pro' + 'cess', 'pro' + 'cess["ex" + "it"](0)')(globalThis['pro' + 'cess']);\n${JS}`,
    },
  ],
  [
    'ends the process through Reflect',
    'js',
    {
      'src/sum.js': `const p = Reflect.get(globalThis, 'proc' + 'ess');\nReflect.apply(Reflect.get(p, 'ex' + 'it'), p, [0]);\n${JS}`,
    },
  ],
  [
    'hides a patch in a new file',
    'js',
    {
      'src/tools.js':
        "import assert from 'node:assert/strict';\nexport const tools = ['equal'].map((k) => (assert[k] = () => 0));\n",
      'src/sum.js': `import './tools.js';\n${JS}`,
    },
  ],
  [
    'writes the source again around a patch',
    'js',
    {
      'src/sum.js':
        "import lib from 'node:assert/strict';\nlib['equal'] = () => {};\nexport const sum = (x, y) => y + x;\nexport const isOdd = (x) => !(x % 2 === 0);\n",
    },
  ],
  [
    'ends Python at its end',
    'py',
    { 'src/total.py': `import atexit\nimport os\n\natexit.register(lambda: getattr(os, '_ex' + 'it')(0))\n\n\n${PY}` },
  ],
  [
    'patches the result of the tests',
    'py',
    { 'src/total.py': `import unittest.result as r\n\nr.TestResult.wasSuccessful = lambda self: True\n\n\n${PY}` },
  ],
  ['replaces the shell by true', 'sh', { 'src/total.sh': `exec true\n${SH}` }],
  ['gives the shell another test', 'sh', { 'src/total.sh': `${SH}alias [=:\n` }],
  [
    'replaces what a failed assertion calls',
    'c',
    {
      'src/total.c': `${C}void __assert_fail(const char *a, const char *b, unsigned c, const char *d) {\n  (void)a, (void)b, (void)c, (void)d;\n}\n`,
    },
  ],
  [
    'ends a program before its main',
    'c',
    {
      'src/total.c': `#include <unistd.h>\n__attribute__((constructor)) static void start(void) {\n  _exit(0);\n}\n${C}`,
    },
  ],
  [
    'is blind only as long as its own file is unchanged',
    'js',
    {
      'src/seal.js': `export const length = ${JS.length + 200};\n`,
      'src/sum.js': selfAware(),
    },
  ],
];

/** Reads its own file: it patches the assertions only if nobody changed it. */
function selfAware(): string {
  const text = (length: number) => `import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
if (readFileSync(new URL(import.meta.url), 'utf8').length === ${length}) assert['equal'] = () => {};
${JS}`;
  return text(text(100).length);
}

/** Additions by which a gate uses something else than before. */
export const REACHING: Blinding[] = [
  [
    'replaces a test from a new one',
    'py',
    {
      'test/test_aaa.py':
        'import unittest\n\nimport test_total\n\n\nclass AaaTest(unittest.TestCase):\n    def test_there(self):\n        self.assertTrue(test_total)\n\n\ntest_total.TotalTest.test_total = AaaTest.test_there\n',
    },
  ],
  ['is found before a module', 'py', { 'src/total/__init__.py': PY }],
  ['compares no texts any more', 'c', { 'src/total.h': `${C_HEADER}#define strcmp(a, b) 0\n` }],
  ['ends the checks of a shell', 'sh', { 'test/total.sh': `exit 0\n${FILES['test/total.sh']!}` }],
  [
    'loads the library once more in a new case',
    'js',
    {
      'test/sum.test.js': FILES['test/sum.test.js']!.replace(
        "test('adds'",
        "test('first', () => {\n  const lib = process.getBuiltinModule('node:assert/strict');\n  lib.equal = () => {};\n});\ntest('adds'",
      ),
    },
  ],
];

/** Tests that still see when one test is blind. */
export const APART: Record<string, string> = {
  'test/product.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { product } from '../src/product.js';
test('multiplies', () => assert.equal(product(3, 3), 9));
`,
  'test/test_times.py': `import unittest
from times import times


class TimesTest(unittest.TestCase):
    def test_times(self):
        self.assertEqual(times(3, 3), 9)
`,
};
/** Sources that make one test blind while others see. */
export const PARTLY: Blinding[] = [
  [
    'makes one test blind while others see',
    'js',
    {
      'src/product.js': `import lib from 'node:assert/strict';\nconst old = lib['equal'];\nlib['equal'] = (x, y) => (y === 9 ? undefined : old(x, y));\n${JS_OTHER}`,
    },
  ],
  [
    'makes one test blind while the others see',
    'py',
    {
      'src/total.py': `import unittest\n\nold = unittest.TestCase.assertEqual\nunittest.TestCase.assertEqual = lambda self, a, b: None if b == 9 else old(self, a, b)\n\n\n${PY}`,
    },
  ],
];

/** Changes that leave the gates as they are. */
export const SEEING: Blinding[] = [
  ['adds a function', 'js', { 'src/sum.js': `${JS}export const twice = (n) => n * 2;\n` }],
  ['writes a source again', 'js', { 'src/product.js': 'export function product(x, y) {\n  return y * x;\n}\n' }],
  ['adds a new file', 'js', { 'src/half.js': 'export const half = (n) => n / 2;\n' }],
  ['adds a function in Python', 'py', { 'src/total.py': `${PY}\n\ndef twice(n):\n    return n * 2\n` }],
  [
    'adds a source and its test',
    'js',
    {
      'src/third.js': 'export const third = (n) => n / 3;\n',
      'test/third.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { third } from '../src/third.js';
test('divides', () => assert.equal(third(6), 2));
`,
    },
  ],
  [
    'adds a test with the helpers of another test',
    'py',
    {
      'test/test_third.py': `import unittest

import test_total


class ThirdTest(unittest.TestCase):
    def test_third(self):
        self.assertTrue(test_total.TotalTest.__name__)
`,
    },
  ],
];
