import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

/** What an agent may leave in its worktree that is no ordinary file, or has no ordinary name. */
let task = { number: 0, branch: '' };
let bed: Bed;
let tree: string;
const servers: Server[] = [];
beforeAll(async () => {
  bed = await makeBed();
});
beforeEach(async () => {
  const number = task.number + 1;
  task = { number, branch: `task/${number}-a-b` };
  tree = (await bed.workspace.open(task)).path;
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => bed.remove());

const at = (...names: string[]) => join(tree, ...names);
const pipe = (...names: string[]) => execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', at(...names)]);
const put = (name: string, text = 'x\n') => write(tree, { [name]: text });
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const listen = (name: string) =>
  new Promise<void>((resolve) => servers.push(createServer().listen(at(name), () => resolve())));

interface Case {
  name: string;
  make: () => unknown;
  /** Captured exactly so, beside x.txt. */
  files?: string[];
  /** Or refused, once, with a reason like this. */
  refused?: RegExp;
}

const CASES: Case[] = [
  { name: 'a line break', make: () => put('a\nb'), files: ['a\nb'] },
  { name: 'a folder with line breaks', make: () => put('a\n/b\n/c\n'), files: ['a\n/b\n/c\n'] },
  { name: 'quotes and backslashes', make: () => put('"a\'b\\c"'), files: ['"a\'b\\c"'] },
  { name: 'leading dashes', make: () => put('--index-info'), files: ['--index-info'] },
  { name: 'pathspec magic', make: () => put(':(exclude)*'), files: [':(exclude)*'] },
  { name: 'a leading space and tabs', make: () => put(' a\tb '), files: [' a\tb '] },
  { name: 'control characters', make: () => put('a\u001b[31m\u0007'), files: ['a\u001b[31m\u0007'] },
  { name: 'an override of the direction', make: () => put('a\u202eb'), files: ['a\u202eb'] },
  { name: 'two forms of one letter', make: () => write(tree, { é: '1', 'e\u0301': '2' }), files: ['e\u0301', 'é'] },
  {
    name: 'bytes that are no UTF-8',
    make: () => writeFile(Buffer.from(`${tree}/a\xff`, 'latin1'), 'x'),
    files: ['a\ufffd'],
  },
  { name: 'a very long name', make: () => put('n'.repeat(255)), files: ['n'.repeat(255)] },
  {
    name: 'a very deep folder',
    make: () => put(`${'d/'.repeat(400)}f`),
    files: [`${'d/'.repeat(400)}f`],
  },
  { name: 'an empty folder', make: () => mkdir(at('empty')), files: [] },
  { name: 'a link to nowhere', make: () => symlink('/nowhere', at('link')), files: ['link'] },
  { name: 'a link to itself', make: () => symlink('loop', at('loop')), files: ['loop'] },
  {
    name: 'a folder replaced by a link out of the worktree',
    make: async () => {
      await rm(at('src'), { recursive: true });
      await mkdir(join(bed.folder, 'outside'));
      await writeFile(join(bed.folder, 'outside/a.txt'), 'secret\n');
      await symlink(join(bed.folder, 'outside'), at('src'));
    },
    files: ['src', 'src/a.txt'],
  },
  {
    name: 'a file replaced by a folder',
    make: async () => {
      await rm(at('README.md'));
      await put('README.md/x');
    },
    files: ['README.md', 'README.md/x'],
  },
  { name: '.GIT', make: () => put('.GIT/config'), refused: /\.GIT\/config has a name that git reserves/ },
  { name: 'git~1', make: () => put('git~1/config'), refused: /git~1\/config has a name/ },
  { name: '.git with a dot and a space', make: () => put('.git. /config'), refused: /has a name that git reserves/ },
  { name: '.git with a stream', make: () => put('.git::$INDEX_ALLOCATION/x'), refused: /has a name that git reserves/ },
  { name: '.git behind a backslash', make: () => put('a\\.git\\config'), refused: /has a name that git reserves/ },
  {
    name: '.git with ignored characters',
    make: () => put('.g\u200cit/config'),
    refused: /has a name that git reserves/,
  },
  {
    name: '.gitmodules as a link',
    make: () => symlink('README.md', at('.gitmodules')),
    refused: /\.gitmodules has a name/,
  },
  { name: 'a named pipe', make: () => pipe('pipe'), files: [] },
  { name: 'a socket', make: () => listen('socket'), files: [] },
  {
    name: 'a file replaced by a named pipe',
    make: async () => {
      await rm(at('README.md'));
      pipe('README.md');
    },
    refused: /README\.md is a named pipe, which git cannot store; remove it/,
  },
  {
    name: 'a file replaced by a socket',
    make: async () => {
      await rm(at('README.md'));
      await listen('README.md');
    },
    refused: /README\.md is a socket/,
  },
  { name: 'a pipe as .gitignore', make: () => mkdir(at('p')).then(() => pipe('p', '.gitignore')), files: [] },
  {
    name: 'a pipe as .gitattributes',
    make: () => put('p/y').then(() => pipe('p', '.gitattributes')),
    files: ['p/y'],
  },
  {
    name: 'a pipe as the HEAD of a nested repository',
    make: async () => {
      await mkdir(at('n'));
      await git(at('n'), 'init', '-q');
      await put('n/y');
      await rm(at('n/.git/HEAD'));
      pipe('n/.git/HEAD');
    },
    files: ['n/y'],
  },
  {
    name: 'a pipe as .git',
    make: async () => {
      await rm(at('.git'));
      pipe('.git');
    },
    files: [],
  },
  { name: 'a file that is one huge hole', make: () => hole('hole'), refused: /hole is larger than 2 GB/ },
  {
    name: 'an encoding that a file does not have',
    make: () => write(tree, { '.gitattributes': 'bad.txt working-tree-encoding=UTF-16\n', 'bad.txt': 'plain\n' }),
    refused: /bad\.txt could not be stored/,
  },
  {
    name: 'an encoding that it does have',
    make: async () => {
      await put('.gitattributes', 'good.txt working-tree-encoding=UTF-16LE\n');
      await writeFile(at('good.txt'), utf16('hello\n'));
    },
    files: ['.gitattributes', 'good.txt'],
  },
  {
    name: 'attributes that name drivers nobody has',
    make: () => write(tree, { '.gitattributes': '* filter=no diff=no merge=no ident eol=crlf\n' }),
    files: ['.gitattributes'],
  },
];

async function hole(name: string): Promise<void> {
  await writeFile(at(name), '');
  await truncate(at(name), 2 ** 40);
}

describe('a file that lies in a worktree', () => {
  it.each(CASES)('is captured, or refused once: $name', { timeout: 30_000 }, async ({ make, files, refused }) => {
    await put('x.txt');
    await make();
    await bed.workspace.lookAtWork(task, 100_000);
    const captured = await bed.workspace.capture(task, 'Work\n');
    expect(captured.files).toContain('x.txt');
    if (files) {
      expect(captured.refused).toEqual([]);
      expect(captured.files.toSorted()).toEqual([...files, 'x.txt'].toSorted());
    }
    if (refused) {
      expect(captured.refused).toEqual([expect.stringMatching(refused)]);
      expect(captured.notes).toEqual(expect.arrayContaining(captured.refused));
    }
    // The note about it is safe to show.
    expect(JSON.stringify(captured.notes)).not.toMatch(/\\u00|\u202e/);
    // A second capture neither fails nor finds anything new, and the worktree can be put back.
    expect((await bed.workspace.capture(task, 'Again\n')).tree).toBe(captured.tree);
    await bed.workspace.restore(task, 'put back');
    await bed.workspace.remove(task);
  });

  it('that is refused with many others is named once for all, not one by one', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `bad-${index}.txt`);
    await write(tree, Object.fromEntries(names.map((name) => [name, 'plain\n'])));
    await write(tree, { '.gitattributes': 'bad-* working-tree-encoding=UTF-16\n', 'good.txt': 'good\n' });
    const { refused, files } = await bed.workspace.capture(task, 'Work\n');
    expect(refused).toHaveLength(21);
    expect(refused.at(-1)).toBe('… and 100 more like these');
    expect(files).toEqual(['.gitattributes', 'good.txt']);
  });

  it('is refused when it is a device', async (context) => {
    await rm(at('README.md'));
    try {
      execFileSync('sh', ['-c', 'mknod "$1" c 1 3', 'sh', at('README.md')], { stdio: 'ignore' });
    } catch {
      context.skip(true, 'no device file can be made here');
    }
    expect((await bed.workspace.capture(task, 'Work\n')).refused).toEqual([expect.stringMatching(/is a device/)]);
  });

  it('is taken as it is found when it grows while it is read', async () => {
    await put('grows.txt');
    const captured = await bed.workspace.capture(task, 'Work\n');
    await appendFile(at('grows.txt'), 'more\n');
    expect((await bed.workspace.capture(task, 'More\n')).tree).not.toBe(captured.tree);
  });
});
