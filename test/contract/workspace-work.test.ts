import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bed, FIRST_FILES, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 3, branch: 'task/3-x' };
let bed: Bed;
afterEach(() => bed.remove());

const text = (path: string) => readFile(path, 'utf8');
const personCommits = async (files: Record<string, string>) => {
  await write(bed.root, files);
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'by a person');
  return git(bed.root, 'rev-parse', 'HEAD');
};

describe('opening a worktree', () => {
  it('works in odd folders, with a target that has slashes', async () => {
    bed = await makeBed({ name: '-my repo ü☂', target: 'release/1.0' });
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'x.txt': 'x\n' });
    await bed.workspace.capture(task, 'x\n');
    const candidate = await bed.workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const commit = await bed.workspace.seal(task, candidate, 'x\n');
    expect(await bed.workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
    expect(await text(join(bed.root, 'x.txt'))).toBe('x\n');
  });

  it('keeps leftover work, also over a restart', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'left.txt': 'left\n', 'README.md': 'half done\n' });
    await personCommits({ 'p.txt': 'p\n' });
    const again = await (await bed.reopen()).open(task);
    expect(again).toEqual(tree);
    expect(await text(join(tree.path, 'left.txt'))).toBe('left\n');
    expect(await text(join(tree.path, 'README.md'))).toBe('half done\n');
  });

  it('moves on to the newest target while there is no work', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'ignored/cache': 'stays\n' });
    const newest = await personCommits({ 'p.txt': 'p\n' });
    expect((await bed.workspace.open(task)).base).toBe(newest);
    expect(await text(join(tree.path, 'p.txt'))).toBe('p\n');
    expect(await text(join(tree.path, 'ignored/cache'))).toBe('stays\n');
    await write(tree.path, { 'x.txt': 'x\n' });
    const { commit } = await bed.workspace.capture(task, 'x\n');
    await personCommits({ 'q.txt': 'q\n' });
    expect((await bed.workspace.open(task)).base).toBe(newest);
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
  });

  it('refuses a branch a person has checked out', async () => {
    bed = await makeBed();
    await git(bed.root, 'checkout', '-q', '-b', task.branch);
    await expect(bed.workspace.open(task)).rejects.toMatchObject({ message: expect.stringContaining(bed.root) });
  });

  it('makes many at once', async () => {
    bed = await makeBed();
    const tasks = Array.from({ length: 12 }, (_, i) => ({ number: i, branch: `task/${i}-many` }));
    await Promise.all(tasks.map((each) => bed.workspace.open(each)));
    await Promise.all(
      tasks.map(async (each) => {
        const { path } = await bed.workspace.open(each);
        await write(path, { [`${each.number}.txt`]: 'x\n' });
        expect((await bed.workspace.capture(each, 'x\n')).files).toEqual([`${each.number}.txt`]);
      }),
    );
    await Promise.all(tasks.map((each) => bed.workspace.remove(each)));
    expect(await bed.workspace.leaks([])).toEqual([]);
    expect(await bed.workspace.snapshots()).toHaveLength(12);
  });
});

describe('commits of a worktree', () => {
  it('carry the name the repository has configured', async () => {
    bed = await makeBed();
    await git(bed.root, 'config', 'user.name', 'Grace');
    await git(bed.root, 'config', 'user.email', 'grace@example.org');
    const workspace = await bed.reopen();
    await write((await workspace.open(task)).path, { 'x.txt': 'x\n' });
    const { commit } = await workspace.capture(task, 'x\n');
    expect(await git(bed.root, 'log', '-1', '--format=%an %ae %cn', commit)).toBe('Grace grace@example.org Grace');
  });

  it('are found by name, and a name that is none is not', async () => {
    bed = await makeBed();
    const head = await git(bed.root, 'rev-parse', 'HEAD');
    expect(await bed.workspace.isLanded(head.slice(0, 12))).toBe(true);
    expect(await bed.workspace.isLanded(`${head}\nHEAD`)).toBe(false);
    expect(await bed.workspace.isLanded('-x y')).toBe(false);
    expect(await bed.workspace.snapshot(task, 'never opened')).toBe(null);
    expect(await bed.workspace.leaks([])).toEqual([]);
  });
});

describe('a worktree that was left half done', () => {
  it('is created again when git did not finish its checkout', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    const admin = join(bed.root, '.git/worktrees/3-x');
    await rm(join(bed.dataDir, 'index/3-x'));
    await writeFile(join(admin, 'locked'), 'initializing');
    await rm(join(tree.path, 'README.md'));
    await (await bed.reopen()).open(task);
    expect(await text(join(tree.path, 'README.md'))).toBe('hello\n');
    expect(await bed.workspace.leaks([task])).toEqual([]);
  });

  it('is usable when the engine’s own index is lost or locked by a dead git', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'x.txt': 'x\n' });
    await rm(join(bed.dataDir, 'index/3-x'));
    expect((await bed.workspace.capture(task, 'x\n')).files).toEqual(['x.txt']);
    await writeFile(join(bed.dataDir, 'index/3-x'), 'garbage');
    await write(tree.path, { 'y.txt': 'y\n' });
    expect((await bed.workspace.capture(task, 'y\n')).files).toEqual(['x.txt', 'y.txt']);
  });
});

