import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EventBody, personActor, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mill, memoryPlace, open, type Place, PROJECT, rules } from '../../../../../test/contract/store-bed.ts';
import { type Bed, git, makeBed, write } from '../../../../../test/contract/workspace-bed.ts';
import { FolderImage } from '../../../../../test/support/folder-image.ts';
import type { Store } from '../../ports.ts';
import { abortConflict, checkConflict, finishSettling, settleConflict } from './conflict.ts';
import { emergencyCommands, purgeQueue, recoverStuck, reportOf } from './emergency.ts';
import { restartWorker } from './restart.ts';
import { takeLeases } from './take-leases.ts';

class Died extends Error {}

/** The store of a process that is killed at write number `at`, before or after the write takes effect. */
function dyingAt(store: Store, at: number, isAfter: boolean): { store: Store; hasDied(): boolean } {
  let writes = 0;
  const dying = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (writes < at) return write();
    if (writes === at && isAfter) await write();
    throw new Died();
  };
  const own = {
    ...store,
    execute: (command: Command) => dying(() => store.execute(command)),
    executeAll: (commands: readonly Command[]) => dying(() => store.executeAll(commands)),
  };
  return { store: own, hasDied: () => writes >= at };
}

/** Runs the flow once for every point at which its process could die, and finally without a crash. */
async function atEachDeath(
  prepare: () => Promise<void>,
  flow: (store: Store) => Promise<unknown>,
  then: () => Promise<void>,
) {
  for (let at = 1; ; at += 1) {
    for (const isAfter of [false, true]) {
      await prepare();
      const dying = dyingAt(mill.store, at, isAfter);
      await flow(dying.store).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      await then();
      if (!dying.hasDied()) return at;
      await afterOne();
      await beforeOne();
    }
  }
}

let place: Place;
let mill: Mill;
const beforeOne = async () => {
  place = await memoryPlace();
  mill = await (await open(place)).register();
};
const afterOne = async () => {
  await mill.store.close();
  await place.remove();
};
beforeEach(beforeOne);
afterEach(afterOne);

const eventsOf = async (...types: EventBody['type'][]) =>
  (await mill.store.events({ types, limit: 100 })).map(({ body }) => body);
const noWorkspace = <T>(work: (workspace: { snapshot(): Promise<null> }) => Promise<T>) =>
  work({ snapshot: async () => null });
const project = async () => (await mill.store.project(PROJECT))!;

describe('a flow that dies at any point has full effect or none', { timeout: 120_000 }, () => {
  const busy = async () => {
    await mill.worker('w1');
    await mill.worker('w2');
    for (let count = 1; count <= 3; count += 1) await mill.create();
    await mill.mustClaim('w1');
    await mill.mustClaim('w2');
  };
  const isOnRecord = async () => (await eventsOf('emergency.executed')).length === 1;
  const desired = async () => (await mill.store.workers(PROJECT)).map((worker) => worker.desired);

  test.each([false, true])('in a restart (reset: %s)', async (isReset) => {
    const crashed = async () => {
      await busy();
      await mill.must({ type: 'worker.crash', projectId: PROJECT, workerId: `${PROJECT}/w1`, error: 'x' });
    };
    const restart = async (store: Store) => {
      const worker = (await store.workers(PROJECT)).find(({ name }) => name === 'w1')!;
      await restartWorker(store, worker, { by: personActor('ada'), isReset });
    };
    const deaths = await atEachDeath(crashed, restart, async () => {
      const done = await isOnRecord();
      const worker = (await mill.store.workers(PROJECT)).find(({ name }) => name === 'w1')!;
      expect(worker).toMatchObject({ desired: 'running', crash: done ? null : { error: 'x' } });
      expect(await eventsOf('worker.reset')).toHaveLength(done && isReset ? 1 : 0);
      const held = (await mill.store.leased(PROJECT)).map(({ lease }) => lease!.workerId.split('/')[1]);
      expect(held).toEqual(done ? ['w2'] : ['w1', 'w2']);
    });
    expect(deaths).toBe(2);
  });

  test('in an emergency stop without an engine', async () => {
    const stop = async (store: Store) => {
      const left = await store.leased(PROJECT);
      const ids = (await store.workers(PROJECT)).map(({ id }) => id);
      const commands = emergencyCommands(PROJECT, ids, { by: personActor('ada'), reason: 'smoke' }, reportOf(left));
      await takeLeases({ store, withWorkspace: noWorkspace }, left, { by: personActor('ada'), why: 'stop' }, commands);
    };
    await atEachDeath(busy, stop, async () => {
      const done = await isOnRecord();
      expect(await desired()).toEqual(Array(2).fill(done ? 'stopped' : 'running'));
      expect(await mill.store.leased(PROJECT)).toHaveLength(done ? 0 : 2);
    });
  });

  test('in the recovery of stuck tasks', async () => {
    const recover = async (store: Store) =>
      recoverStuck(
        { store, withWorkspace: noWorkspace },
        await project(),
        await store.leased(PROJECT),
        personActor('ada'),
      );
    await atEachDeath(busy, recover, async () => {
      expect(await mill.store.leased(PROJECT)).toHaveLength((await isOnRecord()) ? 0 : 2);
    });
  });

  test('in a purge, and tasks that started meanwhile stay', async () => {
    const open = async () => {
      for (let count = 1; count <= 3; count += 1) await mill.create();
    };
    await atEachDeath(
      open,
      async (store) => purgeQueue(store, await project(), personActor('ada')),
      async () => {
        const stages = (await mill.store.tasks({ projectId: PROJECT })).map(({ stage }) => stage);
        expect(stages).toEqual(Array(3).fill((await isOnRecord()) ? 'cancelled' : 'open'));
      },
    );
  });
});

