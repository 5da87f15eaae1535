import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GateConfig } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGates } from '../../packages/daemon/src/gates/gates.ts';
import type { CleanCheckout } from '../../packages/daemon/src/ports.ts';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { type Bed, git, makeBed, personEnv } from './workspace-bed.ts';

// Code that is right only where it is proven: it asks whether it runs in a proof, and behaves there. Each question has
// the same answer in a proof as in a fresh clone.

const run = promisify(execFile);
const sandbox = await sandboxStatus();
const { signal } = new AbortController();

const PROBES = {
  'tell.sh': `set -e
test -d .git
git symbolic-ref HEAD
git for-each-ref --format='%(refname)' | grep -c -i -e tidemill -e task/ || true
git describe --tags
git status --porcelain
git branch --show-current
git rev-parse --is-inside-work-tree --git-dir --git-common-dir
case "$PWD" in *tidemill*|*proof*) echo proof ;; esac
env | grep -c TIDEMILL_ || true
test ! -e .git/commondir && test ! -e .git/gitdir && echo plain
`,
  'tell.mjs': `import { readFileSync, statSync } from 'node:fs';
const { env } = process;
console.log(statSync('.git').isDirectory(), readFileSync('.git/HEAD', 'utf8'));
console.log(Object.keys(env).filter((name) => name.startsWith('TIDEMILL')).length);
console.log(/tidemill|proof/i.test(process.cwd() + import.meta.url), readFileSync('.git/config', 'utf8').includes('worktree'));
`,
  'tell.py': `import os, pathlib
print(os.path.isfile('.git'), pathlib.Path('.git/HEAD').read_text())
print([name for name in os.environ if 'TIDEMILL' in name], 'proof' in os.getcwd() or 'tidemill' in os.path.abspath(__file__))
print(sorted(str(p) for p in pathlib.Path('.git').glob('refs/*') if p.name not in ('tags', 'heads', 'remotes')))
`,
  'tell.c': `#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
extern char **environ;
int main(void) {
  struct stat found;
  int marks = 0;
  for (char **each = environ; *each; each++) marks += strncmp(*each, "TIDEMILL_", 9) == 0;
  printf("%d %d\\n", stat(".git", &found) == 0 && S_ISDIR(found.st_mode), marks);
  return 0;
}
`,
};

let bed: Bed;
let commit: string;
let clone: string;
beforeAll(async () => {
  bed = await makeBed({ files: { ...PROBES, '.gitignore': 'tell\n' } });
  await git(bed.root, 'tag', 'v1.0');
  // What Tidemill keeps in the repository is not in a clone.
  await git(bed.root, 'update-ref', 'refs/tidemill/heads/task/1-x', 'HEAD');
  await git(bed.root, 'branch', 'task/1-x');
  commit = await git(bed.root, 'rev-parse', 'HEAD');
  clone = await mkdtemp(join(tmpdir(), 'fresh-'));
  await git(bed.folder, 'clone', '-q', '--single-branch', bed.root, clone);
});
afterAll(async () => {
  await bed.remove();
  await rm(clone, { recursive: true, force: true });
});

async function gate(checkout: CleanCheckout, command: string, more: object = {}, mode: 'auto' | 'off' = 'auto') {
  const { root, dataDir } = bed;
  const gates = createGates({
    config: [GateConfig.parse({ name: 'tell', run: command, ...more })],
    host: { root, dataDir, homeId: dataDir, sandbox: mode },
    logDir: join(dataDir, 'logs'),
  });
  const { path, tree } = checkout;
  const [report] = await gates.run({ path, tree, files: null, signal, changes: () => checkout.changes() });
  const log = await readFile(join(dataDir, 'logs', `${report!.receipt.logHash}.log`), 'utf8');
  return { status: report!.receipt.status, log };
}

const out = async <T>(work: (checkout: CleanCheckout) => Promise<T>): Promise<T> => {
  const checkout = await bed.workspace.checkOut(commit);
  try {
    return await work(checkout);
  } finally {
    await checkout.close();
  }
};

