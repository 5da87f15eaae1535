import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrepareStep } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Prepared, Worktree } from '../../packages/daemon/src/ports.ts';
import { createPreparation } from '../../packages/daemon/src/prepare/preparation.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

/** What `prepare`, `include` and `.worktreeinclude` give to worktrees and to checkouts in which gates run. */
const FILES = {
  '.gitignore': 'deps/\n.env*\n',
  lock: 'one\n',
  'install.sh': 'mkdir -p deps; cat lock > deps/lib; echo "$PWD" >> "$RUNS"\n',
  'other.txt': 'other\n',
};
const READY: Prepared = { kind: 'ready' };
const { signal } = new AbortController();
let bed: Bed;
let runs: string;
beforeEach(async () => {
  bed = await makeBed({ files: FILES });
  runs = join(bed.folder, 'runs');
  writeFileSync(runs, '');
});
afterEach(() => bed.remove());

const timesRun = () => readFileSync(runs, 'utf8').split('\n').length - 1;
const at = (folder: { path: string }, name: string) => join(folder.path, name);
const read = (folder: { path: string }, name: string) => readFileSync(at(folder, name), 'utf8');
const open = (number: number): Promise<Worktree> => bed.workspace.open({ number, branch: `task/${number}-x` });

function preparation(step: object, include: string[] = []) {
  const { root, dataDir, workspace } = bed;
  const steps = [PrepareStep.parse({ files: ['lock'], network: false, env: { RUNS: runs }, ...step })];
  return createPreparation({
    steps,
    include,
    root,
    dataDir,
    workspace,
    onNote: () => undefined,
    host: { root, dataDir, homeId: dataDir, sandbox: 'off' },
    cacheDir: join(bed.folder, 'cache'),
  });
}

/** The work of a task with this text in its file `lock`, as it is after the agent has ended. */
async function withLock(worktree: Worktree, text: string): Promise<Worktree> {
  await write(worktree.path, { lock: text });
  const { commit } = await bed.workspace.capture(worktree, 'Work\n');
  return { ...worktree, tip: commit };
}

describe('the result of a prepare step', () => {
  it('is made once for each content of its files', async () => {
    const { worktree: prepare, checkout } = preparation({ run: 'sh install.sh' });
    const [one, two] = [await open(1), await open(2)];
    expect(await Promise.all([prepare(one, { signal }), prepare(two, { signal })])).toEqual([READY, READY]);
    await write(bed.root, { 'other.txt': 'changed\n' });
    await git(bed.root, 'commit', '-qam', 'Another commit, the same lock');
    const three = await open(3);
    await prepare(three, { signal });
    expect([one, two, three].map((each) => read(each, 'deps/lib'))).toEqual(['one\n', 'one\n', 'one\n']);
    expect(timesRun()).toBe(1);
    const changed = await withLock(two, 'two\n');
    const clean = await bed.workspace.checkOut(changed.tip);
    expect(await checkout(clean, { signal, base: two.base, taskNumber: two.number })).toEqual(READY);
    expect(read(clean, 'deps/lib')).toBe('two\n');
    await clean.close();
    expect(await prepare(changed, { signal })).toEqual(READY);
    expect([read(one, 'deps/lib'), read(two, 'deps/lib')]).toEqual(['one\n', 'two\n']);
    expect(timesRun()).toBe(2);
  });

  it('is a copy of its own for everybody: a change reaches neither the kept one nor another', async () => {
    const { worktree: prepare, checkout, settled } = preparation({ run: 'sh install.sh' });
    const [one, two] = [await open(1), await open(2)];
    await prepare(one, { signal });
    await prepare(two, { signal });
    appendFileSync(at(one, 'deps/lib'), 'evil\n');
    expect(read(two, 'deps/lib')).toBe('one\n');
    const first = await bed.workspace.checkOut(one.tip);
    await checkout(first, { signal });
    expect(read(first, 'deps/lib')).toBe('one\n');
    // What a gate does to its dependencies is gone before the next proof.
    appendFileSync(at(first, 'deps/lib'), 'evil\n');
    writeFileSync(at(first, 'deps/more'), 'evil\n');
    await first.reset();
    await checkout(first, { signal });
    expect(read(first, 'deps/lib')).toBe('one\n');
    expect(existsSync(at(first, 'deps/more'))).toBe(false);
    await first.close();
    await settled();
    const three = await open(3);
    await prepare(three, { signal });
    expect(read(three, 'deps/lib')).toBe('one\n');
    expect(timesRun()).toBe(1);
  });

  it.each([
    ['an environment of Python', 'touch deps/pyvenv.cfg'],
    ['a link with the whole path', 'ln -s "$PWD/lock" deps/link'],
    ['a script with the whole path', 'echo "#!$PWD/deps/lib" > deps/tool; chmod +x deps/tool'],
  ])('is made again where it cannot be moved: %s', async (_name, more) => {
    const { worktree: prepare } = preparation({ run: `sh install.sh; echo "$PWD" > deps/where; ${more}` });
    const [one, two] = [await open(1), await open(2)];
    await prepare(one, { signal });
    await prepare(two, { signal });
    expect([read(one, 'deps/where'), read(two, 'deps/where')]).toEqual([`${one.path}\n`, `${two.path}\n`]);
  });

  it('has the variables that its step names, and the machine’s settings for the network only with network', async () => {
    const mine = { TEST_TOKEN: 'passed', TEST_OTHER: 'not passed', PIP_INDEX_URL: 'https://mirror.invalid' };
    Object.assign(process.env, mine);
    try {
      for (const network of [true, false]) {
        const step = { run: 'mkdir -p deps; env > deps/env', env: { LEVEL: `net ${network}` }, pass: ['TEST_TOKEN'] };
        const worktree = await open(network ? 1 : 2);
        expect(await preparation({ ...step, network }).worktree(worktree, { signal })).toEqual(READY);
        const env = read(worktree, 'deps/env');
        expect(env).toMatch(/^TEST_TOKEN=passed$/m);
        expect(env).toContain(`LEVEL=net ${network}\n`);
        expect(env).not.toContain('TEST_OTHER');
        expect(env.includes('PIP_INDEX_URL=https://mirror.invalid')).toBe(network);
      }
    } finally {
      for (const name of Object.keys(mine)) delete process.env[name];
    }
  });
});

