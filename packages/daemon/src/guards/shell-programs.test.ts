import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guards } from '../ports.ts';
import { createGuards } from './guards.ts';

// The lists of programs, each entry at least once: a program that is missing in its list is taken for a harmless one.

let folder: string;
let worktree: string;
let guards: Guards;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-programs-')));
  worktree = join(folder, 'data', 'projects', 'p', 'worktrees', '7');
  mkdirSync(join(worktree, 'src'), { recursive: true });
  mkdirSync(join(worktree, '.tidemill'));
  for (const file of ['src/a.ts', 'src/b.ts', '.tidemill/config.yaml']) writeFileSync(join(worktree, file), 'text\n');
  writeFileSync(join(worktree, 'long.log'), 'line\n'.repeat(1_500));
  guards = await createGuards({ root: join(folder, 'no-project'), dataDir: join(folder, 'data') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verdict(command: string, mode: Mode = 'implement'): Promise<string> {
  const found = await guards.check({ tool: 'Bash', input: { command } }, { worktree, mode });
  return found.kind === 'deny' ? found.guard : found.kind;
}
const words = (text: string) => text.split(' ');

describe('a reviewer may not change a file', () => {
  test.each(words('rm rmdir unlink shred'))('by removing it with %s', async (program) => {
    expect(await verdict(`${program} src/a.ts`, 'review')).toBe('reviewer-files');
  });

  test.each(
    words(
      'tee touch mkdir truncate mkfifo mknod sponge ed ex vi vim nano gzip gunzip xz unxz bzip2 bunzip2 split setfacl',
    ),
  )('by writing it with %s', async (program) => {
    expect(await verdict(`${program} src/a.ts`, 'review')).toBe('reviewer-files');
  });

  test.each(words('chmod chown chgrp chattr'))('by changing who may use it with %s', async (program) => {
    expect(await verdict(`${program} x src/a.ts`, 'review')).toBe('reviewer-files');
    expect(await verdict(`${program} /etc/passwd src/a.ts`)).toBe('allow');
  });

  test.each(words('cp mv rsync scp install ditto'))('by copying over it with %s', async (program) => {
    expect(await verdict(`${program} src/a.ts src/b.ts`, 'review')).toBe('reviewer-files');
  });

  test.each([
    'sed -i s/a/b/ src/a.ts',
    'sed --in-place s/a/b/ src/a.ts',
    'yq -i .a=1 src/a.ts',
    'perl -pi -e s/a/b/ src/a.ts',
    'perl -i.bak -pe s/a/b/ src/a.ts',
    'perl -i -p -e s/a/b/ src/a.ts',
  ])('in place with %s', async (command) => {
    expect(await verdict(command, 'review')).toBe('reviewer-files');
  });

  test.each(words('python python2 python3 pypy node nodejs deno bun ruby perl php lua Rscript osascript tclsh'))(
    'from code with %s',
    async (program) => {
      expect(await verdict(`${program} -e "open('src/a.ts', 'w')"`, 'review')).toBe('reviewer-files');
      expect(await verdict(`${program} - <<E\nwrite("./new.txt")\nE`, 'review')).toBe('reviewer-files');
      expect(await verdict(`${program} <<E\nunlink("../8/src/a.ts")\nE`)).toBe('store');
    },
  );

  test.each(words('rm mv checkout restore clean apply clone init worktree submodule archive bundle format-patch'))(
    'with git %s',
    async (sub) => {
      expect(await verdict(`git ${sub} src/a.ts`, 'review')).toMatch(/^reviewer/);
    },
  );

  test.each([
    'dd if=src/b.ts of=src/a.ts',
    'ln -f src/b.ts src/a.ts',
    'patch src/a.ts x.patch',
    'tar -cf src/a.ts src',
  ])('with %s', async (command) => {
    expect(await verdict(command, 'review')).toBe('reviewer-files');
  });
});

describe('a reviewer may read a file', () => {
  test.each([
    "perl -ne 'print if /a/' src/a.ts",
    'sed -n 1p src/a.ts',
    'sed -n -e 1p src/a.ts',
    "awk '{ print $1 }' src/a.ts",
    'jq . src/a.ts',
    'git log -- src/a.ts',
    'dd if=src/a.ts',
  ])('with %s', async (command) => {
    expect(await verdict(command, 'review')).toBe('allow');
  });
});

describe('an agent that edits in place is held to the same paths', () => {
  test.each([
    ['perl -pi -e s/a/b/ /etc/hosts', 'worktree'],
    ['perl -pi -e s/a/b/ .tidemill/config.yaml', 'untouchable'],
    ['perl -pi -e s/a/b/ ../8/src/a.ts', 'store'],
    ['perl -pi -e s/a/b/ src/a.ts', 'allow'],
    ['perl -ne print .tidemill/config.yaml', 'allow'],
  ])('%s', async (command, guard) => {
    expect(await verdict(command)).toBe(guard);
  });
});

test.each([
  'sed --expression=p .env',
  'sed -f .env src/a.ts',
  'awk --file=.env src/a.ts',
  'jq -f .env src/a.ts',
  'awk 1 .env',
])('a filter reads the files that it names, with its program in an option or not: %s', async (command) => {
  expect(await verdict(command)).toBe('secrets');
});

test.each(['cat {.env,"x"}', 'cat {"x",.env}', "cat .{'e',x}nv"])(
  'braces stand for each of their words, in quotes or not: %s',
  async (command) => {
    expect(await verdict(command)).toBe('secrets');
  },
);

test.each(words('cat less more bat nl tac'))('%s of a long log counts as reading it whole', async (program) => {
  expect(await verdict(`${program} long.log`)).toBe('long-log');
  expect(await verdict(`${program} long.log | head`)).toBe('allow');
});

describe('a program is found behind one that only starts it, with all options that take a value', () => {
  test.each([
    'sudo -u root -g root -C 3 -D . -h host -p ask -r role -t type -U bob -R . -T 5 -a pam -c staff',
    'sudo --user root --group root --close-from 3 --chdir . --host host --prompt ask --role role --type type',
    'sudo --other-user bob --chroot . --command-timeout 5 --auth-type pam --login-class staff',
    'sudo -nEu root',
    'sudo -uroot -n --user=root A=1',
    'doas -u root -C rules.conf',
    'env -u A -C . --unset B --chdir . C=1',
    'nohup',
    'nice -n 5 --adjustment 5',
    'ionice -c 2 -n 4 -p 1',
    'timeout -k 5 -s KILL --kill-after 5 --signal KILL 10',
    'command',
    'builtin',
    'exec -a name',
    'stdbuf -i 0 -o 0 -e 0',
    'setsid',
    'chronic',
    'busybox',
    'watch -n 5 --interval 5',
    'flock -w 5 -E 1 lock',
    'strace -o trace -e open -p 1',
    '/usr/bin/time -o spent -f %e',
    'unshare',
    'bwrap --tmpfs t --dev dev --proc proc --chdir .',
    'bwrap --bind src src --ro-bind src src --setenv A 1',
    'npx -p git --package git',
    'bunx -p git --package git',
    'pnpx -p git --package git',
    'find src -exec',
    'find src -execdir',
    'find src -ok',
    'find src -okdir',
    'fd -x',
    'fd -X',
    'fd --exec',
    'fd --exec-batch',
    'echo a | xargs -a list -d , -E end -L 1 -n 1 -P 2 -s 99 --max-args 1 --max-procs 2',
    'echo a | xargs --arg-file list --delimiter , --max-chars 99 --process-slot-var SLOT',
    'echo a | xargs -J % -R 2 -S 99',
    'echo a | xargs -0rn 1 -P2 -d,',
    'echo a | xargs -I {}',
    'echo a | xargs --replace',
    'echo a | parallel',
    'echo a | parallel -j 4 --jobs 4 --colsep , --delay 1 --joblog log --timeout 9 --workdir .',
  ])('%s git push', async (start) => {
    expect(await verdict(`${start} git push`)).toBe('push');
  });

  test.each(words('sh bash zsh dash ksh ash fish'))('%s -c "git push"', async (shell) => {
    expect(await verdict(`${shell} -c "git push"`)).toBe('push');
    expect(await verdict(`echo git push | ${shell}`)).toBe('push');
  });

  test.each(['eval git push', "trap 'git push' EXIT", "alias g='git push'"])('%s', async (command) => {
    expect(await verdict(command)).toBe('push');
  });
});
