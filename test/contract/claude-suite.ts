import { afterEach, beforeEach, vi } from 'vitest';
import { ClaudeBench, missing } from './claude-bench.ts';

/** Opens a bench for each test of a file, which is skipped where there is no Claude Code. */
export function onClaudeBench(take: (bench: ClaudeBench) => void): void {
  // A test starts the program up to four times, beside other tests that do the same.
  vi.setConfig({ testTimeout: 120_000 });
  let bench: ClaudeBench | undefined;
  beforeEach(async (context) => {
    context.skip(missing !== null, missing ?? '');
    bench = await ClaudeBench.open('auto');
    take(bench);
  });
  afterEach(() => bench?.close());
}
