import path from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { CLAUDE_CODE, installVendor } from '../support/vendor.ts';
import { ClaudeBench } from './claude-bench.ts';

const installed = await installVendor(...CLAUDE_CODE);
// Where most people have it.
if ('bin' in installed) process.env.PATH = `${installed.bin}${path.delimiter}${process.env.PATH}`;

/** Opens a bench for each test of a file, which is skipped where there is no Claude Code. */
export function onClaudeBench(take: (bench: ClaudeBench) => void): void {
  // A test starts the program up to four times, beside other tests that do the same.
  vi.setConfig({ testTimeout: 120_000 });
  let bench: ClaudeBench | undefined;
  beforeEach(async (context) => {
    context.skip('missing' in installed, 'missing' in installed ? installed.missing : '');
    bench = await ClaudeBench.open('auto');
    take(bench);
  });
  afterEach(() => bench?.close());
}
