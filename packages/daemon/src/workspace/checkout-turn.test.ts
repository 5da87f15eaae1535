import { existsSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LockBed, NOW } from '../../../../test/support/lock-bed.ts';
import { inTurn } from './checkout-turn.ts';
import type { GitContext } from './git-context.ts';

/** No process has it: the kernel's largest is smaller. */
const DEAD = 2 ** 30;
const bed = new LockBed();
const file = () => bed.path('tidemill-landing');

const turn = <T>(work: () => Promise<T>) =>
  inTurn({ clock: bed.clock } as unknown as GitContext, { gitDir: bed.folder } as never, work);
const done = async () => 'done';
const takenBy = (owner: string, sinceMs: number) => bed.put('tidemill-landing', owner, sinceMs);

describe('a landing in a checkout', () => {
  test('has it alone while it works, and leaves it', async () => {
    expect(await turn(async () => readFileSync(file(), 'utf8'))).toBe(`${process.pid}`);
    expect(existsSync(file())).toBe(false);
  });

  test('leaves it also when its work fails', async () => {
    await expect(turn(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(file())).toBe(false);
  });

  test('waits for another one that works there', async () => {
    takenBy(`${process.pid}`, 0);
    bed.meanwhile = () => {
      if (bed.now >= NOW + 100) rmSync(file(), { force: true });
    };
    expect(await turn(done)).toBe('done');
    expect(bed.now).toBe(NOW + 100);
  });

  test('gives up after five seconds, and leaves the other one alone', async () => {
    takenBy(`${process.pid}`, 0);
    expect(await turn(done)).toBeNull();
    expect(bed.now - NOW).toBeGreaterThan(5_000);
    expect(bed.now - NOW).toBeLessThan(5_100);
    expect(readFileSync(file(), 'utf8')).toBe(`${process.pid}`);
  });

  test.each([
    ['a process that died', `${DEAD}`, 0],
    ['a process that died before it wrote its number', '', 5_001],
    ['a number that another process has by now', `${process.pid}`, 600_001],
  ])('takes over from %s', async (_who, owner, sinceMs) => {
    takenBy(owner, sinceMs);
    expect(await turn(done)).toBe('done');
    expect(bed.now).toBe(NOW);
  });

  test('does not take over from one that is about to write its number, or works for minutes', async () => {
    takenBy('', 0);
    expect(await turn(done)).toBe('done');
    expect(bed.now - NOW).toBeGreaterThan(5_000);
    bed.now = NOW;
    takenBy(`${process.pid}`, 590_000);
    expect(await turn(done)).toBeNull();
  });
});
