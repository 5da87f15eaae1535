import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessTimes } from './access-times.ts';
import { type ChildEnd, startChild } from './child.ts';
import { observe, observingStatus } from './observe.ts';
import { FileTrace } from './trace.ts';

const status = await observingStatus();
let home: string;
let root: string;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'tm observe ')));
  root = join(home, 'checkout');
  const files = {
    'a.sh': 'echo a',
    'lib/b.txt': 'b',
    'sub/c.txt': 'c',
    'link-target/d.txt': 'd',
    'n\newline.txt': 'n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  await symlink('link-target', join(root, 'linked'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function run(script: string, sandbox: 'auto' | 'off' = 'auto', timeoutMs = 60_000) {
  const observation = await observe(root, 'all', { root: home, sandbox });
  const ended: ChildEnd = await startChild({
    host: { root: home, dataDir: join(home, 'data'), homeId: 'observe-test', sandbox },
    runId: `observe_${Math.random()}`,
    command: ['sh', '-c', script],
    cwd: root,
    network: false,
    timeoutMs,
    onOutput: () => undefined,
    ...(observation.onTrace ? { onTrace: observation.onTrace } : {}),
  }).end;
  return { ended, reads: (await observation.end())! };
}

describe('a traced command', () => {
  test('shows what it opens, executes, lists and looks for in vain', async (context) => {
    context.skip(!status.traces, status.why);
    const { ended, reads } = await run(
      [
        '. ./a.sh; test -f flag; test -e lib/b.txt; ls sub >/dev/null; cat linked/d.txt; cd sub; cat c.txt',
        'cat ../nothing.cfg; cat /proc/self/cwd/c.txt; cat "../n\newline.txt"; exit 3',
      ].join('\n'),
    );
    expect(ended).toMatchObject({ kind: 'exited', exitCode: 3 });
    expect(reads.files).toEqual(
      expect.arrayContaining(['a.sh', 'link-target/d.txt', 'linked/d.txt', 'sub/c.txt', 'n\newline.txt']),
    );
    expect(reads.files).not.toContain('lib/b.txt');
    expect(reads.seen).toContain('lib/b.txt');
    expect(reads.missing).toEqual(expect.arrayContaining(['flag', 'nothing.cfg']));
    expect(reads.folders).toContain('sub');
  });

  test('does not get the stream of the tracer, and ends with its detached processes', async (context) => {
    context.skip(!status.traces, status.why);
    const script = '(setsid sleep 300 &) ; readlink /proc/self/fd/4 | grep -q socket && exit 9; exit 0';
    const { ended } = await run(script);
    expect(ended).toMatchObject({ kind: 'exited', exitCode: 0 });
  });

  test('ends at its time limit', async (context) => {
    context.skip(!status.traces, status.why);
    const { ended } = await run('trap "" TERM; while :; do cat a.sh; done', 'auto', 500);
    expect(ended).toEqual({ kind: 'timeout' });
  });
});

describe('a command without a sandbox', () => {
  test('is observed by access times, and leaves no process behind', async (context) => {
    context.skip(!status.times, status.why);
    const { ended, reads } = await run('(setsid sleep 300 &) ; cat a.sh; exit 0', 'off');
    expect(ended).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(reads.files).toEqual(['a.sh']);
  });
});

describe('a trace', () => {
  const lines = (...text: string[]) => {
    const trace = new FileTrace('/w');
    // In pieces, as a pipe delivers it.
    for (const part of text
      .join('\n')
      .concat('\n')
      .match(/[\s\S]{1,7}/g) ?? [])
      trace.take(Buffer.from(part, 'latin1'));
    return trace.result();
  };

  test('joins calls that are printed in two parts, and follows the current folder of each process', () => {
    const reads = lines(
      '1 openat(AT_FDCWD</w/sub>, "a", O_RDONLY <unfinished ...>',
      '2 openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b>',
      '1 <... openat resumed>) = 3</w/sub/a>',
      '1 access("c", F_OK) = -1 ENOENT (No such file or directory)',
      '2 access("c", F_OK) = -1 ENOENT (No such file or directory)',
      '2 execve("./d", ["./d"], 0x1 /* 9 vars */) = 0',
    );
    expect(reads).toMatchObject({ files: ['b', 'd', 'sub/a'], missing: ['c', 'sub/c'] });
  });

  test('reads escaped names, ignores what is outside and in .git, and survives anything else', () => {
    const reads = lines(
      '1 openat(AT_FDCWD</w>, "\\303\\274\\n\\"x", O_RDONLY) = 3</w/\\303\\274\\n"x>',
      '1 openat(AT_FDCWD</w>, ".git/config", O_RDONLY) = 3</w/.git/config>',
      '1 openat(AT_FDCWD</w>, "../etc", O_RDONLY) = 3</etc>',
      'nonsense ((((',
      '1 <... openat resumed>) = 3',
      '',
    );
    expect(reads).toMatchObject({ files: ['ü\n"x'], missing: [], folders: [] });
    expect(new FileTrace('/w').result()).toBeNull();
  });
});

describe('access times', () => {
  test('show which files were read, also by another name, and notice a time that was set back', async (context) => {
    context.skip(!status.times, status.why);
    await writeFile(join(root, 'unread'), 'x');
    const times = await AccessTimes.begin(root, ['a.sh', 'lib/b.txt', 'sub/c.txt', 'unread', 'gone']);
    await promisify(execFile)('sh', ['-c', 'ln lib/b.txt other; cat other; cat sub/c.txt'], { cwd: root });
    await utimes(join(root, 'sub/c.txt'), new Date('2001-02-03T04:05:06Z'), new Date());
    const { read, watched } = await times.end();
    expect(read).toEqual(['lib/b.txt', 'sub/c.txt']);
    expect(watched.sort()).toEqual(['a.sh', 'lib/b.txt', 'sub/c.txt', 'unread']);
  });

  test('of two watchers of one folder, the second does not hide what the first saw', async (context) => {
    context.skip(!status.times, status.why);
    const first = await AccessTimes.begin(root, ['a.sh']);
    await promisify(execFile)('cat', ['a.sh'], { cwd: root });
    const second = await AccessTimes.begin(root, ['a.sh']);
    expect((await second.end()).read).toEqual([]);
    expect((await first.end()).read).toEqual(['a.sh']);
  });
});
