import { type Deciding, fewerTests, newestByGate } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** Gates that ran fewer tests than on the target, by the first of these trees whose receipts say so. */
export async function withFewerTests(
  { store, project }: Pick<EngineDeps, 'store' | 'project'>,
  trees: (string | undefined)[],
): Promise<Deciding[]> {
  for (const tree of trees) {
    const links = tree === undefined ? [] : await store.evidenceForTree(project.id, tree);
    const found = fewerTests(newestByGate(links, project.rules.gateConfigs).values());
    if (found.length > 0) return found;
  }
  return [];
}
