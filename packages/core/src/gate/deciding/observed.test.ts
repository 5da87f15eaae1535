import { describe, expect, test } from 'vitest';
import type { ChangedFile } from './changed-file.ts';
import { decidingFiles } from './deciding.ts';
import type { GateReads } from './observed.ts';

const fact = (text: string, mode = '100644') => ({ oid: `oid of ${text}`, mode, text });
const change = (path: string, before: string | null, after: string | null, mode = '100644'): ChangedFile => ({
  path,
  before: before === null ? null : fact(before),
  after: after === null ? null : fact(after, mode),
});
const reads = (more: Partial<Record<Exclude<keyof GateReads, 'gate' | 'of'>, string[]>>): GateReads => ({
  gate: 'test',
  files: new Set(more.files),
  seen: new Set(more.seen),
  folders: new Set(more.folders),
  missing: new Set(more.missing),
  watched: new Set(more.watched),
});
const checks = [{ name: 'test', run: 'true', proves: [] }];
const why = (file: ChangedFile, seen: GateReads, source = ['src/**']) =>
  decidingFiles({ checks, changed: [file], manifests: new Map(), reads: [seen], source })[0]?.why ?? null;
const TEST = "test('a', () => {\n  expect(1).toBe(f());\n});\n";

describe('a changed file that a gate was seen to use', () => {
  test.each<[string, ChangedFile, GateReads, string | null]>([
    ['data with cases', change('cases.txt', 'a', 'b'), reads({ files: ['cases.txt'] }), 'gate test reads it'],
    ['a sourced file', change('env.inc', 'a', 'b'), reads({ files: ['env.inc'] }), 'gate test reads it'],
    ['what prepare reads', change('a.list', 'a', 'b'), { ...reads({ files: ['a.list'] }), of: 'prepare' }, 'a step of'],
    ['product source', change('src/a.json', 'a', 'b'), reads({ files: ['src/a.json'] }), null],
    ['not read', change('notes.txt', 'a', 'b'), reads({ files: ['cases.txt'] }), null],
    ['only looked at', change('README.md', 'a', 'b'), reads({ seen: ['README.md'] }), null],
    ['looked at, deleted', change('flag', 'a', null), reads({ seen: ['flag'] }), 'is deleted, and gate test reads it'],
    ['its mode', change('run', 'a', 'a', '100755'), reads({ seen: ['run'] }), 'gets another mode'],
    ['a listed test made unrunnable', change('t/a.t', 'a', 'a', '100755'), reads({ folders: ['t'] }), 'another mode'],
    ['a test made a link', change('a.test.js', TEST, TEST, '120000'), reads({ files: ['a.test.js'] }), 'another mode'],
    ['a flag', change('skip-tests', null, ''), reads({ missing: ['skip-tests'] }), 'gate test looks for it'],
    ['a folder', change('hooks/a', null, ''), reads({ missing: ['hooks'] }), 'gate test looks for its folder'],
    ['a shadow', change('difflib.py', null, 'x'), reads({ files: ['difflib.py'] }), 'gate test reads it'],
    ['a shadow, unproven', change('difflib.py', null, 'x'), reads({ folders: [''] }), 'gate test lists its folder'],
    ['found, not read', change('a.py', null, 'x'), reads({ folders: [''], watched: ['a.py'] }), null],
    ['a new test', change('test/b.test.js', null, TEST), reads({ files: ['test/b.test.js'], folders: ['test'] }), null],
    ['a new document', change('docs/a.md', null, '# a'), reads({ folders: ['docs'] }), null],
    ['a document with tests', change('README.md', 'a', 'b'), reads({ files: ['README.md'] }), 'gate test reads it'],
    [
      'a document that a formatter reads',
      change('README.md', 'a', 'b'),
      reads({ files: ['README.md', 'a.md', 'b.md', 'c.md', 'd.md', 'e.md'] }),
      null,
    ],
    ['more cases', change('a.test.js', TEST, `${TEST}${TEST}`), reads({ files: ['a.test.js'] }), null],
    [
      'a version',
      change('package.json', '{"version":"1"}', '{"version":"2"}'),
      reads({ files: ['package.json'] }),
      null,
    ],
    [
      'product source instead of nothing',
      change('src/a.py', null, 'x'),
      reads({ missing: ['src/a.py'] }),
      'looks for it',
    ],
    [
      'compiled code in place of the source',
      { path: 'src/__pycache__/a.pyc', before: null, after: { oid: 'a', mode: '100644', text: null } },
      reads({ files: ['src/a.py', 'src/__pycache__/a.pyc'] }),
      'it is compiled',
    ],
    [
      'a package before a module',
      change('src/a/__init__.py', null, 'x'),
      reads({ files: ['src/a.py'] }),
      'finds it before src/a.py',
    ],
    [
      'a test before a library',
      change('tests/json.py', null, TEST),
      reads({ missing: ['tests/json.py'] }),
      'looks for',
    ],
    [
      'what source folders hide',
      change('src/.gitignore', null, 'a.js'),
      reads({ files: ['src/.gitignore'] }),
      'reads it',
    ],
    [
      'a program named like a document',
      change('ci/license_check.py', 'a', 'b'),
      reads({ files: ['ci/license_check.py', '1.md', '2.md', '3.md', '4.md', '5.md', '6.md'] }),
      'gate test reads it',
    ],
    ['line endings', change('.gitattributes', null, '*.sh eol=crlf'), reads({}), 'changes how files are checked out'],
  ])('%s', (_name, file, seen, expected) => {
    if (expected === null) expect(why(file, seen)).toBeNull();
    else expect(why(file, seen)).toContain(expected);
  });

  test('is none when a module becomes a package', () => {
    const changed = [change('src/a.py', 'x', null), change('src/a/__init__.py', null, 'x')];
    const found = decidingFiles({
      ...{ checks, changed, manifests: new Map(), source: ['src/**'] },
      reads: [reads({ files: ['src/a.py'] })],
    });
    expect(found).toEqual([]);
  });

  test('is reported by the lists alone where nothing was observed', () => {
    const changed = [change('cases.txt', 'a', 'b'), change('.npmrc', 'a', 'b')];
    expect(decidingFiles({ checks, changed, manifests: new Map() }).map(({ file }) => file)).toEqual(['.npmrc']);
  });
});

test.each([
  ['test/sum.test.js', 'test/xsum.test.js'],
  ['tests/test_sum.py', 'tests/test_xsum.py'],
  ['tests/sum_test.go', 'tests/xsum_test.go'],
])('a test that is renamed decides unless a gate read it under its new name (%s)', (from, to) => {
  const changed = [change(from, TEST, null), change(to, null, TEST)];
  const found = (files: string[]) =>
    decidingFiles({ checks, changed, manifests: new Map(), reads: [reads({ files, watched: [to] })] });
  expect(found([from])).toMatchObject([
    { file: from, why: 'is renamed, and gate test reads it only under the old name' },
  ]);
  expect(found([from, to])).toEqual([]);
});