describe('code that asks where it runs', () => {
  it.each([
    ['a shell script', 'sh tell.sh'],
    ['JavaScript', 'node tell.mjs'],
    ['Python', 'python3 tell.py'],
    ['C', 'cc -o tell tell.c && ./tell'],
  ])('gets the same answers in a proof as in a clone: %s', async (_language, command) => {
    const env = Object.fromEntries(Object.entries(personEnv).filter(([name]) => !name.startsWith('TIDEMILL_')));
    const { stdout } = await run('sh', ['-c', command], { cwd: clone, env });
    // Without a sandbox the variables that find left-over processes stay.
    const mode = sandbox.available ? 'auto' : 'off';
    const { status, log } = await out((checkout) => gate(checkout, command, {}, mode));
    expect(status).toBe('pass');
    if (mode === 'auto') expect(log).toBe(stdout);
    else expect(log.split('\n')[0]).toBe(stdout.split('\n')[0]);
  });

  it('gets a variable of Tidemill only if its gate names it', async (context) => {
    context.skip(!sandbox.available, sandbox.why);
    const ask = 'env | grep TIDEMILL_ | cut -d= -f1; tr "\\0" "\\n" < /proc/1/environ | grep -c TIDEMILL_ || true';
    await out(async (checkout) => {
      expect((await gate(checkout, ask)).log).toBe('0\n');
      const passed = await gate(checkout, 'echo $TIDEMILL_PORT_BASE', { pass: ['TIDEMILL_PORT_BASE'] });
      expect(passed.log).toMatch(/^3\d{4}\n$/);
    });
  });

  it('cannot see the repository that the clone was made from', async (context) => {
    context.skip(!sandbox.available, sandbox.why);
    const root = 'root=$(dirname $(dirname $(cat .git/objects/info/alternates)))';
    const ask = `${root}; ls -A $root $root/.git; cat $root/tell.sh $root/.git/HEAD $root/.git/config`;
    const { log } = await out((checkout) => gate(checkout, ask));
    expect(log).not.toMatch(/^(tell|set -e|HEAD|refs|config|ref: |\[core)/m);
    expect(log).toContain('objects');
  });
});

describe('a gate that writes into the git folder of its checkout', () => {
  it('can commit there as in any clone, and nothing of it is left for the next proof or for the repository', async () => {
    const evil = join(bed.folder, 'evil');
    const touch = `touch ${evil}`;
    await out(async (checkout) => {
      const config = ['core.fsmonitor', 'core.sshCommand', 'filter.x.clean', 'diff.external', 'core.pager'];
      const set = config.map((key) => `git config ${key} "${touch}"`).join(' && ');
      const hook = `printf '#!/bin/sh\\n${touch}\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout`;
      const stash = 'git -c user.name=a -c user.email=b commit -q --allow-empty -m x';
      const attributes = 'echo "* filter=x" > .git/info/attributes';
      const { status } = await gate(checkout, [stash, hook, attributes, set].join(' && '));
      expect(status).toBe('pass');
      expect(existsSync(evil)).toBe(false);
      await checkout.reset();
      expect(await checkout.changes()).toEqual([]);
      expect(await git(checkout.path, 'rev-parse', 'HEAD')).toBe(commit);
      expect(await git(checkout.path, 'config', '--list', '--local')).not.toContain(evil);
      await writeFile(join(checkout.path, 'new.txt'), 'x');
      await mkdir(join(checkout.path, '.git/refs/heads/other'), { recursive: true });
      await checkout.writeTree();
    });
    expect(existsSync(evil)).toBe(false);
    expect(await git(bed.root, 'rev-parse', 'HEAD')).toBe(commit);
    expect(await git(bed.root, 'config', '--list', '--local')).not.toContain(evil);
    expect(await leakedProcesses(bed.dataDir)).toEqual([]);
  });
});
