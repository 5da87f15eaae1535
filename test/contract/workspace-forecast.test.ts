import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const lines = (from = 1, to = 30) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
const text = (change: Record<number, string> = {}) =>
  `${lines()
    .map((line, at) => change[at + 1] ?? line)
    .join('\n')}\n`;

let bed: Bed;
beforeEach(async () => {
  bed = await makeBed({
    files: { 'a.txt': text(), 'b.txt': text(), 'old/one.txt': text(), 'old/two.txt': text(), 'place/x.txt': 'x\n' },
  });
});
afterEach(() => bed.remove());

const task = (number: number) => ({ number, branch: `task/${number}-work` });
const capture = async (number: number) => (await bed.workspace.capture(task(number), `work ${number}`)).commit;
async function branch(number: number, files: Record<string, string>): Promise<string> {
  const { path } = await bed.workspace.open(task(number));
  await write(path, files);
  return capture(number);
}
async function commitOnTarget(files: Record<string, string>): Promise<void> {
  await write(bed.root, files);
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'By a person');
}
const forecast = async (commit: string, others: string[]) => (await bed.workspace.forecast(commit, others))!;
const files = async (commit: string, other: string) => (await forecast(commit, [other])).compared[0]?.files;

describe('the forecast of conflicts', () => {
  it('names the branches that conflict, and the files; the same line in one file is enough, two lines are not', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }), 'b.txt': text({ 9: 'nine' }) });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }) });
    const c = await branch(3, { 'a.txt': text({ 25: 'twenty-five' }) });
    const d = await branch(4, { 'new.txt': 'new\n' });
    expect(await forecast(a, [b, c, d])).toEqual({
      size: { files: 2, lines: 4 },
      withTarget: [],
      compared: [
        { commit: b, files: ['a.txt'], size: { files: 1, lines: 2 } },
        { commit: c, files: [], size: null },
        { commit: d, files: [], size: null },
      ],
    });
    expect(await files(b, a)).toEqual(['a.txt']);
  });

  it('names the files that the target has changed otherwise', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }) });
    expect((await forecast(a, [])).withTarget).toEqual([]);
    await commitOnTarget({ 'a.txt': text({ 5: 'five of the target' }), 'other.txt': 'other\n' });
    expect(await forecast(a, [])).toMatchObject({ withTarget: ['a.txt'], size: { files: 1, lines: 2 } });
  });

  it('does not blame a branch for what the target changed before it began', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }), 'b.txt': text({ 3: 'three' }) });
    await commitOnTarget({ 'a.txt': text({ 5: 'five of the target' }) });
    const b = await branch(2, { 'b.txt': text({ 20: 'twenty' }) });
    expect(await forecast(a, [b])).toMatchObject({ withTarget: ['a.txt'], compared: [{ files: [] }] });
    expect(await forecast(b, [a])).toMatchObject({ withTarget: [], compared: [{ files: [] }] });
  });

  it.each([
    ['a file that one deletes and the other changes', () => removal('a.txt'), { 'a.txt': text({ 1: 'one' }) }],
    ['a file that both add', () => branch(1, { 'n.txt': 'mine\n' }), { 'n.txt': 'yours\n' }],
    ['a file in the place of a folder', () => fileForFolder(), { 'place/y.txt': 'y\n', 'place/x.txt': 'X\n' }],
    ['a file that is new in a folder that the other moved', () => moved(), { 'old/three.txt': 'three\n' }],
  ])('finds %s', async (_name, first, second) => {
    const a = await first();
    const b = await branch(2, second);
    expect(await files(a, b)).not.toEqual([]);
    expect(await files(b, a)).not.toEqual([]);
  });

  it('follows a moved file: a change in it goes along, and is no conflict', async () => {
    const a = await moved();
    expect(await files(a, await branch(2, { 'old/one.txt': text({ 12: 'twelve' }) }))).toEqual([]);
  });

  const removal = async (name: string) => {
    const { path } = await bed.workspace.open(task(1));
    await rm(join(path, name));
    return capture(1);
  };
  const fileForFolder = async () => {
    const { path } = await bed.workspace.open(task(1));
    await rm(join(path, 'place'), { recursive: true });
    await writeFile(join(path, 'place'), 'a file now\n');
    return capture(1);
  };
  const moved = async () => {
    const { path } = await bed.workspace.open(task(1));
    await rename(join(path, 'old'), join(path, 'new'));
    return capture(1);
  };
});

