import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Git } from '../git/program.ts';
import { withoutNamedPipes } from './named-pipes.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemill-pipes-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const pipe = (name: string) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(root, name)]);
};

test.each(['.gitignore', 'lib/elsewhere/HEAD', 'lib/.git/objects/pack/x', 'lib/elsewhere/refs/heads/main'])(
  'a git call that waits in the pipe %s goes on, and a pipe that git never opens stays',
  { timeout: 30_000 },
  async (name) => {
    pipe(name);
    pipe('src/socket');
    const waiting = (async () => ({ stdout: await readFile(join(root, name), 'utf8') })) as unknown as Git;
    expect(await withoutNamedPipes(waiting, root)(['status'])).toEqual({ stdout: '' });
    expect([existsSync(join(root, name)), existsSync(join(root, 'src/socket'))]).toEqual([false, true]);
  },
);
