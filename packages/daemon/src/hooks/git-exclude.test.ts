import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installHooks, uninstallHooks } from './install.ts';

let folder: string;
let root: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-exclude-')));
  root = join(folder, 'repository');
  mkdirSync(root);
  git('init', '-q');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('git ignores what hooks install --local writes, and uninstall restores its list', async () => {
  const options = { root, dataDir: join(folder, 'data'), env: {} };
  const list = join(root, '.git', 'info', 'exclude');
  const before = readFileSync(list, 'utf8');
  await installHooks(options, true);
  await installHooks(options, true);
  expect(git('status', '--porcelain')).toBe('');
  uninstallHooks(options);
  expect(readFileSync(list, 'utf8')).toBe(before);
  await installHooks(options, false);
  expect(git('status', '--porcelain')).toContain('.claude/');
});
