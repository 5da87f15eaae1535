import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppError } from '@tidemill/contract';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GuardVerdict } from '../ports.ts';
import { createGuards } from './guards.ts';

let root: string;
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tidemill-own-data-'));
  root = mkdtempSync(join(tmpdir(), 'tidemill-own-guards-'));
  mkdirSync(join(root, '.tidemill', 'guards'), { recursive: true });
});
afterEach(() => {
  for (const folder of [root, dataDir]) rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, text: string) => writeFileSync(join(root, '.tidemill', 'guards', name), text);

async function check(tool: string, input: Record<string, unknown>): Promise<GuardVerdict> {
  const guards = await createGuards({ root, dataDir });
  return guards.check({ tool, input }, { worktree: root, mode: 'implement' });
}
const bash = (command: string) => check('Bash', { command });

describe("a project's own guards", () => {
  test('deny by path, by command and by written text', async () => {
    put(
      'team.yaml',
      `- name: generated
  when: { path: 'src/generated/**', access: write }
  verdict: deny
  reason: '{path} is generated; change its source.'
- name: no-npm
  when: { command: '^npm (install|i|add)\\b' }
  verdict: deny
  reason: Dependencies are for a person to add.
- name: no-any
  tools: [Write, Edit, MultiEdit]
  when: { path: '**/*.ts', adds: ':\\s*any\\b' }
  verdict: deny
  reason: Name the type.
- name: small-files
  when: { access: write, bytesOver: 1000 }
  verdict: deny
  reason: Too large.
`,
    );
    const reason = 'src/generated/a.ts is generated; change its source.';
    expect(await check('Write', { file_path: 'src/generated/a.ts', content: '' })).toEqual({
      kind: 'deny',
      guard: 'generated',
      reason,
    });
    expect(await bash('touch src/generated/a.ts')).toMatchObject({ guard: 'generated', reason });
    expect(await bash('cd src && npm add left-pad')).toMatchObject({ guard: 'no-npm' });
    expect(await check('Edit', { file_path: 'a.ts', old_string: 'x', new_string: 'x: any' })).toMatchObject({
      guard: 'no-any',
    });
    expect(await check('Edit', { file_path: 'a.ts', old_string: 'y: any', new_string: 'x: any' })).toMatchObject({
      kind: 'allow',
    });
    expect(await check('Write', { file_path: 'a.txt', content: 'x'.repeat(1001) })).toMatchObject({
      guard: 'small-files',
    });
    expect(await bash('npm test')).toEqual({ kind: 'allow' });
  });

  test('rewrite, and return the whole input', async () => {
    put(
      'rewrite.yaml',
      `- name: quiet
  tools: Bash
  when: { command: '^npm test' }
  verdict: rewrite
  reason: The short report is enough.
  rewrite: { set: { timeout: 60000 }, replace: { field: command, pattern: 'npm test', with: 'npm test --silent' } }
- name: trick
  when: { command: '^make' }
  verdict: rewrite
  reason: x
  rewrite: { set: { command: 'git push --force' } }
`,
    );
    expect(await check('Bash', { command: 'npm test', description: 'Run tests' })).toEqual({
      kind: 'rewrite',
      guard: 'quiet',
      reason: 'The short report is enough.',
      input: { command: 'npm test --silent', description: 'Run tests', timeout: 60000 },
    });
    // A denial goes before, and what a rewrite makes is looked at too.
    expect(await bash('npm test > /tmp/x')).toMatchObject({ kind: 'deny', guard: 'worktree' });
    expect(await bash('make')).toMatchObject({ kind: 'deny', guard: 'force-push' });
  });

  test('override built-in guards, but not final ones', async () => {
    put(
      'allow.yaml',
      `- { name: scratch, when: { path: '/tmp/**' }, verdict: allow, reason: scratch files }
- { name: fixtures, when: { path: 'test/**/*.pem' }, verdict: allow, reason: made for tests }
- { name: everything, when: { path: '**' }, verdict: allow, reason: x }
`,
    );
    symlinkSync('/root', join(root, 'link'));
    expect(await bash('cat test/keys/a.pem')).toEqual({ kind: 'allow' });
    expect(await bash('echo x > .git/HEAD')).toMatchObject({ guard: 'untouchable' });
    expect(await check('Read', { file_path: join(dataDir, 'store.db') })).toMatchObject({ guard: 'store' });
  });

  test('deny a path to one command only', async () => {
    put('sed.yaml', "- { name: no-sed, when: { path: 'src/**', command: '^sed ' }, verdict: deny, reason: x }\n");
    expect(await bash('sed -i s/a/b/ src/a.ts')).toMatchObject({ guard: 'no-sed' });
    expect(await bash('sed -i s/a/b/ docs/a.md')).toEqual({ kind: 'allow' });
    expect(await bash('touch src/a.ts')).toEqual({ kind: 'allow' });
    expect(await check('Write', { file_path: 'src/a.ts', content: 'sed -i' })).toEqual({ kind: 'allow' });
  });

  test('are in YAML files only: what explains them is not read', async () => {
    put('README.md', '# Our guards\n\nEach says why.\n');
    put('own.yml', "- { name: no-make, when: { command: '^make' }, verdict: deny, reason: x }\n");
    expect(await bash('make')).toMatchObject({ guard: 'no-make' });
  });

  test('judge a link by its target', async () => {
    put('allow.yaml', `- { name: scratch, when: { path: '${root}/../scratch-*/**' }, verdict: allow, reason: x }\n`);
    symlinkSync('/root', join(root, 'link'));
    expect(await check('Read', { file_path: 'link/notes' })).toMatchObject({ guard: 'worktree' });
  });
});

describe('a file with a mistake', () => {
  test.each<[what: string, text: string, says: RegExp]>([
    ['no YAML', '- name: a\n  when: { path: [\n', /^\.tidemill\/guards\/bad\.yaml:\d+: /],
    ['no list', 'name: a\n', /bad\.yaml:1: the file must be a list/],
    [
      'an unknown key',
      '- name: a\n  when:\n    paths: x\n  verdict: deny\n  reason: r\n',
      /bad\.yaml:3: unknown key "paths".*"path"/,
    ],
    [
      'an unknown verdict',
      '- name: a\n  reason: r\n  verdict: block\n',
      /bad\.yaml:3: \[0\]\.verdict must be one of deny, ask, rewrite, allow/,
    ],
    ['no reason', '- name: a\n  verdict: deny\n', /bad\.yaml:1: \[0\]\.reason is missing/],
    [
      'a bad pattern',
      '- name: a\n  verdict: deny\n  reason: r\n  when:\n    command: "(a"\n',
      /bad\.yaml:5: .*regular expression/,
    ],
    [
      'a rewrite without what',
      '- name: a\n  reason: r\n  verdict: rewrite\n',
      /bad\.yaml:1: .*rewrite.*goes with verdict: rewrite/,
    ],
    [
      'finality',
      '- name: a\n  reason: r\n  verdict: deny\n  final: true\n',
      /bad\.yaml:4: .*only built-in guards can be final/,
    ],
    ['a name twice', '- &a { name: a, reason: r, verdict: deny }\n- *a\n', /two guards are named "a"/],
  ])('is named with its line: %s', async (_what, text, says) => {
    put('bad.yaml', text);
    const error = await createGuards({ root, dataDir: root }).catch((caught: AppError) => caught);
    expect(error).toMatchObject({ code: 'bad_config', message: expect.stringMatching(says) });
  });
});

describe('a call that cannot be decided is denied', () => {
  test('for a pattern that would run forever', async () => {
    put('slow.yaml', `- { name: slow, when: { command: '^(a+)+$' }, verdict: deny, reason: r }\n`);
    const verdict = await bash(`${'a'.repeat(50)}b`);
    expect(verdict).toMatchObject({ kind: 'deny', reason: expect.stringContaining('took too long') });
    expect(await bash('ls')).toEqual({ kind: 'allow' });
  });

  test('for an input that throws when it is read', async () => {
    const input = {
      get command(): string {
        throw new Error('trap');
      },
    };
    expect(await check('Bash', input)).toMatchObject({
      kind: 'deny',
      guard: 'guards',
      reason: expect.stringContaining('trap'),
    });
  });

  test('for a cycle of links, and for shell code nested too deeply', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(await check('Write', { file_path: 'a', content: '' })).toMatchObject({ kind: 'deny', guard: 'guards' });
    expect(await bash(`${'$(echo '.repeat(40)}x${')'.repeat(40)}`)).toMatchObject({ kind: 'deny', guard: 'guards' });
  });
});

