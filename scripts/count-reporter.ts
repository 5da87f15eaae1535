import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** What `npm test` needs to know about a test file. */
export interface FileCounts {
  file: string;
  passed: number;
  /** Names of failed tests, and what failed outside of tests. */
  failed: string[];
  skipped: { name: string; reason: string }[];
  tests: TestOutcome[];
  ms: number;
}

export interface TestOutcome {
  /** The names of its suites from outer to inner, then its own. */
  titles: string[];
  state: 'passed' | 'failed' | 'skipped';
}

/** Of a vitest run; written as JSON to the file named by TIDEMILL_TEST_COUNTS. */
export interface TestCounts {
  files: FileCounts[];
  /** Errors that belong to no file. */
  unhandled: number;
}

const nameOf = (test: TestCase) => `${test.module.relativeModuleId} > ${test.fullName}`;

function titlesOf(test: TestCase): string[] {
  const titles = [test.name];
  for (let { parent } = test; parent.type === 'suite'; { parent } = parent) titles.unshift(parent.name);
  return titles;
}

function countsOf(module: TestModule): FileCounts {
  const file = module.relativeModuleId;
  const { duration, collectDuration, prepareDuration } = module.diagnostic();
  const counts: FileCounts = {
    file,
    passed: 0,
    failed: [],
    skipped: [],
    tests: [],
    ms: duration + collectDuration + prepareDuration,
  };
  // A file that cannot be loaded, or a hook that throws, has errors but no failed test.
  for (const _ of module.errors()) counts.failed.push(file);
  for (const suite of module.children.allSuites())
    for (const _ of suite.errors()) counts.failed.push(`${file} > ${suite.fullName}`);
  for (const test of module.children.allTests()) {
    const result = test.result();
    // A test that a bailed run never reached is pending.
    counts.tests.push({ titles: titlesOf(test), state: result.state === 'pending' ? 'failed' : result.state });
    if (result.state === 'passed') counts.passed += 1;
    else if (result.state === 'skipped') counts.skipped.push({ name: nameOf(test), reason: result.note ?? '' });
    else counts.failed.push(nameOf(test));
  }
  return counts;
}

/** vitest's own JSON leaves out why a test was skipped; this keeps the note given to `skip`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts: TestCounts = { files: modules.map(countsOf), unhandled: unhandled.length };
    const file = process.env.TIDEMILL_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
  }
}