describe('snapshots', () => {
  it('hold new and changed files, not ignored ones, and disturb nothing', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    expect(await bed.workspace.snapshot(task, 'nothing there')).toBe(null);
    await write(tree.path, { 'new.txt': 'new\n', 'README.md': 'changed\n', 'ignored/x': 'x' });
    await git(tree.path, 'add', 'README.md');
    const before = await git(tree.path, 'status', '--porcelain');
    const ref = await bed.workspace.snapshot(task, 'a late writer\nwas refused');
    expect(ref).toMatch(/^refs\/tidemill\/snapshots\/3\/\d+-\d+$/);
    expect(await git(tree.path, 'status', '--porcelain')).toBe(before);
    expect(await git(bed.root, 'ls-tree', '-r', '--name-only', ref!)).toBe('.gitignore\nREADME.md\nnew.txt\nsrc/a.txt');
    expect(await git(bed.root, 'log', '-1', '--format=%B', ref!)).toBe(
      'snapshot #3: a late writer was refused\n\nTask: #3\nBranch: task/3-x\n',
    );
    expect(await bed.workspace.snapshots()).toMatchObject([{ ref, number: 3, why: 'a late writer was refused' }]);
    expect((await bed.workspace.snapshots())[0]!.at).toBeGreaterThan(Date.now() - 60_000);
    await write(tree.path, { '.gitignore': 'ignored/\nnew.txt\n' });
    expect((await bed.workspace.capture(task, 'x\n')).files).toEqual(['.gitignore', 'README.md']);
  });

  it('can be taken out into a new folder, and nowhere else', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'new file.txt': 'new\n' });
    const ref = await bed.workspace.snapshot(task, 'look');
    const to = join(bed.folder, 'out', 'here');
    expect(await bed.workspace.restoreSnapshot(ref!, to)).toBe(to);
    expect((await readdir(to)).sort()).toEqual(['.gitignore', 'README.md', 'new file.txt', 'src']);
    await expect(bed.workspace.restoreSnapshot(ref!, to)).rejects.toMatchObject({
      code: 'bad_input',
      message: /not empty/,
    });
    await expect(bed.workspace.restoreSnapshot('refs/heads/main', join(to, 'b'))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(bed.workspace.restoreSnapshot(ref!, join(to, 'README.md'))).rejects.toMatchObject({
      code: 'bad_input',
    });
    await mkdir(join(bed.folder, 'empty'));
    await bed.workspace.restoreSnapshot(ref!.split('snapshots/')[1]!, join(bed.folder, 'empty'));
    expect(await git(bed.root, 'status', '--porcelain')).toBe('');
  });

  it('are taken by restore, when that loses anything', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    expect(await bed.workspace.restore(task, 'nothing')).toBe(null);
    await write(tree.path, { 'stray.txt': 'stray\n', 'src/a.txt': 'stray\n', 'ignored/x': 'x' });
    await git(tree.path, 'commit', '-q', '-am', "a reviewer's commit");
    const ref = await bed.workspace.restore(task, 'a reviewer wrote');
    expect(await git(bed.root, 'show', `${ref}:stray.txt`)).toBe('stray');
    expect(existsSync(join(tree.path, 'stray.txt'))).toBe(false);
    expect(await text(join(tree.path, 'src/a.txt'))).toBe(FIRST_FILES['src/a.txt']);
    expect(existsSync(join(tree.path, 'ignored/x'))).toBe(true);
    expect(await git(tree.path, 'status', '--porcelain', '--branch')).toBe('## task/3-x');
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(tree.base);
  });
});

