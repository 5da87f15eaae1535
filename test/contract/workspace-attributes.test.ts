import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

const task = { number: 1, branch: 'task/1-t' };
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`;
const LFS = '*.bin filter=lfs diff=lfs merge=lfs -text\n';

let bed: Bed;
afterEach(() => bed.remove());

const status = () => git(bed.root, 'status', '--porcelain');
const commitAll = async (message: string) => {
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', message);
};

/** What a task with these files goes through: nothing is changed but them, and they land. */
async function land(files: Record<string, string>): Promise<void> {
  const { path, base } = await bed.workspace.open(task);
  const target = await bed.workspace.checkOut(base);
  expect(await target.changes()).toEqual([]);
  expect(await target.writeTree()).toBe(target.tree);
  await target.close();
  expect((await bed.workspace.capture(task, 'nothing\n')).files).toEqual([]);
  await write(path, files);
  expect((await bed.workspace.capture(task, 'work\n')).files).toEqual(Object.keys(files).sort());
  const candidate = await bed.workspace.candidate(task);
  if (candidate.kind !== 'clean') throw new Error(candidate.kind);
  const commit = await bed.workspace.seal(task, candidate, 'Land\n');
  const proof = await bed.workspace.checkOut(commit);
  expect(await proof.changes()).toEqual([]);
  await proof.close();
  expect(await bed.workspace.landingObstacle()).toBe(null);
  expect(await bed.workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
}

describe('attributes', () => {
  it.each<[string, Record<string, string>, Record<string, string>, Record<string, string>]>([
    ['text=auto', { '.gitattributes': '* text=auto\n' }, { 'new.txt': 'x\r\ny\r\n' }, { 'new.txt': 'x\ny' }],
    [
      'eol=crlf',
      { '.gitattributes': '*.txt text eol=crlf\n' },
      { 'new.txt': 'x\r\n', 'src/a.txt': 'one\r\n2\r\n' },
      { 'new.txt': 'x', 'src/a.txt': 'one\n2' },
    ],
    ['ident', { '.gitattributes': '*.id ident\n', 'a.id': '$Id$\n' }, { 'b.id': '$Id: x $\n' }, { 'b.id': '$Id$' }],
  ])('of line endings and ident convert, and change nothing else: %s', async (_, start, files, stored) => {
    bed = await makeBed({ files: { 'src/a.txt': 'one\ntwo\n', ...start } });
    await land(files);
    for (const [file, text] of Object.entries(stored)) expect(await git(bed.root, 'show', `main:${file}`)).toBe(text);
    expect(await status()).toBe('');
  });

  it('that came later do not make unconverted files a change: of the agent, of a gate, of the person', async () => {
    bed = await makeBed({ files: { 'src/a.txt': 'one\r\ntwo\r\n', 'b.txt': 'b\r\n', 'data.up': 'mixed Case\n' } });
    await git(bed.root, 'config', 'filter.up.clean', 'tr a-z A-Z');
    await write(bed.root, { '.gitattributes': '*.txt text\n*.up filter=up\n' });
    await git(bed.root, 'add', '.gitattributes');
    await git(bed.root, 'commit', '-q', '-m', 'Attributes');
    expect(await status()).not.toBe('');
    await land({ 'new.txt': 'x\n' });
    expect(await git(bed.root, 'show', '--name-only', '--format=', 'main')).toBe('new.txt');
    // git does not overwrite such a file, so a landing that changes it says what helps.
    const second = { number: 2, branch: 'task/2-t' };
    await write((await bed.workspace.open(second)).path, { 'b.txt': 'c\n' });
    await bed.workspace.capture(second, 'work\n');
    const candidate = await bed.workspace.candidate(second);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const commit = await bed.workspace.seal(second, candidate, 'Land\n');
    expect(await bed.workspace.land(commit, candidate.base)).toMatchObject({
      kind: 'waiting',
      why: expect.stringMatching(
        /b\.txt is stored otherwise than \.gitattributes says; run `git add --renormalize \.`/,
      ),
    });
    // The person's own change of such a file is one.
    await write(bed.root, { 'src/a.txt': 'mine\r\n' });
    expect(await bed.workspace.landingObstacle()).toMatch(/src\/a\.txt has uncommitted changes/);
  });

  it('run the filters that the person configured, and nothing that an agent names', async () => {
    bed = await makeBed({ files: { 'a.txt': 'one\n' } });
    const ran = join(bed.folder, 'ran');
    const settings = {
      'merge.own.driver': '',
      'diff.own.command': '',
      'diff.own.textconv': '',
      'filter.own.clean': '',
    };
    for (const key of Object.keys(settings)) await git(bed.root, 'config', key, `touch '${ran}'; cat; true`);
    await git(bed.root, 'config', 'filter.up.clean', 'tr a-z A-Z');
    await git(bed.root, 'config', 'filter.up.smudge', 'tr A-Z a-z');
    await write(bed.root, { '.gitattributes': '*.up filter=up\n', 'x.up': 'quiet\n' });
    await commitAll('A filter');
    expect(await git(bed.root, 'show', 'main:x.up')).toBe('QUIET');
    const { path } = await bed.workspace.open(task);
    expect(await readFile(join(path, 'x.up'), 'utf8')).toBe('quiet\n');
    await write(path, { '.gitattributes': '*.up filter=up\n*.txt merge=own diff=own\n', 'a.txt': 'one\n2\n' });
    await bed.workspace.capture(task, 'work\n');
    await write(bed.root, { 'b.txt': 'meanwhile\n' });
    await commitAll('Meanwhile');
    await bed.workspace.diff(task, 10_000);
    const candidate = await bed.workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const commit = await bed.workspace.seal(task, candidate, 'Land\n');
    await (await bed.workspace.checkOut(commit)).close();
    expect(await bed.workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
    expect(existsSync(ran)).toBe(false);
  });
});

describe('files of Git LFS', () => {
  it('stay pointers where git-lfs is not set up, and work lands', async () => {
    bed = await makeBed({ files: { '.gitattributes': LFS, 'a.bin': POINTER } });
    await land({ 'b.bin': 'as it is\n' });
    expect(await git(bed.root, 'show', 'main:a.bin')).toBe(POINTER.trimEnd());
    expect(await git(bed.root, 'show', 'main:b.bin')).toBe('as it is');
  });

  it('go through the filter where it is set up; one that was stored whole is no change', async () => {
    bed = await makeBed({ files: { 'old.bin': 'stored whole\n' } });
    const store = join(bed.folder, 'store');
    await mkdir(store);
    // What git-lfs does, without a server.
    const clean = `f=$(mktemp -p '${store}'); cat > "$f"; h=$(sha256sum < "$f" | cut -c1-64); mv "$f" '${store}'/$h; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\n' $h`;
    const smudge = `f=$(mktemp -p '${store}'); cat > "$f"; h=$(sed -n 's/^oid sha256://p' "$f"); if [ -n "$h" ]; then cat '${store}'/$h; else cat "$f"; fi`;
    await git(bed.root, 'config', 'filter.lfs.clean', clean);
    await git(bed.root, 'config', 'filter.lfs.smudge', smudge);
    await git(bed.root, 'config', 'filter.lfs.required', 'true');
    await write(bed.root, { '.gitattributes': LFS, 'a.bin': 'large\n' });
    await git(bed.root, 'add', '.gitattributes', 'a.bin');
    await git(bed.root, 'commit', '-q', '-m', 'Large files');
    expect(await git(bed.root, 'show', 'main:a.bin')).toMatch(/^version https/);
    const { path } = await bed.workspace.open(task);
    expect(await readFile(join(path, 'a.bin'), 'utf8')).toBe('large\n');
    await land({ 'b.bin': 'larger\n' });
    expect(await git(bed.root, 'show', 'main:b.bin')).toMatch(/^version https/);
    expect(await readFile(join(bed.root, 'b.bin'), 'utf8')).toBe('larger\n');
    expect(await git(bed.root, 'show', 'main:old.bin')).toBe('stored whole');
  });

  it('are uploaded before a push, as the hook of git-lfs does; without them nothing is pushed', async () => {
    bed = await makeBed({ files: { '.gitattributes': LFS, 'a.bin': POINTER } });
    const remote = join(bed.folder, 'remote.git');
    const programs = join(bed.folder, 'programs');
    await git(bed.folder, 'init', '-q', '--bare', '-b', 'main', remote);
    await git(bed.root, 'remote', 'add', 'origin', remote);
    await git(bed.root, 'config', 'filter.lfs.clean', 'cat');
    // The real one uploads and says so in the same way.
    await write(programs, { 'git-lfs': `#!/bin/sh\necho "$@" >> ../calls\ncat >> ../calls\nexec test ! -e ../down\n` });
    await chmod(join(programs, 'git-lfs'), 0o755);
    const path = process.env.PATH;
    process.env.PATH = `${programs}:${path}`;
    try {
      const commit = await bed.workspace.targetCommit();
      await write(bed.root, { down: '' });
      expect(await bed.workspace.pushTarget(commit)).toMatchObject({
        kind: 'unreachable',
        why: expect.stringContaining('Git LFS could not be uploaded to origin'),
      });
      expect(await git(remote, 'for-each-ref')).toBe('');
      await rm(join(bed.root, 'down'));
      expect(await bed.workspace.pushTarget(commit)).toMatchObject({ kind: 'pushed' });
      const call = `pre-push origin ${remote}\n${commit} ${commit} refs/heads/main ${'0'.repeat(40)}\n`;
      expect(await readFile(join(bed.root, 'calls'), 'utf8')).toBe(call + call);
    } finally {
      process.env.PATH = path;
    }
  });

  it('stop the work where they must be converted and git-lfs is missing, with what to install', async () => {
    bed = await makeBed({ files: { '.gitattributes': LFS, 'a.bin': POINTER } });
    await git(bed.root, 'config', 'filter.lfs.process', 'git-lfs-that-is-missing filter-process');
    await git(bed.root, 'config', 'filter.lfs.required', 'true');
    await expect(bed.workspace.open(task)).rejects.toMatchObject({ code: 'git_failed', hint: /git-lfs/ });
    await git(bed.root, 'config', '--unset', 'filter.lfs.process');
    await git(bed.root, 'config', '--unset', 'filter.lfs.required');
    await land({ 'b.txt': 'b\n' });
  });
});

