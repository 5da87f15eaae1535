import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectsOf } from './tiers.ts';

// `npm run test:changed [REF]`: the quick tests that import a file changed since REF. Without REF: since the last commit, or,
// if nothing is changed since, by the last commit. A test that only starts the program imports none of it, so a change of the
// program also runs one walk through it.

const root = join(import.meta.dirname, '..');
const WALK = 'test/e2e/cli-evidence.test.ts';
const PROGRAM = /^packages\/(contract|core|daemon)\/(src|bin)\/(?!.*\.test\.ts$)|^prompts\//;

function git(...args: string[]): string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) {
    console.error(`git ${args.join(' ')} failed: ${stderr.trim()}`);
    process.exit(2);
  }
  return stdout.split('\n').filter((line) => line !== '');
}

const isClean = () => git('status', '--porcelain').length === 0;
const since = process.argv[2] ?? (isClean() ? 'HEAD~1' : 'HEAD');
git('rev-parse', '--verify', '--quiet', `${since}^{commit}`);
const changed = [
  ...git('diff', '--name-only', '--relative', since),
  ...git('ls-files', '--others', '--exclude-standard'),
];
console.log(`${changed.length} files changed since ${since}`);

function vitest(...args: string[]): boolean {
  const program = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const options = { cwd: root, stdio: 'inherit' } as const;
  return spawnSync(process.execPath, [program, 'run', ...projectsOf('quick'), ...args], options).status === 0;
}

const passed = vitest(`--changed=${since}`, '--passWithNoTests');
const walked = !changed.some((file) => PROGRAM.test(file)) || vitest(WALK);
process.exitCode = passed && walked ? 0 : 1;
