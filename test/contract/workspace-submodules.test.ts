import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git, makeBed, write } from './workspace-bed.ts';

const file = ['-c', 'protocol.file.allow=always'];

it('a submodule of a worktree keeps the work in it, and follows the target when an untouched worktree moves on', async () => {
  const bed = await makeBed({ name: 'moving' });
  try {
    const inner = join(bed.folder, 'inner');
    const commit = async (text: string) => {
      await write(inner, { 'i.txt': text });
      await git(inner, 'add', '-A');
      await git(inner, 'commit', '-q', '-m', text);
    };
    await mkdir(inner);
    await git(inner, 'init', '-q', '-b', 'main');
    await commit('one');
    await git(bed.root, ...file, 'submodule', '--quiet', 'add', inner, 'lib');
    await git(bed.root, 'commit', '-q', '-m', 'Add a submodule');
    const task = { number: 1, branch: 'task/1-sub' };
    const { path } = await bed.workspace.open(task);
    const text = (name: string) => readFile(join(path, 'lib', name), 'utf8');
    expect(await text('i.txt')).toBe('one');
    await write(path, { 'lib/made.txt': 'by an agent' });
    await bed.workspace.open(task);
    expect([await text('i.txt'), await text('made.txt')]).toEqual(['one', 'by an agent']);
    await commit('two');
    await git(join(bed.root, 'lib'), ...file, 'pull', '-q', 'origin', 'main');
    await git(bed.root, 'commit', '-q', '-am', 'Move the submodule');
    await bed.workspace.open(task);
    expect([await text('i.txt'), await text('made.txt')]).toEqual(['two', 'by an agent']);
  } finally {
    await bed.remove();
  }
});
