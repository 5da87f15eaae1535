import { COMPILED } from './compiled-runners.ts';
import { figure, lastMatch, type Runner } from './runner.ts';

/** `Tests  1 failed | 2 passed (4)` of vitest, `Tests: 1 failed, 2 passed, 4 total` of jest. */
const vitestOrJest: Runner = {
  name: 'vitest or jest',
  line: /^\s*Tests:?\s+(?:\d+ (?:passed|failed|skipped|todo|pending|expected fail|total)\b|no tests$)|^No tests? (?:files )?found, exiting with code 0/,
  read: (lines) => ({
    passed: figure(lines, 'passed'),
    failed: figure(lines, 'failed'),
    skipped: figure(lines, 'skipped', 'todo', 'pending', 'expected fail'),
  }),
};

/** `# pass 3` in TAP, `ℹ pass 3` in the readable report. Tape prints no failures when there are none. */
const nodeTest: Runner = {
  name: 'node --test or tape',
  line: /^[#ℹ] (?:tests|suites|pass|fail|cancelled|skipped|todo) +\d+$/,
  read: (lines) =>
    lastMatch(lines, /tests +\d/) && lastMatch(lines, / pass /)
      ? {
          passed: figure(lines, 'pass'),
          failed: figure(lines, 'fail', 'cancelled'),
          skipped: figure(lines, 'skipped', 'todo'),
        }
      : null,
};

const mocha: Runner = {
  name: 'mocha',
  line: /^\s+\d+ (?:passing \(|failing$|pending$)/,
  read: (lines) =>
    lastMatch(lines, / passing /)
      ? {
          passed: figure(lines, 'passing'),
          failed: figure(lines, 'failing'),
          skipped: figure(lines, 'pending'),
        }
      : null,
};

/** A known failure is a test that is expected to fail. */
const ava: Runner = {
  name: 'ava',
  line: /^\s+\d+ (?:tests? (?:passed|failed|skipped|todo)|known failures?|uncaught exceptions?|unhandled rejections?)$/,
  read: (lines) =>
    lastMatch(lines, /tests? (?:passed|failed)/)
      ? {
          passed: figure(lines, 'tests? passed'),
          failed: figure(lines, 'tests? failed', 'uncaught exceptions?', 'unhandled rejections?'),
          skipped: figure(lines, 'tests? skipped', 'tests? todo', 'known failures?'),
        }
      : null,
};

/** `# { total: 2, pass: 1, skip: 1 }` */
const nodeTap: Runner = {
  name: 'tap',
  line: /^# \{ total: \d+(?:, \w+: \d+)* \}$/,
  read: (lines) => ({
    passed: figure(lines, 'pass'),
    failed: figure(lines, 'fail'),
    skipped: figure(lines, 'skip', 'todo'),
  }),
};

/** TAP without a summary: bats, and programs of the project. */
const tap: Runner = {
  name: 'TAP',
  isPartial: true,
  isWeak: true,
  line: /^(?:1\.\.\d+|(?:not )?ok \d+\b.*)$/,
  read: (lines) => {
    const results = lines.filter((line) => !line.startsWith('1..'));
    const skipped = results.filter((line) => /# (?:skip|todo)/i.test(line)).length;
    const failed = results.filter((line) => /^not ok/.test(line) && !/# (?:skip|todo)/i.test(line)).length;
    return { passed: results.length - skipped - failed, failed, skipped };
  },
};

const bun: Runner = {
  name: 'bun',
  line: /^ +\d+ (?:pass|fail|skip|todo|expect\(\) calls)$|^Ran \d+ tests? across \d+ files?\./,
  read: (lines) =>
    lastMatch(lines, /^Ran /)
      ? { passed: figure(lines, 'pass'), failed: figure(lines, 'fail'), skipped: figure(lines, 'skip', 'todo') }
      : null,
};

/** `ok | 1 passed (2 steps) | 0 failed | 1 ignored (32ms)` */
const deno: Runner = {
  name: 'deno',
  line: /^(?:ok|FAILED) \| \d+ passed\b/,
  read: (lines) => ({
    passed: figure(lines, 'passed'),
    failed: figure(lines, 'failed'),
    skipped: figure(lines, 'ignored', 'filtered out'),
  }),
};

/** `=== 1 failed, 2 passed, 1 skipped in 0.12s ===`, with -q without the bars. */
const pytest: Runner = {
  name: 'pytest',
  line: /^(?:=+ )?(?:no tests ran|(?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+) in [\d.]+s/,
  read: (lines) => ({
    passed: figure(lines, 'passed', 'xpassed'),
    failed: figure(lines, 'failed', 'errors?'),
    skipped: figure(lines, 'skipped', 'xfailed', 'deselected'),
  }),
};

/** `Ran 3 tests in 0.001s`, an empty line, `OK (skipped=1, expected failures=1)`. */
const unittest: Runner = {
  name: 'unittest',
  line: /^Ran \d+ tests? in [\d.]+s$|^(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?$/,
  read: (lines) => {
    const ran = lastMatch(lines, /^Ran (\d+)/);
    if (!ran) return null;
    const failed = figure(lines, '(?<!expected )failures', 'errors', 'unexpected successes');
    const skipped = figure(lines, 'skipped', 'expected failures');
    return { passed: Math.max(0, Number(ran[1]) - failed - skipped), failed, skipped };
  },
};

/** `OK (3 tests, 5 assertions)`, `Tests: 3, Assertions: 2, Failures: 1, Skipped: 1.` */
const phpunit: Runner = {
  name: 'phpunit',
  line: /^OK \(\d+ tests?, \d+ assertions?\)$|^Tests: \d+, Assertions: \d+.*\.$|^No tests executed!$/,
  read: (lines) => {
    const whole = Number(lastMatch(lines, /(?:Tests: |OK \()(\d+)/)?.[1] ?? 0);
    const failed = figure(lines, 'Failures', 'Errors');
    const skipped = figure(lines, 'Skipped', 'Incomplete');
    return { passed: Math.max(0, whole - failed - skipped), failed, skipped };
  },
};

/** `5 examples, 1 failure, 1 pending`; minitest: `3 runs, 3 assertions, 0 failures, 0 errors, 1 skips`. */
const ruby: Runner = {
  name: 'rspec or minitest',
  line: /^\d+ examples?, \d+ failures?\b|^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors, \d+ skips/,
  read: (lines) => {
    const failed = figure(lines, 'failures?', 'errors', 'errors? occurred');
    const skipped = figure(lines, 'pending', 'skips');
    return { passed: Math.max(0, figure(lines, 'examples?', 'runs', 'tests') - failed - skipped), failed, skipped };
  },
};

/** Every runner whose output is read. */
export const RUNNERS: readonly Runner[] = [
  ...[vitestOrJest, nodeTest, mocha, ava, nodeTap, bun, deno, pytest, unittest, phpunit, ruby],
  ...COMPILED,
  tap,
];
