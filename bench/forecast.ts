import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../packages/daemon/src/clock.ts';
import type { Workspace } from '../packages/daemon/src/ports.ts';
import { openWorkspace } from '../packages/daemon/src/workspace/workspace.ts';
import { type BenchOptions, sized } from './options.ts';
import { git } from './repository.ts';
import { row, type Section } from './row.ts';
import { median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const BRANCHES = 10;
const FILES = 2_000;
const MANY_FILES = 50_000;

/** What a forecast costs after a capture: one branch against nine others and the target, and all of them. */
export async function run(options: BenchOptions): Promise<Section> {
  const rounds = sized(options, 15, 5);
  const usual = await measured(FILES, rounds);
  const large = options.quick ? null : await measured(MANY_FILES, rounds);
  const rows = (files: number, found: Figures, isJudged: boolean) => [
    row({
      name: `after a capture, ${BRANCHES} branches that all meet, ${files} files`,
      ...{ value: found.afterCapture, unit: 'ms' },
      ...(isJudged && { target: { atMost: 200 } }),
      peer: { name: 'a git merge-tree each', value: found.bare },
    }),
    row({ name: `the same with branches that share no file, ${files} files`, value: found.apart, unit: 'ms' }),
    row({ name: `all pairs of ${BRANCHES}, nothing known yet, ${files} files`, value: found.allPairs, unit: 'ms' }),
  ];
  return {
    name: 'forecast',
    title: 'The conflict forecast',
    rows: [...rows(FILES, usual, true), ...(large ? rows(MANY_FILES, large, false) : [])],
    notes: [
      'After a capture: a new commit against nine other branches and the target, which has moved. Four of them conflict.',
      ...(large ? [] : [`Without --quick also with ${MANY_FILES} files.`]),
    ],
  };
}

interface Figures {
  afterCapture: number;
  bare: number;
  apart: number;
  allPairs: number;
}

async function measured(files: number, rounds: number): Promise<Figures> {
  return inTemporaryFolder(async (folder) => {
    const root = join(folder, 'repository');
    await makeRepository(root, files);
    const dataDir = join(folder, 'data');
    const open = () =>
      openWorkspace({ root, target: 'main', landing: 'squash', push: 'never', clock: systemClock, dataDir });
    const workspace = await open();
    const heads = await commitAll(
      root,
      'first',
      Array.from({ length: BRANCHES }, (_, number) => number),
    );
    await importFiles(root, 'main', FIRST, { 'lib-0/part-0.js': source(0, { 30: 'the target' }) });
    const [first = '', ...others] = heads;
    await workspace.forecast(first, others);
    const times: Record<keyof Figures, number[]> = { afterCapture: [], bare: [], apart: [], allPairs: [] };
    for (let round = 0; round < rounds; round += 1) {
      const [commit = '', apart = ''] = await commitAll(root, `round ${round}`, [0, BRANCHES]);
      // A capture knows the files of its own change.
      for (const own of [commit, apart]) await workspace.filesIn(own, 'base');
      times.afterCapture.push(await timed(() => workspace.forecast(commit, others)));
      const target = await workspace.targetCommit();
      times.bare.push(await timed(() => bareMerges(root, commit, [...others, target])));
      times.apart.push(await timed(() => workspace.forecast(apart, others)));
      const fresh = await open();
      times.allPairs.push(await timed(() => everyPair(fresh, [commit, ...others])));
      await fresh.close();
    }
    await workspace.close();
    return {
      afterCapture: median(times.afterCapture),
      bare: median(times.bare),
      apart: median(times.apart),
      allPairs: median(times.allPairs),
    };
  });
}

/** The same question without Tidemill: one process per pair, one after the other. */
async function bareMerges(root: string, commit: string, others: string[]): Promise<void> {
  for (const other of others) await git(root, 'merge-tree', '--write-tree', commit, other).catch(() => 'a conflict');
}

async function everyPair(workspace: Workspace, heads: string[]): Promise<void> {
  for (const [at, head] of heads.entries()) await workspace.forecast(head, heads.slice(at + 1));
}

const source = (file: number, changed: Record<number, string>) =>
  `${Array.from({ length: 40 }, (_, line) => changed[line] ?? `export const value${line} = ${file * line};`).join('\n')}\n`;

/** All branches but the last change the same file: the even ones the same line, the odd ones lines of their own. */
async function commitAll(root: string, word: string, numbers: number[]): Promise<string[]> {
  const commits: string[] = [];
  for (const number of numbers) {
    const line = number % 2 === 0 ? 5 : 5 + number * 3;
    const file = number < BRANCHES ? 0 : 100;
    const changed = { [line]: `// ${number} ${word}` };
    commits.push(
      await importFiles(root, `branch-${number}`, FIRST, {
        [`lib-0/part-${file}.js`]: source(file, changed),
        [`own-${number}.js`]: `export const own = '${word}';\n`,
      }),
    );
  }
  return commits;
}

/** The branches begin here, before the target moves. */
const FIRST = 'first';

async function makeRepository(root: string, files: number): Promise<void> {
  await mkdir(root, { recursive: true });
  await git(root, 'init', '-q', '-b', 'main');
  const all = Array.from({ length: files }, (_, at) => [`lib-${at % 100}/part-${at}.js`, source(at, {})]);
  await importFiles(root, 'main', null, Object.fromEntries(all));
  await git(root, 'branch', FIRST);
}

/** A commit made without a checkout: only the objects matter here. */
async function importFiles(
  root: string,
  branch: string,
  from: string | null,
  files: Record<string, string>,
): Promise<string> {
  const child = spawn('git', ['fast-import', '--quiet', '--force'], {
    cwd: root,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close');
  const parent = from === null ? '' : `from refs/heads/${from}\n`;
  child.stdin.write(`commit refs/heads/${branch}\ncommitter Bench <bench@localhost> 1 +0000\ndata 4\nwork\n${parent}`);
  for (const [path, text] of Object.entries(files))
    child.stdin.write(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  child.stdin.end('done\n');
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  return git(root, 'rev-parse', branch);
}
