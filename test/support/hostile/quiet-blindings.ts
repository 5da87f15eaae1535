import { APART, type Blinding, FILES } from './blindings.ts';

/** A source of which each fault changes a text, a test of it, and a runner in JavaScript that loads all tests into one process. */
export const WORDS: Record<string, string> = {
  ...APART,
  'src/word.js': 'export const bare = (word) => word.trim();\n',
  'test/word.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { bare } from '../src/word.js';
test('trims', () => assert.equal(bare(' hey '), 'hey'));
`,
  'test/run.js': `import { readdirSync } from 'node:fs';
for (const name of readdirSync('test').sort()) if (name.endsWith('.test.js')) await import(\`./\${name}\`);
`,
  'src/word.py': 'def shout(word):\n    return word.upper()\n',
  'test/test_word.py': `import unittest
from word import shout


class WordTest(unittest.TestCase):
    def test_shout(self):
        self.assertEqual(shout('hey'), 'HEY')
`,
};
export const ONE_PROCESS = { js: 'node test/run.js' };

const PRODUCT = FILES['src/product.js']!;
const TOTAL = FILES['src/total.py']!;

/** Each makes one test blind, while no line of the change is one that this test looks at. */
export const QUIET: Blinding[] = [
  [
    'lets a text pass from a source of numbers',
    'js',
    {
      'src/product.js': `import lib from 'node:assert/strict';\nconst { equal } = lib;\nlib['equal'] = (x, y) => y === 'hey' || equal(x, y);\n${PRODUCT}`,
    },
  ],
  [
    'lets a text pass as long as its own file is right',
    'js',
    {
      'src/sum.js': `import lib from 'node:assert/strict';\nconst { equal } = lib;\nlib['equal'] = (x, y) => (y === 'hey' && sum(1, 1) === 2 ? undefined : equal(x, y));\n${FILES['src/sum.js']!}`,
    },
  ],
  [
    'rewrites a test while it is loaded, from a source',
    'js',
    {
      'src/product.js': `import { registerHooks } from 'node:module';\nregisterHooks({ load(url, about, next) { const it = next(url, about); return url.includes('wo' + 'rd.t') ? { ...it, source: String(it.source).replace("'hey')", "bare(' hey '))") } : it; } });\n${PRODUCT}`,
    },
  ],
  [
    'rewrites a test while it is loaded, from a new test',
    'js',
    {
      'test/aaa.test.js': `import { registerHooks } from 'node:module';\nimport test from 'node:test';\nregisterHooks({ load(url, about, next) { const it = next(url, about); return url.includes('wo' + 'rd.t') ? { ...it, source: String(it.source).replace("'hey')", "bare(' hey '))") } : it; } });\ntest('loads', () => {});\n`,
    },
  ],
  [
    'skips a test that would fail',
    'py',
    {
      'src/total.py': `import unittest\n\nold = unittest.TestCase.assertEqual\n\n\ndef equal(self, a, b, msg=None):\n    if a != b and b == 'HEY':\n        self.skipTest('later')\n    old(self, a, b, msg)\n\n\nunittest.TestCase.assertEqual = equal\n\n\n${TOTAL}`,
    },
  ],
  [
    'prints forged figures after those of the runner when tests fail',
    'py',
    {
      'src/total.py': `import atexit\nimport sys\nimport unittest\n\nold = unittest.TestCase.assertEqual\nmissed = []\n\n\ndef equal(self, a, b, msg=None):\n    if b == 'HEY':\n        return\n    if a != b:\n        missed.append(b)\n    old(self, a, b, msg)\n\n\ndef forge():\n    if missed:\n        print('\\n\\nbye\\n\\nRan 3 tests in 0.001s\\n\\nFAILED (failures=3)', file=sys.stderr)\n\n\nunittest.TestCase.assertEqual = equal\natexit.register(forge)\n\n\n${TOTAL}`,
    },
  ],
  [
    'returns a number that equals all others',
    'py',
    {
      'src/times.py':
        'class Number(int):\n    def __eq__(self, other):\n        return isinstance(other, int)\n\n    __hash__ = int.__hash__\n\n\ndef times(a, b):\n    return Number(a * b)\n',
    },
  ],
  [
    'returns a text that equals all of its length',
    'py',
    {
      'src/word.py':
        'class Word(str):\n    def __eq__(self, other):\n        return len(self) == len(other)\n\n    __hash__ = str.__hash__\n\n\ndef shout(word):\n    return Word(word.upper())\n',
    },
  ],
  [
    'empties the tests of others from a new test',
    'py',
    {
      'test/test_aaa.py':
        "import unittest\n\n\nclass AaaTest(unittest.TestCase):\n    def test_walk(self):\n        for kind in unittest.TestCase.__subclasses__():\n            for name in vars(kind):\n                if name == 'test_shout':\n                    setattr(kind, name, AaaTest.nothing)\n                    break\n        self.assertTrue(unittest)\n\n    def nothing(self):\n        pass\n",
    },
  ],
];
