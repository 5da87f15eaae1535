import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Bed, git, personEnv } from './workspace-bed.ts';

const task = { number: 5, branch: 'task/5-gone' };

/** git runs in sessions of its own, which a kill of the group does not reach; a machine that goes down reaches all. */
function killWithChildren(pid: number): void {
  const list = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number) : [];
  for (const each of [-pid, ...children]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  }
}

/** Kills a process that works on a task after each of these times. */
export function killsOnTheWay(bedOf: () => Bed, delaysMs: number[]): void {
  it('at any moment of a task’s way loses nothing the next one cannot go on from', async () => {
    const bed = bedOf();
    for (const delayMs of delaysMs) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'workspace-worker.ts'), bed.root, bed.dataDir], {
        env: personEnv,
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      // Not a wait for a result: the process must be killed at a random moment.
      const timer = setTimeout(() => killWithChildren(child.pid!), delayMs);
      await ended;
      clearTimeout(timer);
      const next = await bed.reopen();
      const { path } = await next.open(task);
      expect(await git(path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${task.branch}`);
      expect((await next.capture(task, 'after the kill\n')).files.every((file) => file.startsWith('work/'))).toBe(true);
      expect(await git(path, 'fsck', '--no-dangling', '--connectivity-only')).toBe('');
      await next.remove(task);
      expect(await next.leaks([])).toEqual([]);
      await next.close();
    }
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
  }, 3_600_000);
}

/** `files` in thousands. */
export function deletesBehind(bedOf: () => Bed, files: number): void {
  it(`renames ${files} files away and deletes them behind`, async () => {
    const bed = bedOf();
    const tree = await bed.workspace.open(task);
    for (let folder = 0; folder < files / 1000; folder++) {
      const path = join(tree.path, 'ignored', `${folder}`);
      await mkdir(path, { recursive: true });
      await Promise.all(Array.from({ length: 1000 }, (_, i) => writeFile(join(path, `${i}`), '')));
    }
    await bed.workspace.remove(task);
    expect(existsSync(tree.path)).toBe(false);
    await bed.workspace.close();
    expect(await readdir(join(bed.dataDir, 'trash'))).toEqual([]);
  });
}
