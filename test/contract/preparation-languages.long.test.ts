import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePreparedBed, type PreparedBed, signal } from './prepared-bed.ts';

/** The same script in three languages; shell is in preparation-trust.test.ts. `WHAT` is the content of the dependency. */
const SCRIPTS = [
  {
    language: 'JavaScript',
    run: 'node install.mjs',
    file: 'install.mjs',
    text: `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('deps', { recursive: true });
writeFileSync('deps/lib', WHAT);
appendFileSync(process.env.RUNS, 'run\\n');
`,
    good: "readFileSync('lock')",
    evil: "'evil\\n'",
  },
  {
    language: 'Python',
    run: 'python3 install.py',
    file: 'install.py',
    text: `import os
os.makedirs('deps', exist_ok=True)
open('deps/lib', 'w').write(WHAT)
open(os.environ['RUNS'], 'a').write('run\\n')
`,
    good: "open('lock').read()",
    evil: "'evil\\n'",
  },
  {
    language: 'C',
    run: 'mkdir -p deps && cc -o deps/install install.c && deps/install',
    file: 'install.c',
    text: `#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char text[99] = "evil\\n";
  WHAT;
  FILE *lib = fopen("deps/lib", "w"), *runs = fopen(getenv("RUNS"), "a");
  fputs(text, lib);
  fputs("run\\n", runs);
  return fclose(lib) + fclose(runs);
}
`,
    good: 'fgets(text, sizeof text, fopen("lock", "r"))',
    evil: '(void)text',
  },
];

describe.each(SCRIPTS)('a layer that a script in $language made from poisoned work', ({ run, file, text, ...what }) => {
  const good = { [file]: text.replace('WHAT', what.good) };
  const evil = { [file]: text.replace('WHAT', what.evil) };
  let on: PreparedBed;
  beforeEach(async () => {
    on = await makePreparedBed({ run, files: good });
  });
  afterEach(() => on.bed.remove());

  it('does not serve a later tree of the same task', async () => {
    const prepare = on.preparation();
    const worktree = await on.open(1);
    const bad = await on.handIn(worktree, { lock: 'two\n', ...evil });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    const reverted = await on.handIn(worktree, good);
    expect(await on.proven(prepare, reverted.tip, reverted)).toBe('two\n');
    expect(on.timesRun()).toBe(2);
  });

  it('does not serve another task, and is removed when its task is cancelled', async () => {
    const prepare = on.preparation();
    const bad = await on.handIn(await on.open(1), { lock: 'two\n', ...evil });
    await prepare.worktree(bad, { signal });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    expect(on.kept()).toHaveLength(1);
    await prepare.tidy((task) => task !== 1);
    expect(on.kept()).toEqual([]);
    const other = await on.handIn(await on.open(2), { lock: 'two\n' });
    expect(await on.proven(prepare, other.tip, other)).toBe('two\n');
  });

  it('does not serve the target after a person committed the same lock file', async () => {
    const prepare = on.preparation();
    const bad = await on.handIn(await on.open(1), { lock: 'two\n', ...evil });
    expect(await on.proven(prepare, bad.tip, bad)).toBe('evil\n');
    const landed = await on.commit({ lock: 'two\n' });
    expect(await on.proven(prepare, landed)).toBe('two\n');
    expect(await on.foundBy(prepare, 2)).toBe('two\n');
  });
});
