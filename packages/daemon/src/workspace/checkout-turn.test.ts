import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTurn } from './checkout-turn.ts';
import type { Site } from './site.ts';

const NOW = 1_800_000_000_000;
/** No process has it: the kernel's largest is smaller. */
const DEAD = 2 ** 30;
let gitDir: string;
let file: string;
let now: number;
let meanwhile: () => void;
const clock = {
  now: () => now,
  async sleep(ms: number) {
    now += ms;
    meanwhile();
  },
};
beforeEach(() => {
  gitDir = mkdtempSync(join(tmpdir(), 'tidemill-turn-'));
  file = join(gitDir, 'tidemill-landing');
  now = NOW;
  meanwhile = () => undefined;
});
afterEach(() => rmSync(gitDir, { recursive: true }));

const turn = <T>(work: () => Promise<T>) => inTurn({ clock } as unknown as Site, { gitDir } as never, work);
const done = async () => 'done';
function takenBy(owner: string, sinceMs: number): void {
  writeFileSync(file, owner);
  utimesSync(file, (NOW - sinceMs) / 1000, (NOW - sinceMs) / 1000);
}

describe('a landing in a checkout', () => {
  test('has it alone while it works, and leaves it', async () => {
    expect(await turn(async () => readFileSync(file, 'utf8'))).toBe(`${process.pid}`);
    expect(existsSync(file)).toBe(false);
  });

  test('leaves it also when its work fails', async () => {
    await expect(turn(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(file)).toBe(false);
  });

  test('waits for another one that works there', async () => {
    takenBy(`${process.pid}`, 0);
    meanwhile = () => {
      if (now >= NOW + 100) rmSync(file, { force: true });
    };
    expect(await turn(done)).toBe('done');
    expect(now).toBe(NOW + 100);
  });

  test('gives up after five seconds, and leaves the other one alone', async () => {
    takenBy(`${process.pid}`, 0);
    expect(await turn(done)).toBeNull();
    expect(now - NOW).toBeGreaterThan(5_000);
    expect(now - NOW).toBeLessThan(5_100);
    expect(readFileSync(file, 'utf8')).toBe(`${process.pid}`);
  });

  test.each([
    ['a process that died', `${DEAD}`, 0],
    ['a process that died before it wrote its number', '', 5_001],
    ['a number that another process has by now', `${process.pid}`, 600_001],
  ])('takes over from %s', async (_who, owner, sinceMs) => {
    takenBy(owner, sinceMs);
    expect(await turn(done)).toBe('done');
    expect(now).toBe(NOW);
  });

  test('does not take over from one that is about to write its number, or works for minutes', async () => {
    takenBy('', 0);
    expect(await turn(done)).toBe('done');
    expect(now - NOW).toBeGreaterThan(5_000);
    now = NOW;
    takenBy(`${process.pid}`, 590_000);
    expect(await turn(done)).toBeNull();
  });
});
