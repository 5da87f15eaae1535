import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, Task } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';
import { DiffReader } from '../../../../web/src/features/diff/parse.ts';
import { systemClock } from '../../clock.ts';
import { type GitWorkspace, openWorkspace } from '../../workspace/workspace.ts';

let bed: DaemonBed;
let api: Api;
let project: string;
let workspace: GitWorkspace;
let task: Task;
let folder: string;
beforeEach(async () => {
  bed = await DaemonBed.open({ 'a.txt': 'one\n', 'lib/b.txt': 'two\n' });
  ({ api, project } = bed);
  const dataDir = join(bed.home, 'projects', project);
  const options = { root: bed.repository.root, target: 'main', dataDir, landing: 'squash', push: 'never' } as const;
  workspace = await openWorkspace({ ...options, clock: systemClock });
  task = (await bed.store.task((await api.addTask({ project, title: 'Plain' })).id))!;
});
afterEach(async () => {
  await workspace.close();
  await bed.close();
});

const diff = (more: { maxBytes?: number } = {}) => api.taskDiff({ project, task: task.number, ...more });
async function begin(): Promise<void> {
  folder = (await workspace.open(task)).path;
}
const write = (name: string, text: string | Buffer) => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
};

describe('the change of a task', () => {
  test('is empty before there is one', async () => {
    expect(await diff()).toEqual({ of: 'nothing', text: '', isCut: false });
    await begin();
    expect(await diff()).toEqual({ of: 'worktree', text: '', isCut: false });
  });

  test('is the content of the worktree, committed or not, new, changed and deleted; reading changes nothing', async () => {
    await begin();
    write('a.txt', 'one and a half\n');
    await workspace.capture(task, 'work');
    write('new <b>/ü "q".txt', 'new\n');
    rmSync(join(folder, 'lib/b.txt'));
    write('.gitignore', 'junk/\n');
    write('junk/x', 'x');
    // Git writes the empty blob for any new file with the first diff.
    await diff();
    const before = bed.repository.git('count-objects', '-v');
    write('later.txt', 'later\n');
    const { of, text, isCut } = await diff();
    expect({ of, isCut }).toEqual({ of: 'worktree', isCut: false });
    for (const part of ['+one and a half', '+new', '-two', 'deleted file', 'ü \\"q\\".txt'])
      expect(text).toContain(part);
    expect(text).not.toContain('junk/x');
    expect(bed.repository.git('count-objects', '-v')).toBe(before);
    expect(readdirSync(join(bed.home, 'projects', project, 'index')).filter((name) => /look/.test(name))).toEqual([]);
  });

  test('names binary files, makes text valid, and follows no link', async () => {
    const secret = join(bed.home, 'secret.txt');
    writeFileSync(secret, 'the secret\n');
    await begin();
    write('image.png', Buffer.from([0x89, 0x50, 0, 1, 2, 3, 0, 0, 0xff]));
    write('latin.txt', Buffer.from('gr\xfc\xdfe <script>\n', 'latin1'));
    symlinkSync(secret, join(folder, 'link.txt'));
    rmSync(join(folder, 'lib'), { recursive: true });
    symlinkSync(bed.home, join(folder, 'lib'));
    const { text } = await diff();
    expect(text).toContain('Binary files /dev/null and b/image.png differ');
    expect(text).toContain('+gr\ufffd\ufffde <script>');
    expect(text).toContain(`+${secret}`);
    expect(text).not.toContain('the secret');
    expect(text).not.toContain('secret.txt\n+++ b/lib');
  });

  test('shows files that attributes would hide, in the worktree and as landed', async () => {
    await begin();
    write('.gitattributes', '*.ts -diff\n*.js binary\n');
    write('a.ts', 'evil();\n');
    write('b.js', 'evil(1);\n');
    const { text } = await diff();
    expect(text).toContain('+evil();');
    expect(text).toContain('+evil(1);');
    const { commit } = await workspace.capture(task, 'work');
    expect((await workspace.lookAtCommit(commit, 10_000))?.text).toContain('+evil();');
  });

  test('of a long file does not hide other files, and can be read to its end', async () => {
    await begin();
    write('a-table.json', 'x\n'.repeat(400_000));
    write('z.ts', 'evil();\n');
    const { text, isCut } = await diff({ maxBytes: 50_000 });
    expect(isCut).toBe(true);
    const reader = new DiffReader();
    reader.push(text);
    reader.end();
    expect(reader.files.map(({ path }) => path)).toEqual(['a-table.json', 'z.ts']);
  });

  test('of 50 MB is cut at the end of a line, and other requests are served meanwhile', {
    timeout: 120_000,
  }, async () => {
    await begin();
    const line = `${'äöü '.repeat(20)}\n`;
    write('huge.txt', line.repeat(Math.ceil(50_000_000 / Buffer.byteLength(line))));
    const [cut, ...lists] = await Promise.all([
      diff({ maxBytes: 100_000 }),
      ...Array.from({ length: 20 }, () => api.tasks({ project })),
    ]);
    expect(cut!.isCut).toBe(true);
    expect(Buffer.byteLength(cut!.text)).toBeLessThanOrEqual(100_000);
    expect(Buffer.byteLength(cut!.text)).toBeGreaterThan(99_000);
    expect(cut!.text.endsWith(`+${line}\\ [cut here: the rest of this file is not shown]\n`)).toBe(true);
    expect(cut!.text).not.toContain('\ufffd');
    expect(lists).toHaveLength(20);
    for (const maxBytes of [0, 10_000_001])
      await expect(diff({ maxBytes })).rejects.toMatchObject({ code: 'bad_input' });
  });

  test('is the landed commit once it has landed, also a repository’s first commit; a lost commit has no change', async () => {
    bed.repository.write({ 'a.txt': 'landed\n' });
    bed.repository.git('commit', '-qam', 'Land');
    const commit = bed.repository.git('rev-parse', 'HEAD');
    const tree = await bed.build(await bed.claim('agent-1', 'builder'), commit);
    const merging = await bed.claim('merger', 'merger');
    await bed.must({ type: 'merge.prepare', ...bed.fence(merging), commit, tree, base: 'base' });
    await bed.must({ type: 'merge.land', ...bed.fence(merging), commit });
    const landed = await diff();
    expect(landed.of).toBe('landed');
    expect(landed.text).toContain('-one\n+landed');
    expect((await diff({ maxBytes: 40 })).isCut).toBe(true);
    expect(await api.taskFiles({ project, task: task.number })).toMatchObject({
      of: 'landed',
      files: [{ path: 'a.txt' }],
    });
    const { before, after } = await api.taskFile({ project, task: task.number, path: 'a.txt' });
    expect([before?.text, after?.text]).toEqual(['one\n', 'landed\n']);
    const first = bed.repository.git('rev-list', '--max-parents=0', 'HEAD');
    expect((await workspace.lookAtCommit(first, 10_000))?.text).toContain('+two');
    expect(await workspace.lookAtCommit('0'.repeat(40), 10_000)).toBeNull();
  });
});

