import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OWNER_VARIABLE } from './git-context.ts';
import { awaitOrphans, isAlive } from './orphaned-git.ts';

/** No process has it: the kernel's largest is smaller. */
const DEAD = 2 ** 30;
const FOLDER = `/tidemill/${process.pid}`;
let child: ChildProcess | null = null;
let slept: number;
let meanwhile: () => Promise<unknown>;
const clock = {
  now: () => slept,
  async sleep(ms: number) {
    slept += ms;
    await meanwhile();
  },
};
beforeEach(({ skip }) => {
  skip(!existsSync('/proc/self/environ'), 'needs /proc');
  slept = 0;
  meanwhile = async () => undefined;
});
afterEach(end);

async function end(): Promise<void> {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  child = null;
}
/** A process that a daemon with this number and folder has started. */
async function started(owner: number, folder: string): Promise<number> {
  child = spawn('sleep', ['1000'], { env: { ...process.env, [OWNER_VARIABLE]: `${owner}:${folder}` } });
  await once(child, 'spawn');
  return child.pid!;
}

describe('a start after a killed daemon', () => {
  test('waits until the git processes of that daemon have ended', async () => {
    await started(DEAD, FOLDER);
    meanwhile = end;
    await awaitOrphans(FOLDER, clock);
    expect(slept).toBe(20);
  });

  test.each([
    ['of a daemon that lives', process.pid, FOLDER],
    ['of another data folder', DEAD, `${FOLDER}/other`],
  ])('does not wait for those %s', async (_whose, owner, folder) => {
    await started(owner, folder);
    await awaitOrphans(FOLDER, clock);
    expect(slept).toBe(0);
  });

  test('fails after two minutes, and names the processes', async () => {
    const pid = await started(DEAD, FOLDER);
    meanwhile = async () => {
      slept += 10_000;
    };
    await expect(awaitOrphans(FOLDER, clock)).rejects.toMatchObject({
      code: 'git_failed',
      message: `git processes of an earlier Tidemill still run: ${pid}`,
      retriable: true,
    });
    expect(slept).toBeGreaterThan(120_000);
    expect(slept).toBeLessThan(131_000);
  });
});

test('a process is alive until it ends, also one of somebody else', () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(1)).toBe(true);
  expect(isAlive(DEAD)).toBe(false);
});
