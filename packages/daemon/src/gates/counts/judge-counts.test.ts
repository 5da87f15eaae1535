import { GateConfig, type GateCounts } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { judgeCounts } from './judge-counts.ts';

const of = (passed: number, failed = 0, skipped = 0): GateCounts => ({ passed, failed, skipped });
const judged = async (
  settings: object,
  counts: GateCounts | null,
  target: GateCounts | null | undefined,
  isUntested = false,
) => {
  const gate = GateConfig.parse({ name: 'test', run: 'sh test.sh', ...settings });
  const about = target === undefined ? {} : { counted: async () => target, untested: async () => isUntested };
  return (await judgeCounts(gate, counts, about)).verdict?.says ?? 'passes';
};

test.each<[what: string, settings: object, counts: GateCounts | null, target: GateCounts | null | undefined]>([
  ['tests ran', {}, of(2), of(2)],
  ['it never prints figures', {}, null, null],
  ['only the exit code counts', { expects: 'exit_code' }, of(0), of(2)],
  ['there is no change to judge', {}, of(0), undefined],
  ['it runs no test on the target either, and another gate does', {}, of(0), of(0)],
])('a gate that exits with 0 passes where %s', async (_what, settings, counts, target) => {
  expect(await judged(settings, counts, target)).toBe('passes');
});

test('a gate that exits with 0 and ran no test proves nothing, where tests are known to exist or are expected', async () => {
  expect(await judged({}, of(0), of(2))).toContain('ran no test, although 2 tests ran on the target');
  expect(await judged({}, null, of(2))).toContain('shows no test figures');
  expect(await judged({}, of(0, 0, 3), of(1))).toContain('ran no test (3 skipped), although 1 test ran');
  expect(await judged({ expects: 'tests' }, of(0), undefined)).toContain('is set to `expects: tests`');
});

test('a gate that ran no test proves nothing where no gate ran one on the target: the first change brings a test', async () => {
  expect(await judged({}, of(0), of(0), true)).toContain('ran no test, and no gate ran one on the target');
  expect(await judged({}, of(1), of(0), true)).toBe('passes');
  // A linter prints no figures, and tests that are all skipped exist.
  expect(await judged({}, null, null, true)).toBe('passes');
  expect(await judged({}, of(0, 0, 3), of(0, 0, 3), true)).toBe('passes');
});
