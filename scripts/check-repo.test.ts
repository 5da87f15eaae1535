import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkRepo, longSubjects } from './check-repo.ts';
import { importsOf } from './repo-tree.ts';

const MAIN = 'packages/daemon/src/main.ts';
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A small tree that follows every rule, plus these files; null leaves one out. */
function treeWith(changed: Record<string, string | null>): string {
  const root = mkdtempSync(join(tmpdir(), 'tidemill-check-'));
  folders.push(root);
  const files: Record<string, string | null> = {
    'AGENTS.md': 'Run npm test.\n',
    'packages/contract/src/index.ts': "import { z } from 'zod';\nexport const Task = z.object({});\n",
    'packages/core/src/index.ts': "import { Task } from '@tidemill/contract';\nexport const parse = Task.parse;\n",
    'packages/daemon/src/ports.ts': 'export interface Store { close(): void }\n',
    [MAIN]: "import './ports.ts';\nimport '@tidemill/core';\n",
    ...changed,
  };
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function check(changed: Record<string, string | null>): { ok: boolean; output: string } {
  const { ok, lines } = checkRepo(treeWith(changed));
  return { ok, output: lines.join('\n') };
}

/** In two pieces, so that this file follows the rule that it tests. */
const CRITERION = ['AC', '1.2.a'].join('-');
const lines = (count: number) => 'const x = 1;\n'.repeat(count);

const MAP = 'test/requirements.yaml';
const OPENS = { proofs: [{ file: 'test/e2e/a.test.ts', test: 'opens' }] };
/** JSON is YAML. */
const map = (...criteria: object[]) =>
  JSON.stringify([
    {
      section: 'A',
      criteria: criteria.map((each, index) => ({ id: `R-${index + 1}`, requirement: 'opens', ...each })),
    },
  ]);
const BENCH =
  "const SECTIONS = {\n  start: () => import('./start.ts'),\n  'hand-offs': () => import('./hand-offs.ts'),\n};";

describe('check-repo', () => {
  test('accepts a tree that keeps the rules', () => {
    expect(check({})).toMatchObject({ ok: true });
  });

  test('is a program that prints what is broken and ends with 1, or with 0 when nothing is', () => {
    const run = (root: string) =>
      spawnSync(process.execPath, [join(import.meta.dirname, 'check-repo.ts'), root], { encoding: 'utf8' });
    expect(run(treeWith({}))).toMatchObject({ status: 0, stdout: expect.stringContaining('0 broken rules') });
    const broken = run(treeWith({ 'docs/plan.md': '# Plan' }));
    expect(broken).toMatchObject({ status: 1, stdout: expect.stringContaining('plans belong to issues') });
  });

  test.each<[rule: string, files: Record<string, string>, says: string]>([
    ['core imports Node', { 'packages/core/src/index.ts': "import 'node:fs';" }, 'core may not import node:fs'],
    [
      'core imports the daemon',
      { 'packages/core/src/index.ts': "export * from '../../daemon/src/ports.ts';" },
      'core may not import ports',
    ],
    [
      'contract imports core',
      { 'packages/contract/src/index.ts': "import type { x } from '@tidemill/core';" },
      'contract may not import core',
    ],
    [
      'the page imports core',
      { 'packages/web/src/main.tsx': "import { decide } from '@tidemill/core';" },
      'web may not import core',
    ],
    [
      'an adapter imports another',
      {
        [MAIN]: "import './ports.ts';import '@tidemill/core';\nimport './store/a.ts';\nimport './gates/b.ts';",
        'packages/daemon/src/store/a.ts': "import { b } from '../gates/b.ts';",
        'packages/daemon/src/gates/b.ts': 'export const b = 1;',
      },
      'store may not import gates',
    ],
    [
      'the engine imports an adapter, by a dynamic import',
      {
        [MAIN]: "import './ports.ts';\nimport '@tidemill/core';\nimport './engine/turn.ts';",
        'packages/daemon/src/engine/turn.ts': "export const open = () => import('../store/a.ts');",
        'packages/daemon/src/store/a.ts': 'export const a = 1;',
      },
      'engine may not import store',
    ],
    [
      'a folder nobody placed',
      { [MAIN]: "import './ports.ts';\nimport './blob/a.ts';", 'packages/daemon/src/blob/a.ts': 'export const a = 1;' },
      '"blob" has no line in MAY_IMPORT',
    ],
    ['an import of nothing', { [MAIN]: "import './gone.ts';" }, 'imports ./gone.ts, which is not there'],
    [
      'a module only its test imports',
      {
        'packages/daemon/src/store/a.ts': 'export const a = 1;',
        'packages/daemon/src/store/a.test.ts': "import './a.ts';",
      },
      'packages/daemon/src/store/a.ts: no program imports it',
    ],
    ['the clock in core', { 'packages/core/src/index.ts': 'export const now = () => Date.now();' }, 'uses Date.now'],
    ['the network in core', { 'packages/core/src/index.ts': "export const x = fetch('/');" }, 'uses the network'],
    ['chance in core', { 'packages/core/src/index.ts': 'export const die = Math.random();' }, 'uses Math.random'],
    [
      'a timer in the engine',
      {
        [MAIN]: "import './ports.ts';\nimport '@tidemill/core';\nimport './engine/turn.ts';",
        'packages/daemon/src/engine/turn.ts': 'setTimeout(() => 1, 5);',
      },
      'uses a timer',
    ],
    [
      'one type in two files',
      { 'packages/daemon/src/ports.ts': 'export interface Task { id: string }' },
      'each exports its own "Task"',
    ],
    ['a file of 501 lines', { [MAIN]: `import './ports.ts';\n${lines(500)}` }, '501 lines'],
    ['a vague name', { 'scripts/string-utils.ts': '' }, 'says nothing'],
    ['a vague folder', { 'test/helpers/wait.ts': '' }, 'says nothing'],
    ['a second version', { 'scripts/pack-v2.ts': '' }, 'delete it'],
    ['a name that is not kebab-case', { 'scripts/packAll.ts': '' }, 'not kebab-case'],
    ['a plan', { 'docs/plan.md': '# Plan' }, 'plans belong to issues'],
    ['a long guide', { 'AGENTS.md': 'word '.repeat(501) }, '501 words'],
    [
      'a criterion id in a test title',
      { 'test/e2e/a.test.ts': `test('${CRITERION}: opens', () => 1);` },
      '"AC-1.2.a: opens" carries a criterion id',
    ],
    [
      'a criterion id in the title of a table',
      { 'test/e2e/a.test.ts': `test.each([1])(\n  '${CRITERION}: %i',\n  () => 1);` },
      'carries a criterion id',
    ],
    [
      'a requirement of a test file that does not exist',
      { [MAP]: map(OPENS) },
      'R-1 names test/e2e/a.test.ts, which does not exist',
    ],
    [
      'a requirement of a test title that does not exist',
      { [MAP]: map(OPENS), 'test/e2e/a.test.ts': "test('opens again', () => 1); // 'opens'" },
      'R-1 names the test "opens", which test/e2e/a.test.ts does not have',
    ],
    [
      'a requirement of a test title that only the product has',
      {
        [MAP]: map(OPENS),
        'test/e2e/a.test.ts': "import '../../packages/core/src/index.ts';",
        'packages/core/src/index.ts':
          "import { Task } from '@tidemill/contract';\nexport const x = Task.test('opens');",
      },
      'R-1 names the test "opens"',
    ],
    ['a requirement that names no test', { [MAP]: map({}) }, 'R-1 names no test'],
    [
      'a requirement that names a test and is not built',
      { [MAP]: map({ ...OPENS, notBuilt: true }), 'test/e2e/a.test.ts': "test('opens', () => 1);" },
      'R-1 names a test and is not built',
    ],
    [
      'a requirement that is there twice',
      { [MAP]: map({ notBuilt: true }, { notBuilt: true, id: 'R-1' }) },
      'R-1 is there twice',
    ],
    ['a requirement with an unknown field', { [MAP]: map({ notBuilt: true, tests: [] }) }, 'cannot be read'],
    ['requirements that are no YAML', { [MAP]: 'a: [' }, 'cannot be read'],
    [
      'a time limit that no section of the bench measures',
      { [MAP]: map({ notBuilt: true, limit: { seconds: 2, bench: 'gone' } }), 'bench/run.ts': BENCH },
      'R-1 names the section "gone", which bench/run.ts does not have',
    ],
    [
      'skipIf of a suite',
      { 'test/e2e/a.test.ts': "\ndescribe\n  .skipIf(x)('opens', () => 1);" },
      'a.test.ts:2: "skipIf" takes no reason',
    ],
    ['runIf of a table', { 'test/e2e/a.test.ts': "test.concurrent.runIf(x).each([1])('opens', () => 1);" }, '"runIf"'],
    ['a skipped suite', { 'test/contract/a-suite.ts': 'export const here = x ? describe : describe.skip;' }, '"skip"'],
    ['a test to be written', { 'packages/core/src/a.test.ts': "it.todo('opens');" }, '"todo" takes no reason'],
    ['a test that hides the others', { 'test/e2e/a.test.ts': "test.only('opens', () => 1);" }, '"only"'],
    ['a test that an option skips', { 'test/e2e/a.test.ts': "test('opens', { skip: true }, () => 1);" }, '"skip"'],
    ['a skip of a variable', { 'test/e2e/a.test.ts': 'if (!here) context.skip(isGone);' }, 'a skip has no reason'],
    ['a skip without a reason', { 'test/e2e/a.test.ts': 'beforeEach(({ skip }) => skip(!here));' }, 'has no reason'],
    [
      'a skip with an empty reason',
      { 'test/e2e/a.test.ts': "test('opens', (context) => context.skip(no(1, 2), ''));" },
      'a.test.ts:1: a skip has no reason',
    ],
    ['a test file that no tier looks for', { 'test/support/a.test.ts': '' }, 'test/support/a.test.ts: no command runs'],
    [
      'a test file of scripts in a deeper folder',
      { 'scripts/deep/a.test.ts': '' },
      'scripts/deep/a.test.ts: no command',
    ],
    [
      'a test file with an ending that no tier has',
      { 'packages/web/src/a.test.tsx': '' },
      'a.test.tsx: no command runs',
    ],
  ])('refuses a tree with the fault: %s', (_rule, files, says) => {
    const { ok, output } = check(files);
    expect(output).toContain(says);
    expect(ok).toBe(false);
  });

  test('accepts requirements whose tests exist, or that are not built yet', () => {
    const proofs = ['opens %s', 'the door', 'closes'].map((title) => ({ file: 'test/e2e/a.test.ts', test: title }));
    const files = {
      [MAP]: map({ proofs, limit: { seconds: 2, bench: 'hand-offs' } }, { notBuilt: true, note: 'Later.' }),
      'bench/run.ts': BENCH,
      'bench/start.ts': '',
      'bench/hand-offs.ts': '',
      'test/e2e/a.test.ts':
        "import './a-suite.ts';\ndescribe('the door', () => test.each(['x'])('opens %s', () => 1));",
      'test/e2e/a-suite.ts': "export const suite = () => test('closes', () => 1);",
    };
    expect(check(files)).toMatchObject({ ok: true });
  });

  test('accepts a skip with a reason, and the word in text', () => {
    const files = {
      'test/e2e/a.test.ts': [
        "beforeEach(({ skip }) => skip(!has(1, ')'), missing ?? ''));",
        "test('closes', ({ skip }) => door ?? skip('there is no door'));",
        "test('opens', (context) => context.skip(isSmall, `a disk (small`));",
        "const text = /['`]/; // test.skip(x)",
        "expect(text).toBe('test.only(1)');",
      ].join('\n'),
      'packages/core/src/index.ts': "import { Task } from '@tidemill/contract';\nexport const skip = Task.skip(1);",
    };
    expect(check(files)).toMatchObject({ ok: true });
  });

  test('warns of a file that grows too long', () => {
    const { ok, output } = check({ [MAIN]: `import './ports.ts';\nimport '@tidemill/core';\n${lines(310)}` });
    expect(output).toContain(`warning: ${MAIN}: 312 lines`);
    expect(ok).toBe(true);
    const without = check({ [MAIN]: null });
    expect(without.output).toContain(`warning: ${MAIN}: does not exist`);
    expect(without.ok).toBe(true);
  });

  test('is not misled by comments and strings', () => {
    const core = `import '@tidemill/contract';\n// Date.now and Math.random are forbidden here\nexport const text = "Date.now()"; /* setTimeout */`;
    expect(check({ 'packages/core/src/index.ts': core })).toMatchObject({ ok: true });
  });
});

test('importsOf finds every way to name a module', () => {
  const text = `
    import a from './a.ts';
    import type { B } from './b.ts';
    import {
      c,
      type D,
    } from './c.ts';
    import './e.ts';
    export * from './f.ts';
    export { g } from "./g.ts";
    // import './comment.ts';
    const h = await import('./h.ts');
    const worker = new URL('./i.ts', import.meta.url);
    const text = 'x'; // it's fine
  `;
  expect(importsOf(text).sort()).toEqual('abcefghi'.split('').map((name) => `./${name}.ts`));
});

test('a new commit whose subject has more than 72 characters is named', () => {
  const root = treeWith({});
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b.invalid', ...args]);
  const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject);
  git('init', '-q');
  commit(`Add ${'x'.repeat(68)}`);
  expect(longSubjects(root)).toEqual([]);
  commit(`Add ${'y'.repeat(69)}`);
  expect(longSubjects(root)).toEqual([expect.stringMatching(/^\w+ Add y{69}$/)]);
});
