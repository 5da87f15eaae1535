// Debian packages for tests. Without bubblewrap and chromium, the tests that need them are skipped and say so.
// Nothing here can fail the run.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const WANTED = [
  { program: 'bwrap', debian: 'bubblewrap', without: 'sandbox tests will be skipped' },
  { program: 'chromium', debian: 'chromium', without: 'browser tests will be skipped' },
  { program: 'strace', debian: 'strace', without: 'tests of what gates read will fail' },
  { program: 'python3', debian: 'python3', without: 'tests of projects in Python will fail' },
  { program: 'cc', debian: 'gcc libc6-dev', without: 'tests of projects in C will fail' },
];

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, encoding: 'utf8', timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] };
  const done = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], options);
  const lastLine = (done.stderr ?? '').trim().split('\n').at(-1);
  return { ok: done.status === 0, why: lastLine || done.error?.message || `exit code ${done.status}` };
}

function install(debian) {
  const options = ['install', '-y', '--no-install-recommends', ...debian.split(' ')];
  const first = apt(...options);
  if (first.ok) return first;
  // The usual reason on a new machine: the package lists were never downloaded.
  const update = apt('update');
  return update.ok ? apt(...options) : update;
}

export function ensureDebianPackages(say) {
  for (const { program, debian, without } of WANTED) {
    if (isOnPath(program)) continue;
    if (process.platform !== 'linux' || process.getuid?.() !== 0 || !isOnPath('apt-get')) {
      say(`${program} is not installed (Debian package ${debian}): ${without}`);
      continue;
    }
    say(`installing the Debian package ${debian} for the tests`);
    const done = install(debian);
    if (!done.ok) say(`${debian} could not be installed (${done.why}): ${without}`);
  }
}
