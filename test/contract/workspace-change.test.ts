import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 3, branch: 'task/3-x' };
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join('');
const manifest = (first: string, last: string) => `${first}\n${lines(1, 30)}${last}\n`;
let bed: Bed;
let path: string;

beforeEach(async () => {
  bed = await makeBed();
  await personCommits({ 'deps.txt': manifest('a 1', 'z 1') });
  path = (await bed.workspace.open(task)).path;
});
afterEach(() => bed.remove());

async function personCommits(files: Record<string, string>): Promise<void> {
  await write(bed.root, files);
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'by a person');
}

/** The hash of what the worktree changes in the files, once it is committed. */
async function changeOf(...files: string[]): Promise<string> {
  await bed.workspace.capture(task, 'x\n');
  return bed.workspace.changeIn(task, files.length > 0 ? files : ['deps.txt']);
}

describe('the change of a branch in some files', () => {
  it('is the same on a newer target, also where that changed the same file elsewhere', async () => {
    await write(path, { 'deps.txt': manifest('a 1', 'z 2') });
    const before = await changeOf();
    await personCommits({ 'deps.txt': manifest('a 5', 'z 1'), 'other.txt': 'o\n' });
    await bed.workspace.mergeTarget(task);
    await write(path, { 'mine.txt': 'm\n' });
    expect(await changeOf()).toBe(before);
  });

  it('differs when anything in them differs, however it is hidden', async () => {
    const seen = new Set<string>();
    const isNew = async (...files: string[]) => {
      const hash = await changeOf(...files);
      expect(seen.has(hash)).toBe(false);
      seen.add(hash);
    };
    await write(path, { 'deps.txt': manifest('a 1', 'z 2') });
    await isNew();
    await write(path, { 'deps.txt': manifest('a 1', 'z  2') });
    await isNew();
    await write(path, { 'deps.txt': manifest('a 1', 'z 3'), '.gitattributes': 'deps.txt -diff\n' });
    await isNew();
    await write(path, { 'deps.txt': manifest('a 1', 'z 4') });
    await isNew();
    await write(path, { '.gitattributes': 'deps.txt diff=x text eol=crlf\n' });
    await write(path, { 'deps.txt': manifest('a 1', 'z 5') });
    await isNew();
    await chmod(join(path, 'deps.txt'), 0o755);
    await isNew();
    await write(path, { ':(glob)*': 'magic\n' });
    await isNew(':(glob)*');
  });

  it('differs for different bytes that are no text', async () => {
    await writeFile(join(path, 'deps.txt'), Buffer.from([0x61, 0xfe, 0x0a]));
    const one = await changeOf();
    await writeFile(join(path, 'deps.txt'), Buffer.from([0x61, 0xff, 0x0a]));
    expect(await changeOf()).not.toBe(one);
  });

  it('can be asked of more files than a command line holds', async () => {
    const names = Array.from({ length: 1200 }, (_, at) => `many/${at}.txt`);
    await write(path, Object.fromEntries(names.map((name) => [name, 'x\n'])));
    const one = await changeOf(...names);
    await write(path, { 'many/1100.txt': 'y\n' });
    expect(await changeOf(...names)).not.toBe(one);
  });
});
