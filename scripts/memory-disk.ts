import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** A run of the long tests had at most 2 GB of files at once. The rest is for the tests themselves. */
const ENOUGH_BYTES = 10e9;

export interface TestDisk {
  /** The program and arguments that run the command with this disk. */
  wrap(command: readonly string[]): [program: string, ...args: string[]];
  env: { TMPDIR?: string };
  close(): void;
}

/**
 * Temporary files of the tests in memory, where that is possible: on Linux as root, with much free memory. Tests make and
 * remove many thousand small files; in memory the kernel spends a third less time on them. Only the command and what it
 * starts see the disk, and the kernel removes it with the last of them, also when all were killed.
 */
export function testDisk(): TestDisk {
  const none: TestDisk = { wrap: (command) => [...command] as [string], env: {}, close: () => undefined };
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || freemem() < ENOUGH_BYTES) return none;
  const folder = mkdtempSync(join(tmpdir(), 'tm-'));
  const close = () => rmdirSync(folder);
  const wrap = (command: readonly string[]): [string, ...string[]] => {
    const mountThenRun = 'mount -t tmpfs tidemill-tests "$1" && shift && exec "$@"';
    return ['unshare', '--mount', 'sh', '-c', mountThenRun, 'sh', folder, ...command];
  };
  const [program, ...args] = wrap(['true']);
  if (spawnSync(program, args).status === 0) return { wrap, env: { TMPDIR: folder }, close };
  close();
  return none;
}
