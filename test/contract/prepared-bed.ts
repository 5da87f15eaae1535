import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrepareStep } from '@tidemill/contract';
import { expect } from 'vitest';
import type { Preparation, Prepared, Worktree } from '../../packages/daemon/src/ports.ts';
import { createPreparation } from '../../packages/daemon/src/prepare/preparation.ts';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

export const GOOD = 'mkdir -p deps; cat lock > deps/lib; echo "$PWD" >> "$RUNS"\n';
export const EVIL = 'mkdir -p deps; echo evil > deps/lib\n';
const FILES = { '.gitignore': 'deps/\n', lock: 'one\n', 'install.sh': GOOD, 'packages/a/x.txt': 'x\n' };
export const READY: Prepared = { kind: 'ready' };
export const { signal } = new AbortController();

export type PreparedBed = Awaited<ReturnType<typeof makePreparedBed>>;

/** A repository with a script that installs, and what tasks and people do to it. */
export async function makePreparedBed({ run = 'sh install.sh', files = {} as Record<string, string> } = {}) {
  const bed: Bed = await makeBed({ files: { ...FILES, ...files } });
  const runs = join(bed.folder, 'runs');
  const cacheDir = join(bed.folder, 'cache');
  writeFileSync(runs, '');
  const open = (number: number): Promise<Worktree> => bed.workspace.open({ number, branch: `task/${number}-x` });
  return {
    bed,
    cacheDir,
    open,
    timesRun: () => readFileSync(runs, 'utf8').split('\n').length - 1,
    kept: () => readdirSync(join(bed.dataDir, 'prepared')).filter((name) => name !== 'places'),
    preparation(): Preparation {
      const { root, dataDir, workspace } = bed;
      const step = { run, files: ['lock'], network: false, env: { RUNS: runs } };
      return createPreparation({
        steps: [PrepareStep.parse(step)],
        include: [],
        root,
        dataDir,
        workspace,
        onNote: () => undefined,
        host: { root, dataDir, homeId: dataDir, sandbox: 'off' },
        cacheDir,
      });
    },
    /** The work of a task with these files, as it is after the agent has ended. */
    async handIn(worktree: Worktree, files: Record<string, string>): Promise<Worktree> {
      await write(worktree.path, files);
      const { commit } = await bed.workspace.capture(worktree, 'Work\n');
      return { ...worktree, tip: commit };
    },
    /** A person's own commit. */
    async commit(files: Record<string, string>): Promise<string> {
      await write(bed.root, files);
      await git(bed.root, 'add', '-A');
      await git(bed.root, 'commit', '-qm', 'By hand');
      return git(bed.root, 'rev-parse', 'HEAD');
    },
    /** What a proof of the commit finds among its dependencies. */
    async proven(prepare: Preparation, commit: string, task?: Worktree): Promise<string> {
      const clean = await bed.workspace.checkOut(commit);
      try {
        const by = task ? { taskNumber: task.number, base: task.base } : {};
        expect(await prepare.checkout(clean, { signal, ...by })).toEqual(READY);
        return readFileSync(join(clean.path, 'deps/lib'), 'utf8');
      } finally {
        await clean.close();
      }
    },
    /** What an agent finds among its dependencies. */
    async foundBy(prepare: Preparation, number: number): Promise<string> {
      const worktree = await open(number);
      expect(await prepare.worktree(worktree, { signal })).toEqual(READY);
      return readFileSync(join(worktree.path, 'deps/lib'), 'utf8');
    },
  };
}
