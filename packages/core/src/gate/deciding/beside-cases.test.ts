import { describe, expect, test } from 'vitest';
import { testChangeWhys } from './test-change.ts';

const CHAIN = "var assert = require('assert')\n  , express = require('../')\n  , request = require('supertest');\n";
const REQUEST = (name: string) =>
  `it('${name}', function (done) {\n  request(express()).get('/').set('Host', 'x').expect(200, done);\n});\n`;

describe('what stands beside new cases', () => {
  test('a case beside several modules in one statement', () => {
    const old = `${CHAIN}${REQUEST('a')}`;
    expect(testChangeWhys('test/a.js', old, `${old}${REQUEST('b')}`)).toEqual([]);
    const wider = old.replace('  , request', "  , fs = require('fs')\n  , request");
    expect(testChangeWhys('test/a.js', old, wider)).toEqual([]);
    const free = old.replaceAll('(done)', '()');
    for (const [from, to] of [
      ["require('supertest')", "require('./quiet')"],
      ['  , request', '  , quiet = run()\n  , request'],
      ['  , request', "  , done = require('./quiet')\n  , request"],
    ] as const)
      expect(testChangeWhys('test/a.js', free, free.replace(from, to))).not.toEqual([]);
    const patched = `${old}it('b', function () {\n  request.get = express;\n});\n`;
    expect(testChangeWhys('test/a.js', old, patched)).not.toEqual([]);
  });

  test('one import of Go becomes several', () => {
    const old = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\ta(t)\n}\n';
    const to = (imports: string) => old.replace('"testing"', `(\n${imports}\n)`);
    expect(testChangeWhys('a_test.go', old, to('\t"strings"\n\t"testing"'))).toEqual([]);
    for (const imports of ['\t"strings"', '\t. "quiet"\n\t"testing"', '\ttesting "quiet"', '\ta "quiet"\n\t"testing"'])
      expect(testChangeWhys('a_test.go', old, to(imports))).not.toEqual([]);
  });

  test('an import whose name stands in the text of a string, but not in its code', () => {
    const old = 'import re\n\n\ndef test_a(name):\n    assert f"{name}.json" in read(name)\n';
    expect(testChangeWhys('tests/test_a.py', old, `import json\n${old}`)).toEqual([]);
    const used = old.replace('{name}', '{json}');
    expect(testChangeWhys('tests/test_a.py', used, `import json\n${used}`)).not.toEqual([]);
  });

  test('a name of Python with a text below it that describes it', () => {
    const old = 'import re\n\n\ndef test_a():\n    assert re\n';
    const put = (text: string) => old.replace('re\n', `re\n\nREPEAT = object()\n${text}\n`);
    expect(testChangeWhys('tests/test_a.py', old, put('"""Is repeated."""'))).toEqual([]);
    for (const text of ['f"""{quiet()}"""', '"""a""" + quiet()', '"""a""".quiet()'])
      expect(testChangeWhys('tests/test_a.py', old, put(text))).not.toEqual([]);
  });

  test('what runs in a condition for the type checker', () => {
    const old = 'import re\n\n\ndef test_a():\n    assert re\n';
    for (const block of [
      'if TYPE_CHECKING or quiet():\n    import os',
      'if TYPE_CHECKING:\n    import os\n    quiet()',
      'if TYPE_CHECKING:\n    import os\nelse:\n    quiet()',
      'if TYPE_CHECKING:\n    import quiet as re',
    ])
      expect(testChangeWhys('tests/test_a.py', old, `${block}\n${old}`)).not.toEqual([]);
  });
});