describe('the computation of a forecast', () => {
  it('leaves out a commit that is gone, or that has no history with the target', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }) });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }) });
    const gone = '0123456789'.repeat(4);
    const tree = await git(bed.root, 'rev-parse', `${a}^{tree}`);
    const unrelated = await git(bed.root, 'commit-tree', '-m', 'unrelated', tree);
    expect((await forecast(a, [gone, unrelated, b])).compared).toMatchObject([{ commit: b, files: ['a.txt'] }]);
    expect(await bed.workspace.forecast(gone, [a])).toBeNull();
  });

  it('works with a git that merges only one pair per call', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }) });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }) });
    const c = await branch(3, { 'a.txt': text({ 25: 'twenty-five' }) });
    const { PATH = '' } = process.env;
    const older = `#!/bin/sh\ncase " $* " in *" merge-tree --stdin "*) exit 129;; esac\nPATH='${PATH}' exec git "$@"\n`;
    await write(bed.folder, { 'bin/git': older });
    await chmod(join(bed.folder, 'bin/git'), 0o755);
    process.env.PATH = `${join(bed.folder, 'bin')}:${PATH}`;
    try {
      expect((await forecast(a, [b, c])).compared).toMatchObject([{ files: ['a.txt'] }, { files: [] }]);
    } finally {
      process.env.PATH = PATH;
    }
  });

  it('can still compare a removed branch, and is not disturbed by one that vanishes meanwhile', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }) });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }) });
    const [compared] = await Promise.all([forecast(a, [b]), bed.workspace.remove(task(2))]);
    expect(compared.compared).toMatchObject([{ commit: b, files: ['a.txt'] }]);
  });

  it('changes no ref, no index, no file, and adds no object to the repository', async () => {
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }), 'b.txt': text({ 2: 'two' }) });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }), 'b.txt': text({ 22: 'twenty-two' }) });
    const state = async () => [
      await git(bed.root, 'for-each-ref'),
      await git(bed.root, 'count-objects', '-v'),
      await git(bed.root, 'status', '--porcelain'),
      await git(join(bed.dataDir, 'worktrees/1-work'), 'status', '--porcelain'),
    ];
    const before = await state();
    expect(await files(a, b)).toEqual(['a.txt']);
    expect(await state()).toEqual(before);
    expect(await readdir(join(bed.dataDir, 'scratch'))).toEqual([]);
  });

  it('runs nothing that a branch names: no merge driver, no filter, no textconv', async () => {
    const proof = join(bed.folder, 'ran');
    const program = join(bed.folder, 'driver.sh');
    await writeFile(program, `#!/bin/sh\ntouch ${proof}\nexit 0\n`);
    await chmod(program, 0o755);
    for (const key of ['merge.evil.driver', 'diff.evil.textconv', 'diff.evil.command', 'filter.evil.smudge'])
      await git(bed.root, 'config', key, program);
    const attributes = '* merge=evil diff=evil filter=evil\n';
    const a = await branch(1, { 'a.txt': text({ 5: 'five of 1' }), '.gitattributes': attributes });
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }), '.gitattributes': attributes });
    await rm(proof, { force: true });
    expect(await files(a, b)).toEqual(['a.txt']);
    expect(existsSync(proof)).toBe(false);
  });

  it('works with names that need care, in a folder with a colon', async () => {
    await bed.remove();
    bed = await makeBed({ name: 'a:b "c" \\d', files: { 'ä "q" \n.txt': text() } });
    const a = await branch(1, { 'ä "q" \n.txt': text({ 5: 'five of 1' }) });
    const b = await branch(2, { 'ä "q" \n.txt': text({ 5: 'five of 2' }) });
    expect(await files(a, b)).toEqual(['ä "q" \n.txt']);
  });

  it('merges a change of more files than are compared one by one all the same', async () => {
    const { path } = await bed.workspace.open(task(1));
    await mkdir(join(path, 'many'));
    const many = Array.from({ length: 2_001 }, (_, at) => `many/${at}.txt`);
    for (const name of many) await writeFile(join(path, name), 'x\n');
    await write(path, { 'a.txt': text({ 5: 'five of 1' }) });
    const a = await capture(1);
    const b = await branch(2, { 'a.txt': text({ 5: 'five of 2' }) });
    expect(await forecast(a, [b])).toMatchObject({ size: { files: 2_002 }, compared: [{ files: ['a.txt'] }] });
  });
});