describe('merging the target into a worktree', () => {
  const conflicting = async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'src/a.txt': 'one\nTASK\nthree\n', 'own.txt': 'own\n' });
    const { commit } = await bed.workspace.capture(task, 'task\n');
    const target = await personCommits({ 'src/a.txt': 'one\nPERSON\nthree\n', 'p.txt': 'p\n' });
    expect(await bed.workspace.candidate(task)).toEqual({ kind: 'conflict', base: target, files: ['src/a.txt'] });
    return { tree, commit, target };
  };

  it('leaves the markers, and the capture concludes the merge', async () => {
    const { tree, commit, target } = await conflicting();
    await write(tree.path, { 'lying-there.txt': 'saved first\n' });
    expect(await bed.workspace.mergeTarget(task)).toEqual({ files: ['src/a.txt'] });
    expect(await text(join(tree.path, 'src/a.txt'))).toContain('<<<<<<<');
    expect((await bed.workspace.snapshots())[0]!.why).toMatch(/before the target was merged/);
    expect((await bed.workspace.open(task)).base).toBe(tree.base);
    const early = await bed.workspace.snapshot(task, 'with markers');
    expect(early).not.toBe(null);
    await write(tree.path, { 'src/a.txt': 'one\nBOTH\nthree\n' });
    const captured = await bed.workspace.capture(task, 'resolved\n');
    expect(captured.files.sort()).toEqual(['own.txt', 'src/a.txt']);
    expect(captured.notes).toEqual([]);
    expect(await git(bed.root, 'log', '-1', '--format=%P', captured.commit)).toBe(`${commit} ${target}`);
    expect((await bed.workspace.open(task)).base).toBe(target);
    expect(await bed.workspace.candidate(task)).toMatchObject({ kind: 'clean', tree: captured.tree });
    expect(await git(tree.path, 'status', '--porcelain')).toBe('');
  });

  it('says where markers are left', async () => {
    await conflicting();
    await bed.workspace.mergeTarget(task);
    const captured = await bed.workspace.capture(task, 'not resolved\n');
    expect(captured.notes).toEqual(['conflict markers remain in src/a.txt']);
  });

  it('counts an agent that committed the merge, and not one that aborted or reset onto it', async () => {
    const { tree, commit, target } = await conflicting();
    await bed.workspace.mergeTarget(task);
    await git(tree.path, 'merge', '--abort');
    expect(await bed.workspace.capture(task, 'aborted\n')).toMatchObject({ commit });
    await git(tree.path, 'reset', '-q', '--soft', target);
    await write(tree.path, { 'more.txt': 'more\n' });
    const soft = await bed.workspace.capture(task, 'reset\n');
    expect(await git(bed.root, 'log', '-1', '--format=%P', soft.commit)).toBe(commit);
    expect(soft.files.sort()).toEqual(['more.txt', 'own.txt', 'src/a.txt']);
    await bed.workspace.mergeTarget(task);
    await write(tree.path, { 'src/a.txt': 'one\nBOTH\nthree\n' });
    await git(tree.path, 'commit', '-q', '-a', '-m', 'I merged it');
    const merged = await bed.workspace.capture(task, 'merged\n');
    expect(await git(bed.root, 'log', '-1', '--format=%P', merged.commit)).toBe(`${soft.commit} ${target}`);
    expect(merged.files.sort()).toEqual(['more.txt', 'own.txt', 'src/a.txt']);
  });

  it('is a commit at once when clean, and nothing when there is nothing to merge', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'own.txt': 'own\n' });
    const { commit } = await bed.workspace.capture(task, 'own\n');
    expect(await bed.workspace.mergeTarget(task)).toEqual({ files: [] });
    expect(await git(bed.root, 'rev-parse', task.branch)).toBe(commit);
    const target = await personCommits({ 'p.txt': 'p\n' });
    expect(await bed.workspace.mergeTarget(task)).toEqual({ files: [] });
    expect(await git(bed.root, 'log', '-1', '--format=%P', task.branch)).toBe(`${commit} ${target}`);
    const again = await bed.workspace.capture(task, 'nothing\n');
    expect(again.files).toEqual(['own.txt']);
    expect(again.commit).toBe(await git(bed.root, 'rev-parse', task.branch));
    expect(again.notes).toEqual([]);
  });
});

