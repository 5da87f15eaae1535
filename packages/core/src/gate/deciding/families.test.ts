import { describe, expect, test } from 'vitest';
import type { ChangedFile } from './changed-file.ts';
import { decidingFiles } from './deciding.ts';
import type { GateReads } from './observed.ts';

/** The same ways to weaken a gate in each group of languages. */
type Language = 'JavaScript' | 'Python' | 'shell' | 'C' | 'Rust';
type Change = Record<string, [before: string | null, after: string | null, mode?: string]>;
type Case = [Language, what: string, change: Change];

const JS = `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from '../src/sum.js';

test('adds', () => {
  assert.equal(sum(1, 2), 3);
});
`;
const PY = `import unittest

from sums import total


class SumTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(1, 2), 3)
`;
const SH = '. ./lib/total.sh\n[ "$(total 1 2)" = 3 ] || exit 1\n';
const C = `#include <assert.h>
#include "sums.h"

static void test_total(void) {
  assert(total(1, 2) == 3);
}

int main(void) {
  test_total();
  return 0;
}
`;
const RUST = `use sums::total;

#[test]
fn totals() {
    assert_eq!(total(1, 2), 3);
}
`;

const swap = (text: string, from: string, to: string): [string, string] => {
  expect(text).toContain(from);
  return [text, text.replace(from, to)];
};

const OFF: Case[] = [
  [
    'JavaScript',
    'a return behind a comment',
    { 'test/a.test.js': swap(JS, '  assert', '  /* a */ return; /* b */\n  assert') },
  ],
  ['JavaScript', 'a default argument', { 'test/a.test.js': swap(JS, '() =>', '(t, sum = () => 3) =>') }],
  ['JavaScript', 'another function of the same name', { 'test/a.test.js': [JS, `${JS}function test() {}\n`] }],
  [
    'Python',
    'a return behind a text',
    {
      'tests/test_a.py': swap(PY, '        self', '        """\n        *\n        """\n        return\n        self'),
    },
  ],
  ['Python', 'a metaclass', { 'tests/test_a.py': swap(PY, 'TestCase)', 'TestCase, metaclass=Quiet)') }],
  ['Python', 'a case that is deleted again', { 'tests/test_a.py': [PY, `${PY}\n    del test_total\n`] }],
  ['shell', 'an early end', { 'tests/a.sh': swap(SH, '[ "', 'exit 0\n[ "') }],
  [
    'shell',
    'a text around the check',
    { 'tests/a.sh': swap(SH, '[ "$(total 1 2)" = 3 ] || exit 1', ": '[ ] || exit 1'") },
  ],
  ['shell', 'a result that nobody sees', { 'tests/a.sh': swap(SH, '|| exit 1', '|| :') }],
  ['C', 'an early end', { 'tests/a_test.c': swap(C, '  test_total();', '  if (1) return 0;\n  test_total();') }],
  ['C', 'a condition of the compiler', { 'tests/a_test.c': swap(C, '  assert', '#if 0\n  assert') }],
  ['C', 'a macro before the test', { 'tests/a_test.c': swap(C, 'static', '#define total(a, b) 3\nstatic') }],
  ['Rust', 'an attribute', { 'tests/a.rs': swap(RUST, '#[test]', '#[test]\n#[ignore]') }],
  [
    'Rust',
    'a macro before the test',
    { 'tests/a.rs': swap(RUST, '#[test]', 'macro_rules! assert_eq { ($($t:tt)*) => {} }\n\n#[test]') },
  ],
  ['Rust', 'an early end', { 'tests/a.rs': swap(RUST, '    assert', '    return;\n    assert') }],
];

