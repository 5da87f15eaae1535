import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GateConfig } from '@tidemill/contract';
import { type ChangedFile, decidingFiles } from '@tidemill/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observingStatus } from '../process/observe.ts';
import { createGates } from './gates.ts';

const status = await observingStatus();
const has = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const FILES: Record<string, string> = {
  'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  'checks.mjs':
    "import { readFileSync, existsSync } from 'node:fs';\nimport { sum } from './src/sum.js';\nimport './assertions.mjs';\nif (existsSync('quick.flag')) process.exit(0);\nfor (const [a, b, c] of JSON.parse(readFileSync('cases.json', 'utf8'))) if (sum(a, b) !== c) process.exit(1);\n",
  'assertions.mjs': 'export {};\n',
  'cases.json': '[[1, 2, 3]]\n',
  'src/sums.py': 'def add(a, b):\n    return a + b\n',
  'verify.py':
    "import sys\nsys.path.insert(0, 'src')\nimport difflib, helpers.shared, sums\nfor line in open('cases.csv'):\n    a, b, c = map(int, line.split(','))\n    assert sums.add(a, b) == c\n",
  'helpers/shared.py': 'STRICT = True\n',
  'cases.csv': '1,2,3\n',
  'verify.sh': '. ./common.inc\n[ -e .skip ] && exit 0\nfor each in parts/*; do sh "$each" || exit 1; done\n',
  'common.inc': 'A=1\n',
  'parts/10-a': 'grep -q a src/sum.js\n',
  'src/sum.c': 'int add(int a, int b) { return a + b; }\n',
  'check.c': '#include "checks.h"\nint add(int, int);\nint main(void) { CHECK(add(1, 2) == 3); return 0; }\n',
  'checks.h': '#define CHECK(x) do { if (!(x)) return 1; } while (0)\n',
  'build.mk': 'check:\n\tcc -I. -o /tmp/check-sum check.c src/sum.c && /tmp/check-sum\n-include local.mk\n',
  'README.md': '# Sums\n',
  'notes.txt': 'nobody reads this\n',
};
const GATES = [
  { name: 'js', run: 'node checks.mjs' },
  { name: 'py', run: 'python3 -B verify.py' },
  { name: 'sh', run: 'sh verify.sh' },
  { name: 'c', run: 'make -f build.mk check' },
];
/** The commands themselves are named; here only what they read counts. */
const UNNAMED = GATES.map(({ name }) => ({ name, run: 'true', proves: [] }));

type Deed = Record<string, string | null>;
const CASES: [gate: string, name: string, deed: Deed, file: string][] = [
  ['js', 'data with the cases', { 'cases.json': '[]\n' }, 'cases.json'],
  ['js', 'a module that checks import', { 'assertions.mjs': 'process.exitCode = 0;\n' }, 'assertions.mjs'],
  ['js', 'a flag file that is looked for', { 'quick.flag': '' }, 'quick.flag'],
  ['py', 'data with the cases', { 'cases.csv': '' }, 'cases.csv'],
  ['py', 'a file that shadows the standard library', { 'difflib.py': 'x = 1\n' }, 'difflib.py'],
  ['py', 'a shared helper', { 'helpers/shared.py': 'STRICT = False\n' }, 'helpers/shared.py'],
  ['py', 'a package that replaces a folder', { 'helpers/__init__.py': 'x = 1\n' }, 'helpers/__init__.py'],
  ['sh', 'a sourced file', { 'common.inc': 'exit 0\n' }, 'common.inc'],
  ['sh', 'a flag file that is looked for', { '.skip': '' }, '.skip'],
  ['sh', 'a part of a listed folder', { 'parts/10-a': 'true\n' }, 'parts/10-a'],
  ['sh', 'a new part of a listed folder', { 'parts/00-b': 'kill $PPID\n' }, 'parts/00-b'],
  ['c', 'a header with the checks', { 'checks.h': '#define CHECK(x) (void)(x)\n' }, 'checks.h'],
  ['c', 'an included makefile', { 'local.mk': 'check:\n\ttrue\n' }, 'local.mk'],
  ['c', 'a header that is looked for first', { 'stdc-predef.h': '#define CHECK_OFF 1\n' }, 'stdc-predef.h'],
];
const HONEST: [name: string, deed: Deed][] = [
  ['product source', { 'src/sum.js': 'export const sum = (a, b) => b + a;\n', 'src/more.py': 'x = 1\n' }],
  ['a document', { 'README.md': '# Sum\n', 'docs/a.md': '# a\n' }],
  ['a file that nobody reads', { 'notes.txt': 'still\n' }],
  ['a new test', { 'test/b.test.js': "test('b', () => {});\n" }],
];

let home: string;
let root: string;
const put = async (files: Deed) => {
  for (const [name, text] of Object.entries(files)) {
    if (text === null) await rm(join(root, name));
    else {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
      await chmod(join(root, name), 0o644);
    }
  }
};
const fact = (text: string | null | undefined) =>
  text === null || text === undefined ? null : { oid: text, mode: '100644', text };

/** Everything from the data folder is read again, as after a restart. */
const gatesNow = () =>
  createGates({
    config: GATES.map((gate) => GateConfig.parse(gate)),
    hashes: Object.fromEntries(GATES.map(({ name }) => [name, `hash${name}`])),
    host: { root: home, dataDir: join(home, 'data'), homeId: 'observed-gates', sandbox: 'auto' },
    logDir: join(home, 'logs'),
    readsDir: join(home, 'reads'),
  });

async function decided(deed: Deed, only: string[] | null) {
  const { signal } = new AbortController();
  await put(deed);
  const files = Object.keys(deed);
  if (only) await gatesNow().run({ path: root, tree: 'candidate', files, only, signal });
  await put(Object.fromEntries(files.map((name) => [name, FILES[name] ?? null])));
  const changed = files.map((path): ChangedFile => ({ path, before: fact(FILES[path]), after: fact(deed[path]) }));
  const reads = await gatesNow().reads!();
  return decidingFiles({ checks: UNNAMED, changed, manifests: new Map(), reads, source: ['src/**'] });
}

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'tm-observed-')));
  root = join(home, 'checkout');
  await mkdir(root);
  await mkdir(join(home, 'logs'));
  await put(FILES);
  const { signal } = new AbortController();
  const gates = gatesNow();
  expect(await gates.unobserved!()).toEqual(GATES.map(({ name }) => name));
  const reports = await gates.run({ path: root, tree: 'target', files: null, observe: true, signal });
  for (const { receipt, excerpt } of reports)
    if (receipt.gate !== 'c' || has('cc')) expect(`${receipt.gate} ${receipt.status} ${excerpt}`).toContain('pass');
  expect(await gatesNow().unobserved!()).toEqual([]);
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('a file that a gate reads decides, whatever its name', () => {
  test.for(CASES)('%s: %s', async ([gate, , deed, file], context) => {
    context.skip(!status.traces, status.why);
    context.skip(gate === 'c' && !has('cc'), 'there is no C compiler');
    const [found, ...others] = await decided(deed, [gate]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ file, why: expect.stringContaining(`gate ${gate} `) });
  });

  test.each(HONEST)('other changes do not: %s', async (_name, deed) => {
    expect(await decided(deed, ['js', 'py', 'sh'])).toEqual([]);
  });
});
