import { existsSync, rmSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { LockBed, NOW } from '../../../../test/support/lock-bed.ts';
import { type Git, GitError } from '../git/program.ts';
import { clearStaleLock, pastStaleLocks } from './stale-lock.ts';

const bed = new LockBed();
const lock = () => bed.path('index.lock');
const lockedSince = (ms: number) => bed.put('index.lock', '', ms);

describe('a lock file', () => {
  test('that is not there needs nothing', async () => {
    expect(await clearStaleLock(lock(), bed.clock)).toBe(false);
    expect(bed.now).toBe(NOW);
  });

  test('that is three seconds old is removed at once', async () => {
    lockedSince(3_000);
    expect(await clearStaleLock(lock(), bed.clock)).toBe(true);
    expect([existsSync(lock()), bed.now]).toEqual([false, NOW]);
  });

  test('that is young is waited for until it is old, and then removed', async () => {
    lockedSince(2_850);
    expect(await clearStaleLock(lock(), bed.clock)).toBe(true);
    expect([existsSync(lock()), bed.now]).toEqual([false, NOW + 200]);
  });

  test('that its owner removes meanwhile is left to them', async () => {
    lockedSince(0);
    bed.meanwhile = () => rmSync(lock());
    expect(await clearStaleLock(lock(), bed.clock)).toBe(false);
    expect(bed.now).toBe(NOW + 100);
  });

  test('from before the clock was set back is not waited for', async () => {
    lockedSince(-3_600_000);
    expect(await clearStaleLock(lock(), bed.clock)).toBe(true);
    expect(bed.now).toBe(NOW);
  });
});

describe('a git that finds a lock file', () => {
  let calls: number;
  const failure = (text: string) => new GitError(['status'], 128, text);
  /** Fails while the lock is there. */
  const git: Git = async () => {
    calls += 1;
    if (existsSync(lock())) throw failure(`fatal: Unable to create '${lock()}': File exists.`);
    return {} as never;
  };
  beforeEach(() => {
    calls = 0;
  });

  test('of ours removes it when it is old, and is run again', async () => {
    lockedSince(5_000);
    await pastStaleLocks(git, bed.clock, () => true)(['status']);
    expect([calls, existsSync(lock())]).toEqual([2, false]);
  });

  test('of somebody else fails, and leaves it', async () => {
    lockedSince(5_000);
    await expect(pastStaleLocks(git, bed.clock, () => false)(['status'])).rejects.toThrow(GitError);
    expect([calls, existsSync(lock())]).toEqual([1, true]);
  });

  test('that always comes back gives up after five tries', async () => {
    const stubborn: Git = async (args, options) => {
      lockedSince(5_000);
      return git(args, options);
    };
    await expect(pastStaleLocks(stubborn, bed.clock, () => true)(['status'])).rejects.toThrow(GitError);
    expect(calls).toBe(5);
  });

  test('and fails of something else is not run again', async () => {
    const broken: Git = async () => {
      calls += 1;
      throw failure('fatal: bad object');
    };
    await expect(pastStaleLocks(broken, bed.clock, () => true)(['status'])).rejects.toThrow(GitError);
    expect(calls).toBe(1);
  });
});
