import type { GateCounts } from '@tidemill/contract';

type Reader = (text: string) => GateCounts | null;

/** How many tests a runner says it ran, if its summary is one of those we know. `text` has no colours. */
export function readCounts(text: string): GateCounts | null {
  for (const read of [vitestOrJest, nodeTest, cargo, go, pytest]) {
    const counts = read(text);
    if (counts) return counts;
  }
  return null;
}

/** `Tests  1 failed | 2 passed | 1 skipped (4)` and `Tests: 1 failed, 1 skipped, 2 passed, 4 total`. */
const vitestOrJest: Reader = (text) => {
  const line = last(text, /^[ \t]*Tests:?[ \t]+(\d+ (?:passed|failed|skipped|todo).*)$/gm);
  return line === null ? null : words(line);
};

/** `# pass 3` in TAP, `ℹ pass 3` in the readable report. */
const nodeTest: Reader = (text) => {
  const figure = (name: string) => last(text, new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm'));
  const passed = figure('pass');
  const failed = figure('fail');
  if (passed === null || failed === null) return null;
  const skipped = Number(figure('skipped') ?? 0) + Number(figure('todo') ?? 0);
  return { passed: Number(passed), failed: Number(failed), skipped };
};

/** `test result: ok. 5 passed; 0 failed; 1 ignored; …`, once per test binary. */
const cargo: Reader = (text) => {
  const lines = [...text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  return lines.length === 0 ? null : lines.map(([, ...figures]) => triple(figures)).reduce(sum);
};

/** With -v one line per test; without it one per package. */
const go: Reader = (text) => {
  const isVerbose = /^=== RUN /m.test(text);
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  const counts = isVerbose
    ? {
        passed: count(/^\s*--- PASS: /gm),
        failed: count(/^\s*--- FAIL: /gm),
        skipped: count(/^\s*--- SKIP: /gm),
      }
    : {
        passed: count(/^ok {2}\t\S+\t/gm),
        failed: count(/^FAIL\t\S+/gm),
        skipped: count(/^\? {3}\t\S+\t\[no test files\]/gm),
      };
  return counts.passed + counts.failed === 0 ? null : counts;
};

/** `=== 1 failed, 2 passed, 1 skipped in 0.12s ===`, with -q without the bars. */
const pytest: Reader = (text) => {
  const line = last(text, /^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s/gm);
  return line === null || !/passed|failed|error|skipped/.test(line) ? null : words(line);
};

function words(line: string): GateCounts {
  const figure = (name: string) => Number(new RegExp(`(\\d+) ${name}`).exec(line)?.[1] ?? 0);
  return {
    passed: figure('passed'),
    failed: figure('failed') + figure('errors?\\b'),
    skipped: figure('skipped') + figure('todo'),
  };
}

/** A runner may print its summary more than once (one per workspace); the last one is the run's. */
function last(text: string, pattern: RegExp): string | null {
  return [...text.matchAll(pattern)].at(-1)?.[1] ?? null;
}

function triple([passed, failed, skipped]: string[]): GateCounts {
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

function sum(a: GateCounts, b: GateCounts): GateCounts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}