const moved = (from: string, to: string, text: string): Change => ({ [from]: [text, null], [to]: [null, text] });
const NOT_FOUND: Case[] = [
  ['JavaScript', 'another ending', moved('test/a.test.js', 'test/a.test.mts', JS)],
  ['JavaScript', 'a name like a helper', moved('test/a.test.js', 'test/a.tests-old.js', JS)],
  ['JavaScript', 'another folder', moved('test/a.test.js', 'docs/a.test.js', JS)],
  ['Python', 'a letter that looks the same', moved('tests/test_a.py', 'tests/tеst_a.py', PY)],
  ['Python', 'a folder without a package', moved('tests/test_a.py', 'tests/more/test_a.py', PY)],
  ['Python', 'an ending that nobody imports', moved('tests/test_a.py', 'tests/test_a.pyw', PY)],
  ['shell', 'a dash', moved('tests/a_test.sh', 'tests/a-test.sh', SH)],
  ['shell', 'a mode', { 'tests/a_test.sh': [SH, SH, '100755'] }],
  ['shell', 'another ending', moved('tests/a_test.sh', 'tests/a_test.bash', SH)],
  ['C', 'another ending', moved('tests/a_test.c', 'tests/a_test.inc', C)],
  ['C', 'another folder', moved('tests/a_test.c', 'docs/a_test.c', C)],
  ['C', 'a deletion', { 'tests/a_test.c': [C, null] }],
  ['Rust', 'a folder below', moved('tests/a.rs', 'tests/more/a.rs', RUST)],
  [
    'Rust',
    'a manifest without tests',
    { 'Cargo.toml': swap('[package]\nname = "a"\n', 'name', 'autotests = false\nname') },
  ],
  ['Rust', 'a deletion', { 'tests/a.rs': [RUST, null] }],
];

/** What the gate was seen to read on the target; it looks for the other files in vain. */
const READ = [
  'test/cases.json',
  'tests/cases.txt',
  'ci/lib.sh',
  'tests/check.h',
  'build.mk',
  'data/limits.rs',
  'sums.py',
];
const LOOKED_FOR = [
  'package/index.js',
  'sums/__init__.py',
  'include/assert.h',
  'ci/local.sh',
  '.cargo/config.toml',
  '.envrc',
];
const READS: Case[] = [
  ['JavaScript', 'cases', { 'test/cases.json': ['[1]', '[]'] }],
  ['JavaScript', 'a mock', { 'src/__mocks__/sum.js': [null, 'export const sum = () => 3;\n'] }],
  ['JavaScript', 'a file that is looked for', { 'package/index.js': [null, ''] }],
  ['Python', 'cases', { 'tests/cases.txt': ['1', ''] }],
  ['Python', 'a package before a module', { 'sums/__init__.py': [null, ''] }],
  ['Python', 'set-up of the tests', { 'conftest.py': [null, ''] }],
  ['shell', 'a sourced file', { 'ci/lib.sh': ['a', 'exit 0'] }],
  ['shell', 'a file that is looked for', { 'ci/local.sh': [null, 'set +e'] }],
  ['shell', 'line endings', { '.gitattributes': [null, '*.sh eol=crlf'] }],
  ['C', 'a header of the tests', { 'tests/check.h': ['a', '#define CHECK(x)'] }],
  ['C', 'a header before that of the system', { 'include/assert.h': [null, '#define assert(x)'] }],
  ['C', 'an included makefile', { 'build.mk': ['CFLAGS=', 'CFLAGS=-DNDEBUG'] }],
  ['Rust', 'settings of the compiler', { '.cargo/config.toml': [null, '[build]'] }],
  ['Rust', 'an included file', { 'data/limits.rs': ['1', '2'] }],
  ['Rust', 'a build script', { 'build.rs': [null, 'fn main() {}'] }],
];

const none: ReadonlySet<string> = new Set();
const reads: GateReads = {
  ...{ gate: 'test', seen: none, folders: none, watched: none },
  ...{ files: new Set(READ), missing: new Set(LOOKED_FOR) },
};
const version = (text: string | null, mode = '100644') =>
  text === null ? null : { oid: `oid of ${text}`, mode, text };
const changedIn = (change: Change): ChangedFile[] =>
  Object.entries(change).map(([path, [before, after, mode]]) => ({
    path,
    before: version(before),
    after: version(after, mode),
  }));
const shown = (change: Change) =>
  decidingFiles({
    checks: [{ name: 'test', run: 'make test', proves: [] }],
    changed: changedIn(change),
    manifests: new Map(),
    reads: [reads],
    source: ['src/**', 'lib/**'],
  });

describe.each([
  ['a test that is switched off inside its file', OFF],
  ['a test that is no longer found', NOT_FOUND],
  ['what a gate reads besides the source', READS],
])('%s is shown', (_, cases) => {
  test.each(cases)('in %s: %s', (_language, _what, change) => {
    expect(shown(change).map(({ file }) => file)).toContain(Object.keys(change)[0]);
  });

  test('has at least three cases in each group of languages', () => {
    const count = (...languages: Language[]) => cases.filter(([language]) => languages.includes(language)).length;
    expect(Math.min(count('JavaScript'), count('Python'), count('shell'), count('C', 'Rust'))).toBeGreaterThanOrEqual(
      3,
    );
  });
});