describe('a repository inside another', () => {
  it('is not part of a worktree, and a landing does not write into it', async () => {
    bed = await makeBed();
    const inner = join(bed.root, 'vendor/inner');
    await mkdir(inner, { recursive: true });
    await git(inner, 'init', '-q', '-b', 'main');
    await write(inner, { 'own.txt': 'own\n' });
    await git(inner, 'add', '-A');
    await git(inner, 'commit', '-q', '-m', 'Inner');
    const { path } = await bed.workspace.open(task);
    expect(existsSync(join(path, 'vendor'))).toBe(false);
    await write(path, { 'vendor/inner/deep/new.txt': 'new\n', 'a.txt': 'a\n' });
    await bed.workspace.capture(task, 'work\n');
    const candidate = await bed.workspace.candidate(task);
    if (candidate.kind !== 'clean') throw new Error(candidate.kind);
    const commit = await bed.workspace.seal(task, candidate, 'Land\n');
    expect(await bed.workspace.land(commit, candidate.base)).toMatchObject({
      kind: 'waiting',
      why: expect.stringMatching(/vendor\/inner is a repository of its own, and the work adds files to it/),
    });
    expect(await git(inner, 'status', '--porcelain')).toBe('');
    expect(await git(bed.root, 'rev-parse', 'main')).toBe(candidate.base);
    await bed.workspace.remove(task);
    await land({ 'b.txt': 'b\n', 'vendor/other.txt': 'o\n' });
    expect(await git(inner, 'status', '--porcelain')).toBe('');
  });
});
