import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { sandboxStatus } from './sandbox.ts';

const status = await sandboxStatus();
const MARK = 'PERSON-ONLY';
let base: string;
beforeEach(async ({ skip }) => {
  skip(!status.available, status.why);
  base = await mkdtemp('/var/tmp/tidemill-unusual-');
});
afterEach(() => rm(base, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.x', '-c', 'protocol.file.allow=always', ...args], {
    cwd,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: 'pipe',
  });

async function repository(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  await writeFile(path.join(folder, 'file.txt'), 'text\n');
  await writeFile(path.join(folder, '.gitignore'), '.env\ndata/\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  await writeFile(path.join(folder, '.env'), MARK);
}

async function looks(root: string, dataDir: string): Promise<string> {
  const worktree = path.join(dataDir, 'worktrees', '1');
  await mkdir(path.dirname(worktree), { recursive: true });
  git(root, 'worktree', 'add', '-q', '-b', 'task/1', worktree);
  let text = '';
  const run = (script: string) =>
    startChild({
      host: { root, dataDir, homeId: dataDir, sandbox: 'auto' },
      runId: 'run_unusual',
      command: ['sh', '-c', script],
      cwd: worktree,
      network: false,
      timeoutMs: 60_000,
      onOutput: (chunk) => {
        text += chunk.toString();
      },
    }).end;
  const look = 'git log --format=%s -1 && git status --short && cat file.txt && echo x > made.txt && rm made.txt';
  expect(await run(look), text).toMatchObject({ exitCode: 0 });
  const named = `cat '${root}/file.txt'; grep -rls ${MARK} '${root}'; git -C '${root}' log --format=%s -1`;
  expect(await run(named), text).toMatchObject({ exitCode: 0 });
  return text;
}
const SEEN = 'first\ntext\ntext\nfirst\n';

describe('an unusual checkout in a sandbox shows what git tracks, and nothing else', () => {
  it('when it is a linked worktree itself', async () => {
    await repository(path.join(base, 'main'));
    git(path.join(base, 'main'), 'worktree', 'add', '-q', '-b', 'other', path.join(base, 'linked'));
    await writeFile(path.join(base, 'linked', '.env'), MARK);
    expect(await looks(path.join(base, 'linked'), path.join(base, 'data'))).toBe(SEEN);
  });

  it('when the data folder is in it', async () => {
    const root = path.join(base, 'mine');
    await repository(root);
    expect(await looks(root, path.join(root, 'data'))).toBe(SEEN);
  });

  it('when it is in the data folder', async () => {
    const root = path.join(base, 'data', 'demo', 'sample');
    await repository(root);
    expect(await looks(root, path.join(base, 'data'))).toBe(SEEN);
  });

  it('when it is named by a link', async () => {
    await repository(path.join(base, 'mine'));
    await symlink('mine', path.join(base, 'alias'));
    expect(await looks(path.join(base, 'alias'), path.join(base, 'data'))).toBe(SEEN);
  });

  it('when it has a submodule', async () => {
    await repository(path.join(base, 'inner'));
    await repository(path.join(base, 'mine'));
    git(path.join(base, 'mine'), 'submodule', 'add', '-q', path.join(base, 'inner'), 'inner');
    git(path.join(base, 'mine'), 'commit', '-qm', 'first');
    await writeFile(path.join(base, 'mine', 'inner', 'key'), MARK);
    expect(await looks(path.join(base, 'mine'), path.join(base, 'data'))).toBe(SEEN);
  });

  it('when a committed link or folder is where a file of its last commit was', async () => {
    const root = path.join(base, 'mine');
    await repository(root);
    expect(await looks(root, path.join(base, 'data'))).toBe(SEEN);
    git(root, 'rm', '-q', 'file.txt');
    await mkdir(path.join(root, 'file.txt'));
    await writeFile(path.join(root, 'file.txt', 'inner'), 'inner\n');
    git(root, 'add', 'file.txt');
    git(root, 'commit', '-qm', 'second');
    let text = '';
    await startChild({
      host: { root, dataDir: path.join(base, 'data'), homeId: base, sandbox: 'auto' },
      runId: 'run_unusual',
      command: ['sh', '-c', `cat '${root}/file.txt/inner'`],
      cwd: path.join(base, 'data', 'worktrees', '1'),
      network: false,
      timeoutMs: 60_000,
      onOutput: (chunk) => {
        text += chunk.toString();
      },
    }).end;
    expect(text).toBe('inner\n');
  });
});
