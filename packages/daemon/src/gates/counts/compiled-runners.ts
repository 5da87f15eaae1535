import type { GateCounts } from '@tidemill/contract';
import { figure, NONE, type Runner, sum } from './runner.ts';

const each = (lines: string[], read: (line: string) => GateCounts): GateCounts => lines.map(read).reduce(sum, NONE);

/** `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out`, once per test binary. */
const cargo: Runner = {
  name: 'cargo',
  isPartial: true,
  line: /^test result: \w+\. \d+ passed; \d+ failed; \d+ ignored/,
  read: (lines) =>
    each(lines, (line) => ({
      passed: figure([line], 'passed'),
      failed: figure([line], 'failed'),
      skipped: figure([line], 'ignored', 'filtered out'),
    })),
};

/** `Summary [   0.024s] 19 tests run: 18 passed (1 slow), 1 failed, 2 skipped` */
const nextest: Runner = {
  name: 'nextest',
  line: /^\s*Summary \[[^\]]*\] +\d+(?:\/\d+)? tests? run:/,
  read: (lines) => ({
    passed: figure(lines, 'passed'),
    failed: figure(lines, 'failed', 'timed out', 'exec failed'),
    skipped: figure(lines, 'skipped'),
  }),
};

/** One line per test with -v or -json, otherwise one per package: `ok  	example.com/a	0.01s`. */
const go: Runner = {
  name: 'go',
  isPartial: true,
  line: /^=== RUN |^\s*--- (?:PASS|FAIL|SKIP): |^ok {2}\t\S+\t|^FAIL\t\S+|^\? {3}\t\S+\t\[no test files\]|^\{.{0,300}"Action":"(?:pass|fail|skip)".{0,300}"Test":"/,
  read: (lines) => {
    const count = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
    const isPerTest = lines.some((line) => /^(?:=== RUN|\s*--- (?:PASS|SKIP)|\{)/.test(line));
    return isPerTest
      ? {
          passed: count(/^\s*--- PASS: |"Action":"pass"/),
          failed: count(/^\s*--- FAIL: |"Action":"fail"/),
          skipped: count(/^\s*--- SKIP: |"Action":"skip"/),
        }
      : { passed: count(/^ok {2}\t(?!.*\[no tests to run\])/), failed: count(/^FAIL\t/), skipped: 0 };
  },
};

/** `Passed!  - Failed: 0, Passed: 5, Skipped: 0, Total: 5`, once per project. */
const dotnet: Runner = {
  name: 'dotnet',
  isPartial: true,
  line: /^\s*(?:Passed|Failed|Skipped)!\s+- Failed:\s+\d+, Passed:\s+\d+, Skipped:\s+\d+/,
  read: (lines) =>
    each(lines, (line) => ({
      passed: figure([line], 'Passed'),
      failed: figure([line], 'Failed'),
      skipped: figure([line], 'Skipped'),
    })),
};

/** One total for all projects, in one line (`Test summary: total: 5, failed: 0, …`) or in several. */
const dotnetTotal: Runner = {
  name: 'dotnet, one total',
  line: /^\s*Test summary: total: \d+|^Test run summary: |^Total tests: \d+|^\s+(?:total|failed|succeeded|skipped|Passed|Failed|Skipped): \d+$/,
  read: (lines) =>
    lines.some((line) => /summary: |^Total tests: /.test(line))
      ? {
          passed: figure(lines, 'succeeded', 'Passed'),
          failed: figure(lines, 'failed'),
          skipped: figure(lines, 'skipped'),
        }
      : null,
};

/** `[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1`, once per module. Lines about a class have a time. */
const maven: Runner = {
  name: 'maven',
  isPartial: true,
  line: /^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$/,
  read: (lines) =>
    each(lines, (line) => {
      const failed = figure([line], 'Failures', 'Errors');
      const skipped = figure([line], 'Skipped');
      return { passed: Math.max(0, figure([line], 'Tests run') - failed - skipped), failed, skipped };
    }),
};

export const COMPILED: readonly Runner[] = [cargo, nextest, go, dotnet, dotnetTotal, maven];
