import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Bed, git, makeBed, write } from './workspace-bed.ts';

let bed: Bed;
afterEach(() => bed.remove());

/** Passes a file on when a second checkout has begun as well, and says so when none comes. */
const MEET = `#!/bin/sh
cd "$1" || exit 1
: > "began-$$"
tries=0
while [ "$(ls | grep -c began)" -lt 2 ]; do
  tries=$((tries + 1))
  if [ $tries -gt 300 ]; then : > alone; break; fi
  sleep 0.05
done
exec cat
`;

test('the files of two worktrees are written at the same time', async () => {
  bed = await makeBed();
  const meeting = join(bed.folder, 'meeting');
  mkdirSync(meeting);
  await write(bed.folder, { 'meet.sh': MEET });
  chmodSync(join(bed.folder, 'meet.sh'), 0o755);
  await write(bed.root, { '.gitattributes': 'src/a.txt filter=meet\n' });
  await git(bed.root, 'add', '-A');
  await git(bed.root, 'commit', '-q', '-m', 'Meet');
  await git(bed.root, 'config', 'filter.meet.smudge', `${join(bed.folder, 'meet.sh')} ${meeting}`);
  const tasks = [1, 2].map((number) => ({ number, branch: `task/${number}-a` }));
  const trees = await Promise.all(tasks.map((task) => bed.workspace.open(task)));
  for (const { path } of trees) expect(await git(path, 'status', '--porcelain')).toBe('');
  expect(readdirSync(meeting)).not.toContain('alone');
});
