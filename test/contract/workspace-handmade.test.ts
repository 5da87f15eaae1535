import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
afterEach(() => bed.remove());

const HOUR = 3_600_000;
const TEN = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join('');

/** Lands these files as task 1. */
async function land(files: Record<string, string>, landing: 'squash' | 'merge' = 'squash'): Promise<string> {
  bed = await makeBed({ landing });
  const task = { number: 1, branch: 'task/1-t' };
  const { path } = await bed.workspace.open(task);
  await write(path, files);
  await bed.workspace.capture(task, 'Task 1\n');
  const candidate = await bed.workspace.candidate(task);
  if (candidate.kind !== 'clean') throw new Error(candidate.kind);
  const commit = await bed.workspace.seal(task, candidate, `Add it\n\nTask: #1\nEvidence: ${'a'.repeat(64)}\n`);
  expect(await bed.workspace.land(commit, candidate.base)).toEqual({ kind: 'landed' });
  return commit;
}
async function byHand(files: Record<string, string>, message: string): Promise<string> {
  await write(bed.root, files);
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', message);
  return git(bed.root, 'rev-parse', 'HEAD');
}
const look = (landed: string[], more: { since?: number; seen?: Set<string> } = {}) =>
  bed.workspace.commitsByPeople({ since: Date.now() - HOUR, landed, seen: new Set(), ...more });

describe('commits that people make after a landing', () => {
  it('name with a revert what it reverts, and whose lines are gone', async () => {
    const landed = await land({ 'src/ten.txt': TEN });
    await git(bed.root, 'revert', '--no-edit', landed);
    const [made] = await look([landed]);
    expect(made).toMatchObject({ author: 'Ada', subject: 'Revert "Add it"', reverts: [landed] });
    expect(made?.rewrites).toMatchObject([{ landed, files: ['src/ten.txt'], lines: 10 }]);
  });

  it.each(['squash', 'merge'] as const)(
    'count with the replaced lines of the landed change alone (%s)',
    async (landing) => {
      const landed = await land({ 'src/ten.txt': TEN, 'README.md': 'hello\nfrom the task\n' }, landing);
      const mine = TEN.replace('line 3\nline 4\nline 5\n', 'three\nfour\nfive\nsix\n');
      const commit = await byHand({ 'src/ten.txt': mine, 'src/a.txt': 'other\n' }, 'Say it in words');
      const found = await look([landed]);
      expect(found.filter((each) => each.rewrites.length > 0)).toMatchObject([
        { commit, subject: 'Say it in words', rewrites: [{ landed, files: ['src/ten.txt'], lines: 3 }] },
      ]);
      expect(found[0]?.rewrites[0]?.patch).toContain('-line 3');
      expect(found[0]?.rewrites[0]?.patch).toContain('+three');
    },
  );

  it('rewrite nothing with added lines and other files', async () => {
    const landed = await land({ 'src/ten.txt': TEN });
    await byHand({ 'src/ten.txt': `${TEN}more\n`, 'src/a.txt': 'other\n' }, 'Add more');
    expect((await look([landed]))[0]).toMatchObject({ subject: 'Add more', rewrites: [] });
  });

  it('do not include Tidemill’s own commits, old ones and those that were seen', async () => {
    const landed = await land({ 'src/ten.txt': TEN });
    const commit = await byHand({ 'src/ten.txt': 'gone\n' }, 'Replace');
    expect((await look([landed])).map((each) => each.commit)).not.toContain(landed);
    expect((await look([landed], { seen: new Set([commit]) })).map((each) => each.commit)).not.toContain(commit);
    expect(await look([landed], { since: Date.now() + HOUR })).toEqual([]);
    expect(await look([])).toMatchObject([{ commit, rewrites: [] }, {}]);
    expect(await look(['f'.repeat(40)])).toMatchObject([{ commit, rewrites: [] }, {}]);
  });

  it('are read up to 100 at once, however busy a person was', async () => {
    await land({ 'a.txt': 'a\n' });
    const at = Math.floor(Date.now() / 1000);
    const commits = Array.from({ length: 101 }, (_, n) => {
      const from = n === 0 ? 'from refs/heads/main^0\n' : '';
      return `commit refs/heads/main\ncommitter Ada <ada@example.org> ${at} +0000\ndata 4\nBusy\n${from}`;
    });
    execFileSync('git', ['fast-import', '--quiet'], { cwd: bed.root, input: commits.join('') });
    expect(await look([])).toHaveLength(100);
  });

  it('do no harm with unusual names, deleted files and hidden characters', async () => {
    const name = 'src/a "b" [c]*\n.txt';
    const landed = await land({ [name]: TEN, 'gone.txt': TEN });
    await git(bed.root, 'rm', '-q', 'gone.txt');
    await byHand({ [name]: 'x\n' }, 'Tidy \u001b[31mup\u202e');
    const [made] = await look([landed]);
    expect(made?.subject).toBe('Tidy up');
    expect(made?.rewrites).toMatchObject([{ lines: 20 }]);
    expect(await readFile(join(bed.root, name), 'utf8')).toBe('x\n');
  });
});
