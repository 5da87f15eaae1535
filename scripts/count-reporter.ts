import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** What `npm test` needs to know about a vitest run; written as JSON to the file named by TIDEMILL_TEST_COUNTS. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: { name: string; reason: string }[];
  /** The slowest first. */
  slowest: { file: string; ms: number }[];
}

const SHOWN = 10;

const nameOf = (test: TestCase) => `${test.module.relativeModuleId} > ${test.fullName}`;

function slowestOf(modules: readonly TestModule[]): TestCounts['slowest'] {
  const took = modules.map((module) => {
    const { duration, collectDuration, prepareDuration } = module.diagnostic();
    return { file: module.relativeModuleId, ms: duration + collectDuration + prepareDuration };
  });
  return took.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
}

/** vitest's own JSON leaves out why a test was skipped; this keeps the note given to `skip`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts: TestCounts = { passed: 0, failed: unhandled.length, skipped: [], slowest: slowestOf(modules) };
    for (const module of modules) {
      // A file that cannot be loaded, or a hook that throws, has errors but no failed test.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') counts.passed += 1;
        else if (result.state === 'skipped') counts.skipped.push({ name: nameOf(test), reason: result.note ?? '' });
        else counts.failed += 1;
      }
    }
    const file = process.env.TIDEMILL_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
  }
}