describe('a prepare step that fails', () => {
  const fails = (how: string) => ({ run: `grep -q one lock || { ${how}; }; sh install.sh` });

  it.each([
    ['a broken lock file', 'echo "lock is broken"; exit 1', false],
    ['a registry that does not answer', 'echo "npm error code ENOTFOUND"; exit 1', true],
    ['a certificate that nobody knows', 'echo "SELF_SIGNED_CERT_IN_CHAIN"; exit 1', true],
    ['a full disk', 'echo "write error: No space left on device"; exit 1', true],
    ['a program that is not there', 'exit 127', true],
    ['a kill for want of memory', 'exit 137', true],
  ])('on a change of its files is the change’s own fault, or the machine’s: %s', async (_name, how, isEnvironment) => {
    const { worktree: prepare } = preparation(fails(how));
    const changed = await withLock(await open(1), 'two\n');
    expect(await prepare(changed, { signal })).toMatchObject({ kind: 'failed', isEnvironment });
    // It does not affect worktrees with the target's files.
    expect(await prepare(await open(2), { signal })).toEqual(READY);
  });

  it('on the target’s own files is nobody’s fault, and is tried again', async () => {
    const { worktree: prepare } = preparation({ run: 'sh install.sh; test -e "$RUNS.fixed"' });
    const one = await open(1);
    expect(await prepare(one, { signal })).toMatchObject({ kind: 'failed', isEnvironment: true });
    writeFileSync(`${runs}.fixed`, '');
    expect(await prepare(one, { signal })).toEqual(READY);
    rmSync(`${runs}.fixed`);
  });
});

describe('included files of a worktree', () => {
  it('are those that git ignores, by the config and by .worktreeinclude', async () => {
    await write(bed.root, {
      '.env.test': 'A=1\n',
      '.env.local': 'B=1\n',
      '.env.secret': 'C=1\n',
      'draft.txt': 'mine\n',
      '.worktreeinclude': '# what tests need\n.env.local\ndraft.txt\n',
    });
    const one = await open(1);
    await preparation({ run: 'sh install.sh' }, ['.env.test', '../*']).worktree(one, { signal });
    expect([read(one, '.env.test'), read(one, '.env.local')]).toEqual(['A=1\n', 'B=1\n']);
    // A file that git does not ignore would become part of the agent's work.
    expect(['.env.secret', 'draft.txt'].filter((name) => existsSync(at(one, name)))).toEqual([]);
    const clean = await bed.workspace.checkOut(one.tip);
    await preparation({ run: 'sh install.sh' }, ['.env.test']).checkout(clean, { signal });
    expect(read(clean, '.env.test')).toBe('A=1\n');
    await clean.close();
  });

  it('are never reached through a link, whether it is the list, a folder or the file', async () => {
    await write(bed.root, { 'deps/real/.env.inner': 'D=1\n', '.env.secret': 'C=1\n', 'other.txt': '.env.secret\n' });
    symlinkSync('other.txt', join(bed.root, '.worktreeinclude'));
    symlinkSync('real', join(bed.root, 'deps/linked'));
    symlinkSync('.env.secret', join(bed.root, '.env.linked'));
    const one = await open(1);
    await preparation({ run: 'true' }, ['deps/linked/.env.inner', '.env.linked']).worktree(one, { signal });
    const names = ['.env.secret', '.env.linked', 'deps/linked/.env.inner'];
    expect(names.filter((name) => existsSync(at(one, name)))).toEqual([]);
  });
});