describe('the files of a change', () => {
  const files = () => api.taskFiles({ project, task: task.number });
  const file = (path: string, maxBytes?: number) => api.taskFile({ project, task: task.number, path, maxBytes });
  const text = (content: string) => ({ text: content, isCut: false, isText: true });

  test('are listed with what happened to them, and each is read on both sides, committed or not', async () => {
    expect(await files()).toEqual({ of: 'nothing', files: [] });
    await begin();
    write('a.txt', 'one and a half\n');
    await workspace.capture(task, 'work');
    const odd = 'new <b>/ü "q".txt';
    write(odd, 'new\n');
    rmSync(join(folder, 'lib/b.txt'));
    write('lib/c.txt', 'two\n');
    const { of, files: found } = await files();
    expect(of).toBe('worktree');
    expect(found).toEqual([
      { path: 'a.txt', from: null, status: 'changed' },
      { path: 'lib/c.txt', from: 'lib/b.txt', status: 'renamed' },
      { path: odd, from: null, status: 'added' },
    ]);
    expect(await file('a.txt')).toMatchObject({ before: text('one\n'), after: text('one and a half\n') });
    expect(await file(odd)).toMatchObject({ before: null, after: text('new\n') });
    expect(await file('lib/c.txt')).toMatchObject({ before: text('two\n'), after: text('two\n') });
    expect((await file('a.txt', 2)).after).toEqual({ text: 'on', isCut: true, isText: true });
    rmSync(join(folder, 'lib/c.txt'));
    expect(await file('lib/b.txt')).toMatchObject({ status: 'deleted', before: text('two\n'), after: null });
  });

  test('are the only ones that can be read: no link is followed, and no other path is opened', async () => {
    writeFileSync(join(bed.home, 'secret.txt'), 'the secret\n');
    await begin();
    symlinkSync(join(bed.home, 'secret.txt'), join(folder, 'link.txt'));
    rmSync(join(folder, 'a.txt'));
    symlinkSync(join(bed.home, 'secret.txt'), join(folder, 'a.txt'));
    rmSync(join(folder, 'lib'), { recursive: true });
    symlinkSync(bed.home, join(folder, 'lib'));
    write('image.png', Buffer.from([0x89, 0x50, 0, 1]));
    const nothing = { text: '', isCut: false, isText: false };
    expect((await file('link.txt')).after).toEqual(nothing);
    expect(await file('a.txt')).toMatchObject({ before: text('one\n'), after: nothing });
    expect((await file('lib/b.txt')).after).toBeNull();
    expect((await file('image.png')).after).toEqual(nothing);
    for (const path of [
      'lib/secret.txt',
      '../secret.txt',
      join(bed.home, 'secret.txt'),
      '.git',
      '.tidemill/config.yaml',
    ])
      await expect(file(path)).rejects.toMatchObject({ code: 'not_found' });
    await expect(file('')).rejects.toMatchObject({ code: 'bad_input' });
  });
});

