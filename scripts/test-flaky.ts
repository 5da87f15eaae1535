import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { TestCounts } from './count-reporter.ts';
import { judge } from './test-counts.ts';

// `npm run test:flaky FILE [-- --times 20]`: runs a test file again and again beside busy processes, one per core, and names
// the tests that failed in some of the runs.

const root = join(import.meta.dirname, '..');
/** A busy process ends by itself, also when this one is killed. */
const BUSY = 'const end = Date.now() + 60_000; while (Date.now() < end && process.ppid !== 1);';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '20' } },
});
const times = Number(values.times);
const [file] = positionals;
if (!file || positionals.length > 1 || !Number.isInteger(times) || times < 1) {
  console.error('Usage: npm run test:flaky FILE [-- --times 20]. FILE is a part of the path of one test file.');
  process.exit(2);
}

/** Keeps every core busy until it is stopped. */
function startLoad(): () => void {
  let isOver = false;
  const running = new Set<ChildProcess>();
  const startOne = () => {
    const child = spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' });
    running.add(child);
    child.once('exit', () => {
      running.delete(child);
      if (!isOver) startOne();
    });
  };
  for (let core = 0; core < availableParallelism(); core += 1) startOne();
  return () => {
    isOver = true;
    for (const child of running) child.kill('SIGKILL');
  };
}

/** The names of the tests that fail in one run. */
function failuresOf(run: string, folder: string): string[] {
  const counts = join(folder, `${run}.json`);
  const program = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [program, 'run', file!, `--reporter=${join(root, 'scripts', 'count-reporter.ts')}`, '--reporter=dot'];
  const env = { ...process.env, TIDEMILL_TEST_COUNTS: counts };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  const written = existsSync(counts) ? (JSON.parse(readFileSync(counts, 'utf8')) as TestCounts) : null;
  const { files, unhandled } = judge(written, status, console.log);
  const failed = files.flatMap((each) => each.failed);
  if (unhandled > 0) failed.push('an error outside of tests');
  if (failed.length > 0) console.log(`${stdout}${stderr}`);
  return failed;
}

const folder = mkdtempSync(join(tmpdir(), 'tidemill-flaky-'));
const stopLoad = startLoad();
const failures = new Map<string, number>();
let bad = 0;
try {
  for (let run = 1; run <= times; run += 1) {
    const failed = failuresOf(String(run), folder);
    if (failed.length > 0) bad += 1;
    for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
    console.log(`run ${run} of ${times}: ${failed.length === 0 ? 'passed' : `${failed.length} failed`}`);
  }
} finally {
  stopLoad();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, count] of failures) console.log(`FLAKY: failed in ${count} of ${times} runs: ${name}`);
console.log(`\n${times - bad} passed, ${bad} failed`);
process.exitCode = bad > 0 ? 1 : 0;
