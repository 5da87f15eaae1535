import type { Evidence } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { receipt } from '../../../../../test/support/mill.ts';
import type { EngineDeps } from '../deps.ts';
import { withFewerTests } from './fewer-tests.ts';

test('a gate that ran fewer tests on a tree than on the target is found by the receipts of that tree', async () => {
  const counts = (passed: number) => ({ passed, failed: 0, skipped: 0 });
  const link = {
    ...receipt('test', 'T2', 'pass'),
    counts: counts(3),
    fewerThan: counts(5),
    position: 1,
  } as unknown as Evidence;
  const store = {
    evidenceForTree: async (projectId: string, tree: string) =>
      projectId === 'project_1' && tree === 'T2' ? [link] : [],
  };
  const project = { id: 'project_1', rules: { gateConfigs: {} } };
  const deps = { store, project } as unknown as EngineDeps;
  expect(await withFewerTests(deps, [undefined, 'T1'])).toEqual([]);
  expect(await withFewerTests(deps, [undefined, 'T1', 'T2'])).toMatchObject([
    { file: 'gate test', why: 'ran 3 tests, and 5 on the target' },
  ]);
});
