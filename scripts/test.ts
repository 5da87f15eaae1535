import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CheckResult, repositoryChecks, runChecks } from './check.ts';
import type { TestCounts } from './count-reporter.ts';
import { testDisk } from './memory-disk.ts';
import { loadRequirements } from './requirements.ts';
import { failedFiles, judge, slowest, sum, vanished, withSecondTry } from './test-counts.ts';
import { missingPrograms } from './test-programs.ts';
import { projectsOf, tierNamed } from './tiers.ts';

// `npm test`: the checks, then the tests of the quick tier, then one closing line of counts. A few files that fail are run
// once more, alone: a test that passes then is reported as unstable.
//   npm test -- store        only the test files whose path contains "store" (the checks still run)
//   npm run test:long        the tests of the long tier, without the checks
//   npm run test:changed     the quick tests that import what was changed since the last commit
//   npm run check            only the checks
// In CI nothing may be missing and no test may be skipped.

const root = join(import.meta.dirname, '..');
const isCi = Boolean(process.env.CI);

const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { 'only-checks': { type: 'boolean', default: false }, tier: { type: 'string', default: 'quick' } },
});
const tier = tierNamed(options.tier);

function show({ check, passed, output, tookMs }: CheckResult): void {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${check.name} (${(tookMs / 1000).toFixed(1)} s)`);
  if ((!passed || check.alwaysShow) && output.trim()) console.log(output.trimEnd().replace(/^/gm, '       '));
}

function vitest(args: string[], countsFile: string): Promise<number | null> {
  const program = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'count-reporter.ts')}`];
  const disk = testDisk();
  const [command, ...rest] = disk.wrap([process.execPath, program, 'run', ...projectsOf(tier), ...reporters, ...args]);
  const env = { ...process.env, ...disk.env, TIDEMILL_TEST_COUNTS: countsFile };
  return new Promise<number | null>((resolve, reject) => {
    const child = spawn(command, rest, { cwd: root, env, stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', resolve);
  }).finally(disk.close);
}

async function runTests(args: string[]): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-counts-'));
  try {
    const file = join(folder, 'counts.json');
    const exitCode = await vitest(args, file);
    const counts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TestCounts) : null;
    return judge(counts, exitCode, console.log);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tests with a second try of what failed. */
async function runTwice(): Promise<{ tests: TestCounts; unstable: string[]; problems: string[] }> {
  const first = await runTests(filters);
  const again = failedFiles(first);
  if (again.length > 0) console.log(`\nRunning again, alone: ${again.join(', ')}`);
  const result = again.length > 0 ? withSecondTry(first, await runTests(again)) : { tests: first, unstable: [] };
  console.log('The slowest files:');
  for (const { file, ms } of slowest(first)) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
  // A run of chosen files may leave proofs out.
  const requirements = filters.length === 0 ? loadRequirements(root) : [];
  return { ...result, problems: vanished(result.tests, requirements, isCi) };
}

if (isCi && !options['only-checks']) {
  const missing = await missingPrograms();
  for (const { name, why } of missing)
    console.log(`FAILED ${name} is missing, and in CI no test may be skipped: ${why}`);
  if (missing.length > 0) {
    console.log(`\n0 passed, ${missing.length} failed, 0 skipped`);
    process.exit(1);
  }
}
const checks = tier === 'quick' ? await runChecks(repositoryChecks(root), root, 2, show) : [];
let passed = checks.filter((result) => result.passed).length;
let failed = checks.length - passed;
let skipped = 0;
if (!options['only-checks']) {
  const { tests, unstable, problems } = await runTwice();
  const skips = tests.files.flatMap((file) => file.skipped);
  passed += sum(tests.files.map((file) => file.passed));
  failed += sum(tests.files.map((file) => file.failed.length)) + tests.unhandled + problems.length;
  skipped = skips.length;
  for (const { name, reason } of skips) console.log(`skipped: ${name}: ${reason || 'no reason given'}`);
  for (const name of unstable) console.log(`UNSTABLE: failed at first and passed alone: ${name}`);
  for (const problem of problems) console.log(`FAILED ${problem}`);
  for (const result of checks) if (!result.passed) console.log(`FAILED ${result.check.name}: see above`);
}
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;
