import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files start first, so that no core is idle at the end while another one runs the last long file.
 * vitest itself knows the duration of a file only where it ran before.
 */
const SLOWEST = [
  'test/e2e/vendor-mission',
  'test/contract/agent-transcripts.long',
  'test/e2e/vscode',
  'test/e2e/demo',
  'test/e2e/fleet',
  'test/e2e/mission',
  'test/e2e/dashboard',
  'test/e2e/hostile/cheats',
  'test/contract/store-race',
  'test/sim/sim.',
  'test/e2e/pack',
  'test/e2e/hostile/faults',
  'test/e2e/vendor-',
  'test/e2e/page-',
  'test/e2e/',
  'test/sim/',
  'test/contract/agent-',
  'test/',
  'packages/daemon/src/http/bad-input',
  'packages/core/src/budget/overspend',
];

const rank = (path: string): number => {
  const index = SLOWEST.findIndex((part) => path.includes(part));
  return index < 0 ? SLOWEST.length : index;
};

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}