describe('a conflict', { timeout: 120_000 }, () => {
  let bed: Bed;
  let task: Task;
  const FILE = { 'a.txt': 'one\n' };
  let made: { bed: Bed; image: FolderImage } | null = null;
  /** The conflict of a task, partly resolved. It is made once and then put back where it was. */
  const inGit = async () => {
    if (made) {
      made.image.writeTo(made.bed.folder);
      bed = { ...made.bed, workspace: await made.bed.reopen() };
      return;
    }
    bed = await makeBed({ files: FILE });
    const { path } = await bed.workspace.open(task);
    await write(path, { 'a.txt': 'task\n' });
    await bed.workspace.capture(task, 'work');
    await write(bed.root, { 'a.txt': 'main\n' });
    await git(bed.root, 'commit', '-q', '-a', '-m', 'meanwhile');
    const yes = async () => undefined;
    await bed.workspace.openMerge(task, yes);
    await bed.workspace.resolveFile(task, 'a.txt', { text: 'main\nboth\n' }, yes);
    made = { bed, image: new FolderImage(bed.folder) };
  };
  const conflicting = async () => {
    const stages = {
      merge: { actor: 'system', does: 'merge', on: { approved: 'done', conflicts_detected: 'blocked' } },
    };
    const landing = { name: 'landing', description: '', start: 'merge', stages } as never;
    const pipelines = { ...rules.pipelines, landing };
    await mill.must({ type: 'project.configure', projectId: PROJECT, rules: { ...rules, pipelines } });
    await mill.worker('merger', 'merger');
    await mill.create({ pipeline: 'landing' });
    const claimed = await mill.claim('merger', 8, 'merger');
    if (!claimed.ok) throw new Error(claimed.refusal.message);
    task = claimed.task!;
    const about = { projectId: PROJECT, subjectId: task.id, token: task.fence };
    const feedback = [{ kind: 'conflict' as const, text: 'x', files: ['a.txt'] }];
    task = (await mill.must({ type: 'stage.finish', ...about, outcome: 'conflicts_detected', feedback })).task!;
    await inGit();
  };

  test('that is settled while the process dies is settled by the next start, with one commit and the same name', async () => {
    const settle = async (store: Store) => {
      await settleConflict({ store, project: await project(), conflicts: bed.workspace }, task, personActor('ada'), []);
    };
    const deaths = await atEachDeath(conflicting, settle, async () => {
      const hasBegun = (await eventsOf('conflict.settle_begun')).length === 1;
      const conflicts = await bed.reopen();
      await finishSettling({ store: mill.store, project: await project(), conflicts }, () => true);
      const now = (await mill.store.task(task.id))!;
      expect(now.stage === 'blocked').toBe(!hasBegun);
      expect(now.settling).toBeNull();
      if (hasBegun) {
        expect(await eventsOf('conflict.settled')).toMatchObject([{ by: personActor('ada') }]);
        expect(await git(bed.root, 'show', `${now.head!.commit}:a.txt`)).toBe('main\nboth');
        expect(await git(bed.root, 'rev-parse', task.branch)).toBe(now.head!.commit);
        expect(await git(bed.root, 'log', '--format=%s', `main..${task.branch}`)).toMatch(/resolved by ada.*\nwork$/);
      }
      await bed.remove();
    });
    expect(deaths).toBe(3);
  });

  test('that changed after it was settled waits for a person', async () => {
    await conflicting();
    const of = { projectId: PROJECT, taskId: task.id, by: personActor('ada') };
    await mill.must({ type: 'conflict.begin_settle', ...of });
    await mill.must({ type: 'conflict.resolve_file', ...of, path: 'a.txt', how: 'text' });
    await finishSettling({ store: mill.store, project: await project(), conflicts: bed.workspace }, () => true);
    expect(await mill.store.task(task.id)).toMatchObject({ stage: 'blocked', settling: null });
    await bed.remove();
  });

  test('that is aborted while the process dies loses nothing', async () => {
    const abort = async (store: Store) => abortConflict({ store, workspace: bed.workspace }, task, personActor('ada'));
    await atEachDeath(conflicting, abort, async () => {
      const now = (await mill.store.task(task.id))!;
      const [aborted] = await eventsOf('conflict.aborted');
      expect(now.stage).toBe(aborted ? 'open' : 'blocked');
      const [kept] = await bed.workspace.snapshots();
      expect(await git(bed.root, 'show', `${kept!.ref}:a.txt`)).toBe('main\nboth');
      // The next start removes the rest of the old branch. Until then it is unchanged.
      const { path } = await (await bed.reopen()).open(task);
      expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('main\nboth\n');
      await bed.remove();
    });
  });

  test.each([
    ['is resolved by now', { stage: 'open', blocked: null }],
    ['is being worked on by an agent', { lease: { workerId: 'w1', token: 2 } }],
    ['was begun again on another branch', { branch: 'task/1-one.2' }],
  ])('that %s is refused before its merge is committed', async (_why, change) => {
    await conflicting();
    const seen = (now: object) => ({ task: async () => ({ ...task, ...now }) }) as unknown as Store;
    await checkConflict(seen({}), task);
    await expect(checkConflict(seen(change), task)).rejects.toMatchObject({ code: 'wrong_stage' });
    await bed.remove();
  });
});
