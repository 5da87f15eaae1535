import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guards, GuardVerdict } from '../ports.ts';
import { createGuards } from './guards.ts';

// What is found by going through everything, what the environment holds, and where a shell stands.

let folder: string;
let worktree: string;
let guards: Guards;

function write(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-searches-')));
  worktree = join(folder, 'data', 'projects', 'p', 'worktrees', '7');
  write(worktree, {
    '.git': 'gitdir: elsewhere\n',
    '.env': 'KEY=1\n',
    'src/a.ts': 'export {};\n',
    'config/server.pem': 'x',
    main: '',
  });
  guards = await createGuards({ root: join(folder, 'no-project'), dataDir: join(folder, 'data') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const check = (tool: string, input: Record<string, unknown>): Promise<GuardVerdict> =>
  guards.check({ tool, input }, { worktree, mode: 'implement' });
const named = (verdict: GuardVerdict) => (verdict.kind === 'deny' ? verdict.guard : verdict.kind);

test.each<[command: string, guard: string]>([
  ['find . -name ".e*" -exec cat {} +', 'secrets'],
  ['find . -type f ! -name "*.ts" | xargs cat', 'secrets'],
  ['find . -path "./.e*" -exec cat {} +', 'secrets'],
  ['rg -uu KEY', 'secrets'],
  ['rg KEY', 'secrets'],
  ["rg -g '.env' --hidden KEY", 'secrets'],
  ["rg --glob='*.pem' x", 'secrets'],
  ["rg -g '[.]env' --hidden KEY", 'secrets'],
  ['rg --files --hidden . | xargs cat', 'secrets'],
  ["grep -rn KEY --include='.e*' .", 'secrets'],
  ['grep -rn -e KEY .', 'secrets'],
  ['grep -f .env src/a.ts', 'secrets'],
  ['git grep KEY', 'secrets'],
  ["git grep KEY -- '*.pem'", 'secrets'],
  ['git ls-files | xargs cat', 'secrets'],
  ['git ls-files | xargs grep KEY', 'secrets'],
  ['env -S "cat .env"', 'secrets'],
  // What is in the environment.
  ['env', 'environment'],
  ['env | grep KEY', 'environment'],
  ['/usr/bin/env -0', 'environment'],
  ['printenv', 'environment'],
  ['printenv OPENAI_API_KEY', 'environment'],
  ['set', 'environment'],
  ['set | sort', 'environment'],
  ['export -p', 'environment'],
  ['export', 'environment'],
  ['declare -px', 'environment'],
  ['bash -c "env"', 'environment'],
  ['echo $ANTHROPIC_API_KEY', 'environment'],
  ['echo "$' + '{GITHUB_TOKEN:0:4}"', 'environment'],
  ['printf "%s" "$DB_PASSWORD" > x.txt', 'environment'],
  ['base64 <<< "$AWS_SECRET_ACCESS_KEY"', 'environment'],
  ['node -p process.env', 'environment'],
  ['node -e "console.log(process.env)"', 'environment'],
  ["node -e 'console.log(process.env.OPENAI_API_KEY)'", 'environment'],
  ["python3 -c 'import os; print(os.environ)'", 'environment'],
  ['ps eww', 'environment'],
  ['cat /proc/*/environ', 'secrets'],
  ["tr '\\0' '\\n' < /proc/1/environ", 'secrets'],
])('the search command %s is refused', async (command, guard) => {
  expect(named(await check('Bash', { command }))).toBe(guard);
});

test.each([
  "rg -g '!*.pem' KEY",
  'rg -t ts KEY',
  'rg KEY src',
  "git grep KEY -- src ':!*.pem'",
  'git ls-files | head',
  'find . -name "*.ts" -exec cat {} +',
  'find . -type f -not -name ".*" -not -name "*.pem" | xargs wc -l',
  'set -euo pipefail; npm test',
  'env NODE_ENV=test npm test',
  'NODE_ENV=test node src/a.ts',
  'printenv NODE_ENV',
  'echo "$NODE_ENV $PATH"',
  'TOKEN=abc; echo "$TOKEN"',
  'node -e \'require("child_process").spawnSync("ls", { env: process.env })\'',
  'export NODE_ENV=test',
  'declare -A map',
  'ps -ef | grep node',
])('the search command %s is let through', async (command) => {
  expect(await check('Bash', { command })).toEqual({ kind: 'allow' });
});

test.each<[input: Record<string, unknown>, guard: string]>([
  [{ pattern: 'KEY', glob: '.e*' }, 'secrets'],
  [{ pattern: 'KEY', glob: '*' }, 'secrets'],
  [{ pattern: 'KEY', path: '.env' }, 'secrets'],
])('Grep %o is refused', async (input, guard) => {
  expect(named(await check('Grep', input))).toBe(guard);
});

test.each<[input: Record<string, unknown>]>([
  [{ pattern: 'x', glob: '*.ts' }],
  [{ pattern: 'x', type: 'ts' }],
  [{ pattern: 'x', glob: '!**/{.env,*.pem}' }],
])('Grep %o is let through', async (input) => {
  expect(await check('Grep', input)).toEqual({ kind: 'allow' });
});

test('a search through everything leaves secrets out', async () => {
  const verdict = await check('Grep', { pattern: 'KEY', output_mode: 'content' });
  expect(verdict).toMatchObject({ kind: 'rewrite', guard: 'secrets-in-search', input: { pattern: 'KEY' } });
  expect(verdict.kind === 'rewrite' && verdict.input.glob).toMatch(/^!\*\*\/\{\.env,/);
  const ignored = join(folder, 'ignored');
  write(ignored, { '.git/HEAD': '', '.gitignore': '# local\n.env\n*.pem\n', '.env': 'KEY=1', 'a/b.pem': '' });
  const grep = { tool: 'Grep', input: { pattern: 'KEY' } };
  expect(await guards.check(grep, { worktree: ignored, mode: 'implement' })).toEqual({ kind: 'allow' });
  // The last rule that fits decides, and one with `!` takes the file back in.
  write(ignored, { '.gitignore': '.env\n*.pem\n!.env\n' });
  expect(await guards.check(grep, { worktree: ignored, mode: 'implement' })).toMatchObject({ kind: 'rewrite' });
});

test.each([
  ['rg KEY', null],
  ['rg -u KEY', null],
  ['rg -uu KEY', 'secrets'],
  ['rg --hidden KEY', 'secrets'],
])('where the only secret is in a hidden file, %s is refused by %s', async (command, guard) => {
  const hidden = join(folder, 'hidden');
  write(hidden, { '.git/HEAD': '', '.env': 'KEY=1', 'src/a.ts': '' });
  const verdict = await guards.check({ tool: 'Bash', input: { command } }, { worktree: hidden, mode: 'implement' });
  expect(verdict.kind === 'deny' ? verdict.guard : null).toBe(guard);
});

describe('a shell in another folder', () => {
  const from = (cwd: string, command: string) =>
    guards.check({ tool: 'Bash', input: { command } }, { worktree, mode: 'implement', cwd });

  test.each<[cwd: string, command: string, guard: string]>([
    ['src', 'cat ../.env', 'secrets'],
    ['src', 'rm -rf ..', 'whole-worktree'],
    ['src', 'rm -rf ../..', 'store'],
    ['/tmp', 'rm x', 'worktree'],
    ['/tmp', 'npm test', 'worktree'],
    ['.git', 'rm HEAD', 'untouchable'],
  ])('is refused in %s: %s', async (cwd, command, guard) => {
    expect(named(await from(cwd.startsWith('/') ? cwd : join(worktree, cwd), command))).toBe(guard);
  });

  test('works there, and may return', async () => {
    expect(await from(join(worktree, 'src'), 'cat a.ts ../main && rm -f ../dist/x')).toEqual({ kind: 'allow' });
    expect(await from('/tmp', `cd "${worktree}" && npm test`)).toEqual({ kind: 'allow' });
    const edit = { tool: 'Write', input: { file_path: '../x.ts', content: '' } };
    const about = { worktree, mode: 'implement' as const };
    expect(await guards.check(edit, { ...about, cwd: join(worktree, 'src') })).toEqual({ kind: 'allow' });
    expect(named(await guards.check(edit, { ...about, cwd: worktree }))).toBe('store');
  });
});
