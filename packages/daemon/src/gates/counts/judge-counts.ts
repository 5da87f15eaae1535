import { type GateConfig, type GateCounts, type GateStatus, ranTests } from '@tidemill/contract';
import { hasFewerTests } from '@tidemill/core';
import type { GateRequest } from '../../ports.ts';

interface JudgedCounts {
  /** Present: the gate does not pass. */
  verdict?: { status: GateStatus; says: string; note: string };
  fewerThan?: GateCounts;
}

/** Does it matter how many tests the gate ran? */
export const isCounted = ({ kind = 'command', expects, severity }: GateConfig): boolean =>
  kind === 'command' && expects !== 'exit_code' && severity !== 'warn';

/**
 * A gate that exits with 0 and ran no test has proven nothing. It is known to be a gate of tests by its settings, because it
 * ran tests on the target, or by its own figures where no gate ran a test there.
 */
export async function judgeCounts(
  gate: GateConfig,
  counts: GateCounts | null,
  { counted, untested }: Pick<GateRequest, 'counted' | 'untested'>,
): Promise<JudgedCounts> {
  if (!isCounted(gate)) return {};
  const target = (await counted?.(gate.name)) ?? null;
  if (ranTests(counts) > 0) return target && counts && hasFewerTests(target, counts) ? { fewerThan: target } : {};
  const onTarget = ranTests(target);
  const isFirst = counts?.skipped === 0 && onTarget === 0 && ((await untested?.()) ?? false);
  if (gate.expects !== 'tests' && onTarget === 0 && !isFirst) return {};
  const why =
    onTarget > 0
      ? `, although ${onTarget === 1 ? '1 test ran' : `${onTarget} tests ran`} on the target`
      : gate.expects === 'tests'
        ? ', and the gate is set to `expects: tests`'
        : ', and no gate ran one on the target';
  const what = counts
    ? `ran no test${counts.skipped > 0 ? ` (${counts.skipped} skipped)` : ''}`
    : 'shows no test figures';
  const says = `exited with 0 but ${what}${why}, so it proves nothing`;
  return { verdict: { status: 'unverified', says, note: `${says}. ${isFirst ? FIRST : counts ? EMPTY : UNREADABLE}` } };
}

const FIRST =
  'Add a test of the change that this command runs. If the project is meant to have none, a person sets `expects: exit_code` on the gate, or `untested: true`';
const EMPTY =
  'Make the command find the tests again. If the project is meant to have none, a person sets `expects: exit_code` on the gate';
const UNREADABLE =
  'Let the test runner print its usual summary. If it is a runner that Tidemill cannot read, a person names its figures with `counts:` or `report:` on the gate, or sets `expects: exit_code`';