describe('the verdict of the guards on random input', () => {
  /** Ways to say the same thing in shell. */
  const disguise: ((command: string) => string)[] = [
    (command) => `sh -c ${quoted(command)}`,
    (command) => `bash -lc ${quoted(command)}`,
    (command) => `eval ${quoted(command)}`,
    (command) => `env A=1 bash -c ${quoted(command)}`,
    (command) => `( ${command})`,
    (command) => `{ ${command}; }`,
    (command) => `if true; then ${command}; fi`,
    // Without the space, a subshell would begin as arithmetic: $((
    (command) => `echo "$(${command.startsWith('(') ? ' ' : ''}${command})"`,
    (command) => `true && ${command} || true`,
    (command) => `for i in 1 2; do ${command}; done`,
    (command) => `${command} 2>/dev/null | cat`,
    (command) => `timeout 9 nice -n 3 sh -c ${quoted(command)}`,
    (command) => `cat <<'END${command.length}' | grep -c "it's"\nrm 'x\nEND${command.length}\n${command}`,
    (command) => `bash <<'TEXT${command.length}'\n${command}\nTEXT${command.length}\ntrue`,
  ];
  /** Two of them are arithmetic to some shells, so it may be refused. */
  const doubtful = (command: string) => `(${command})`;
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

  test('does not change with another spelling of a command', async () => {
    const guards = await createGuards({ root, dataDir });
    const layers = fc.array(fc.constantFrom(...disguise), { maxLength: 4 });
    const allLayers = fc.array(fc.constantFrom(...disguise, doubtful), { maxLength: 4 });
    const forbidden = fc.constantFrom(
      'rm -rf ../x',
      'git stash',
      'cat .env',
      'git push -f',
      'echo x > ../y',
      'touch .git/x',
    );
    const permitted = fc.constantFrom('ls', 'rm -rf dist', 'git status', 'cat a.ts', 'npm test', 'touch src/x');
    const kind = async (command: string, worn: typeof disguise) => {
      const input = { command: worn.reduce((inner, wear) => wear(inner), command) };
      return (await guards.check({ tool: 'Bash', input }, { worktree: root, mode: 'implement' })).kind;
    };
    await fc.assert(
      fc.asyncProperty(forbidden, allLayers, async (bad, worn) => (await kind(bad, worn)) === 'deny'),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(permitted, layers, async (good, worn) => (await kind(good, worn)) === 'allow'),
      { numRuns: 300 },
    );
  });

  test('exists for every input, in time', async () => {
    const guards = await createGuards({ root, dataDir });
    const piece = fc.constantFrom(
      ...'$ ( ) { } [ ] < > | & ; " \' ` \\ # * ? ~ = - . / a rm .env git << EOF\n \n'.split(' '),
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (command) => {
        const verdict = await guards.check({ tool: 'Bash', input: { command } }, { worktree: root, mode: 'implement' });
        expect(['allow', 'deny']).toContain(verdict.kind);
        if (verdict.kind === 'deny') expect(verdict.reason).not.toContain('too long');
      }),
      { numRuns: 400 },
    );
  });
});
