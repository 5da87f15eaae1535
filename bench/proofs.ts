import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PrepareStep } from '@tidemill/contract';
import { systemClock } from '../packages/daemon/src/clock.ts';
import type { Workspace } from '../packages/daemon/src/ports.ts';
import { createPreparation } from '../packages/daemon/src/prepare/preparation.ts';
import { openWorkspace } from '../packages/daemon/src/workspace/workspace.ts';
import { type BenchOptions, sized } from './options.ts';
import { changeOf, git } from './repository.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const execute = promisify(execFile);
const FILES = 2_000;
const DEPENDENCIES = 20_000;
const BYTES_EACH = 6_500;

/** What a clean checkout adds to a proof, and what a further worktree's dependencies cost. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const root = join(folder, 'repository');
    const dataDir = join(folder, 'data', 'project');
    await makeLargeRepository(root);
    const workspace = await openWorkspace({
      root,
      target: 'main',
      landing: 'squash',
      push: 'never',
      dataDir,
      clock: systemClock,
    });
    const proofs = await proofTimes(workspace, sized(options, 25, 5));
    const planted = await plantTimes(workspace, sized(options, 25, 5));
    const copies = await copyTimes(workspace, { root, dataDir, folder }, sized(options, 7, 2));
    await workspace.close();
    return {
      name: 'proofs',
      title: 'Clean checkouts for proofs, and dependencies for worktrees',
      rows: [
        row({
          name: `a clean proof with one gate, beside the gate's own time, ${FILES} files`,
          ...{ value: median(proofs), unit: 'ms', target: { atMost: 150 } },
        }),
        row({
          name: `a tripwire before landing, beside one run of the gates, ${FILES} files`,
          ...{ value: median(planted), unit: 'ms', target: { atMost: 400 } },
        }),
        row({
          name: `dependencies of a further worktree, ${DEPENDENCIES} files, ${Math.round((DEPENDENCIES * BYTES_EACH) / 1e6)} MB`,
          ...{ value: median(copies.given), unit: 'ms', target: { ratioAtMost: 0.3 } },
          peer: { name: 'cp -a', value: median(copies.copied) },
        }),
      ],
      notes: [
        'The proof: a checkout moved to the commit, the files compared after the gate, the checkout tidied for the next.',
        'Each worktree gets a copy of its own; the next copy is made ahead of need, and that time is not in the figure.',
      ],
    };
  });
}

async function makeLargeRepository(root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  await git(root, 'init', '-q', '-b', 'main');
  for (let at = 0; at < FILES; at += 1) {
    const at20 = join(root, `lib-${at % 100}`);
    if (at < 100) await mkdir(at20);
    await writeFile(join(at20, `part-${at}.js`), `export const value = ${at};\n`.repeat(20));
  }
  await writeFile(join(root, '.gitignore'), 'node_modules/\n');
  await git(root, 'add', '-A');
  await git(root, 'commit', '-q', '-m', 'Start');
}

/** Two commits in turn, as proofs of different tasks are. */
async function proofTimes(workspace: Workspace, rounds: number): Promise<number[]> {
  const commits: string[] = [];
  for (const number of [1, 2]) {
    const task = { number, branch: `task/${number}-bench` };
    const { path } = await workspace.open(task);
    await changeOf(path, number);
    commits.push((await workspace.capture(task, 'work')).commit);
  }
  const proof = async (commit: string) => {
    const checkout = await workspace.checkOut(commit);
    await checkout.changes();
    await checkout.close();
  };
  for (const commit of commits) await proof(commit);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await timed(() => proof(commits[round % 2]!)));
  return times;
}

/** A commit with a fault in one file, checked out beside the proofs. A gate then runs once. */
async function plantTimes(workspace: Workspace, rounds: number): Promise<number[]> {
  const target = await workspace.targetCommit();
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1)
    times.push(
      await timed(async () => {
        const texts = new Map([['lib-1/part-1.js', `export const value = ${round + 2};\n`]]);
        const { commit } = await workspace.withTexts(target, texts);
        const checkout = await workspace.checkOut(commit);
        await checkout.close();
      }),
    );
  return times.slice(1);
}

async function copyTimes(
  workspace: Workspace,
  { root, dataDir, folder }: { root: string; dataDir: string; folder: string },
  rounds: number,
): Promise<{ given: number[]; copied: number[] }> {
  const made = join(folder, 'dependencies');
  for (let at = 0; at < DEPENDENCIES; at += 1) {
    const part = join(made, `package-${at % 400}`);
    if (at < 400) await mkdir(part, { recursive: true });
    await writeFile(join(part, `file-${at}.js`), 'x'.repeat(BYTES_EACH));
  }
  const preparation = createPreparation({
    steps: [PrepareStep.parse({ run: `cp -a ${made} node_modules`, network: false })],
    include: [],
    root,
    dataDir,
    workspace,
    cacheDir: join(folder, 'cache'),
    onNote: () => undefined,
    host: { root, dataDir: join(folder, 'data'), homeId: 'bench', sandbox: 'off' },
  });
  const signal = new AbortController().signal;
  let number = 10;
  const open = () => workspace.open({ number: ++number, branch: `task/${number}-bench` });
  await preparation.worktree(await open(), { signal });
  const copied = join(folder, 'copied');
  return interleaved(rounds, {
    given: async () => {
      await preparation.settled();
      const worktree = await open();
      return timed(() => preparation.worktree(worktree, { signal }));
    },
    copied: async () => {
      const time = await timed(() => execute('cp', ['-a', made, copied]));
      await rm(copied, { recursive: true });
      return time;
    },
  });
}