describe('sealing a candidate', () => {
  const twoCommits = async (landing: 'squash' | 'rebase' | 'merge') => {
    bed = await makeBed({ landing });
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'a.txt': 'a\n' });
    await bed.workspace.capture(task, 'First\n');
    await write(tree.path, { 'b.txt': 'b\n' });
    const { commit } = await bed.workspace.capture(task, 'Second\n');
    const target = await personCommits({ 'p.txt': 'p\n' });
    const candidate = await bed.workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    expect(candidate.files).toEqual(['a.txt', 'b.txt']);
    const sealed = await bed.workspace.seal(task, candidate, 'Sealed\n\nTask: #3\n');
    expect(await git(bed.root, 'rev-parse', `${sealed}^{tree}`)).toBe(candidate.tree);
    expect(await git(bed.root, 'log', '-1', '--format=%s', sealed)).toBe('Sealed');
    expect(await git(bed.root, 'rev-parse', 'main', task.branch)).toBe(`${target}\n${commit}`);
    expect(await bed.workspace.land(sealed, target)).toEqual({ kind: 'landed' });
    return git(bed.root, 'log', '--format=%s', '--first-parent', 'main');
  };

  it('with squash makes one commit', async () => {
    expect(await twoCommits('squash')).toBe('Sealed\nby a person\nStart');
  });
  it('with rebase keeps each commit, the last with the message', async () => {
    expect(await twoCommits('rebase')).toBe('Sealed\nFirst\nby a person\nStart');
  });
  it('with merge has the branch as second parent', async () => {
    expect(await twoCommits('merge')).toBe('Sealed\nby a person\nStart');
    expect(await git(bed.root, 'log', '-1', '--format=%s', 'main^2')).toBe('Second');
  });

  it('with rebase makes one commit when the history does not replay to the checked tree', async () => {
    bed = await makeBed({ landing: 'rebase' });
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'src/a.txt': 'one\nTASK\nthree\n' });
    await bed.workspace.capture(task, 'First\n');
    await personCommits({ 'src/a.txt': 'one\nPERSON\nthree\n' });
    await bed.workspace.mergeTarget(task);
    await write(tree.path, { 'src/a.txt': 'one\nBOTH\nthree\n' });
    await bed.workspace.capture(task, 'Resolved\n');
    const candidate = await bed.workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const sealed = await bed.workspace.seal(task, candidate, 'Sealed\n');
    expect(await git(bed.root, 'log', '--format=%s', `main..${sealed}`)).toBe('Sealed');
    expect(await git(bed.root, 'show', `${sealed}:src/a.txt`)).toBe('one\nBOTH\nthree');
  });
});

describe('the diff of a worktree', () => {
  it('is against the base, and cut with a mark', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, { 'ü.txt': 'x\n'.repeat(5000) });
    await bed.workspace.capture(task, 'x\n');
    await personCommits({ 'p.txt': 'p\n' });
    const whole = await bed.workspace.diff(task, 1_000_000);
    expect(whole.files).toEqual([
      { path: 'ü.txt', from: null, added: 5000, removed: 0, bytes: 10_000, isBinary: false },
    ]);
    expect(whole.sections.join('')).toContain('+++ b/ü.txt');
    const cut = await bed.workspace.diff(task, 500);
    expect(cut.isCut).toBe(true);
    expect(cut.sections.join('').length).toBeLessThanOrEqual(500);
    expect(cut.sections.join('')).toMatch(/\n\+x\n\\ \[cut here: the rest of this file is not shown\]\n$/);
  });

  it('of a file with 400,000 lines hides no other file', async () => {
    bed = await makeBed();
    const tree = await bed.workspace.open(task);
    await write(tree.path, {
      'a-table.json': 'x\n'.repeat(400_000),
      ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`b${index}.txt`, 'y\n'.repeat(20_000)])),
      'src/z.ts': 'process.exit(0);\n',
    });
    await bed.workspace.capture(task, 'x\n');
    const { files, sections, isCut } = await bed.workspace.diff(task, 100_000);
    expect(files).toHaveLength(62);
    const lines = files.map(({ path, added }) => [path, added]);
    const middle = lines.slice(1, -1).map(([, added]) => added);
    expect([lines[0], ...new Set(middle), lines.at(-1)]).toEqual([['a-table.json', 400_000], 20_000, ['src/z.ts', 1]]);
    expect(sections.join('')).toContain('+process.exit(0);');
    expect(sections.join('').length).toBeLessThanOrEqual(100_000);
    expect(isCut).toBe(true);
  });

  it('shows what attributes would hide, and names what is no text', async () => {
    bed = await makeBed();
    const hiding = '*.ts -diff\n*.js binary\n*.md diff=secret linguist-generated\n*.png diff\n';
    await personCommits({ '.gitattributes': hiding });
    const tree = await bed.workspace.open(task);
    await write(tree.path, {
      'a.ts': 'evil();\n',
      'b.js': 'evil(1);\n',
      'c.md': 'evil text\n',
      'd.js': '// \0\nevil(2);\n',
    });
    await writeFile(join(tree.path, 'e.png'), Buffer.from([0x89, 0x50, 0, 1, 2, 3, 0, 0, 0xff]));
    await bed.workspace.capture(task, 'x\n');
    const { files, sections } = await bed.workspace.diff(task, 100_000);
    const text = sections.join('');
    for (const part of ['+evil();', '+evil(1);', '+evil text', '+evil(2);']) expect(text).toContain(part);
    expect(text).toContain('Binary files /dev/null and b/e.png differ');
    expect(text).not.toContain('\0');
    expect(files.map(({ path, added, isBinary }) => [path, isBinary ? 'binary' : added])).toEqual([
      ['a.ts', 1],
      ['b.js', 1],
      ['c.md', 1],
      ['d.js', 2],
      ['e.png', 'binary'],
    ]);
  });
});
