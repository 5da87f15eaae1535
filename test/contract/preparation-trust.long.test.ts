import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePreparedBed, type PreparedBed } from './prepared-bed.ts';
import { git } from './workspace-bed.ts';

let on: PreparedBed;
beforeEach(async () => {
  on = await makePreparedBed();
});
afterEach(() => on.bed.remove());

describe('a layer made from work that has not landed', () => {
  it('is made again from the target when its tree has landed', async () => {
    const prepare = on.preparation();
    const work = await on.handIn(await on.open(1), { lock: 'two\n' });
    expect(await on.proven(prepare, work.tip, work)).toBe('two\n');
    await git(on.bed.root, 'merge', '-q', '--ff-only', work.tip);
    expect(await on.proven(prepare, await git(on.bed.root, 'rev-parse', 'HEAD'))).toBe('two\n');
    expect(on.timesRun()).toBe(2);
  });

  it('is kept for the newest few trees only', async () => {
    const prepare = on.preparation();
    const worktree = await on.open(1);
    for (let round = 0; round < 7; round += 1) {
      const work = await on.handIn(worktree, { lock: `round ${round}\n` });
      expect(await on.proven(prepare, work.tip, work)).toBe(`round ${round}\n`);
    }
    expect(on.kept().length).toBeLessThanOrEqual(4);
  });
});

describe('a layer made from a landed tree', () => {
  it('survives a daemon that was killed while it made one', async () => {
    const prepare = on.preparation();
    await on.foundBy(prepare, 1);
    await prepare.settled();
    const [key = ''] = on.kept();
    // As a kill leaves them: half a description, half a copy.
    writeFileSync(join(on.bed.dataDir, 'prepared', key, 'layer.json'), '{"paths":["de');
    writeFileSync(join(on.bed.dataDir, 'prepared', key, 'files/deps/lib'), 'half');
    writeFileSync(join(on.bed.dataDir, 'prepared/places/2-x.json'), '{"ke');
    const next = on.preparation();
    expect(await on.foundBy(next, 2)).toBe('one\n');
    expect(await on.proven(next, await git(on.bed.root, 'rev-parse', 'HEAD'))).toBe('one\n');
  });
});