describe('the output of a gate', () => {
  const keep = async (text: Buffer | string) => {
    const logHash = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(bed.home, 'gates', `${logHash}.log`), text);
    return logHash;
  };
  const evidenceOf = async (...hashes: string[]) => {
    const receipts = hashes.map((logHash) => ({ logHash }));
    await bed.build(await bed.claim('agent-1', 'builder'), bed.repository.git('rev-parse', 'HEAD'), receipts);
    return (await api.task({ project, task: task.number })).evidence;
  };
  const log = (evidence: string, maxBytes?: number) => api.evidenceLog({ project, evidence, maxBytes });

  test('is complete, or its beginning and its end; characters are not cut in two', async () => {
    const text = `first ${'ü€😀'.repeat(5000)} last`;
    const [link] = await evidenceOf(await keep(text));
    expect(await log(link!.id)).toEqual({ text, isCut: false });
    for (let maxBytes = 100; maxBytes < 112; maxBytes += 1) {
      const cut = await log(link!.id, maxBytes);
      expect(cut.isCut).toBe(true);
      expect(cut.text).toMatch(/^first ü€[ü€😀]*\n\[0\.0 MB of output left out here\]\n[ü€😀]* last$/u);
    }
    expect((await log(link!.id, 1)).text).toMatch(/^f\n\[/);
  });

  test('is always valid text, and a message when it is no longer stored', async () => {
    const [first, second] = await evidenceOf(
      await keep(Buffer.from([0xff, 0xfe, 0x41, 0x1b, 0x5b, 0x32, 0x4a])),
      'f'.repeat(64),
    );
    expect(await log(first!.id)).toEqual({ text: '\ufffd\ufffdA\u001b[2J', isCut: false });
    expect(await log(second!.id)).toEqual({ text: expect.stringContaining('no longer stored'), isCut: false });
  });

  test('cannot be used to read another path', async () => {
    const [link] = await evidenceOf('../../secret');
    expect((await log(link!.id)).text).toContain('no longer stored');
    for (const id of ['../x', 'evidence_0', '%2e%2e'])
      await expect(log(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
