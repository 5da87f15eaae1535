import { type Delivery, isBlocking } from '@tidemill/contract';
import type { GateReport } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { prepareCheckout } from '../stages/environment.ts';
import { latest, runWithRetry } from '../stages/gate-retry.ts';

type CommitProof = { reports: GateReport[]; failed: string | null };

/**
 * Runs all gates on a clean checkout of exactly the commit. It is for commits that others made: GitHub's merge of a pull request,
 * and what people pushed. They are compared with what the environment has, or with the commit before.
 */
export async function proveCommit(
  deps: EngineDeps,
  baseline: Baseline,
  { commit, previous }: Delivery,
  signal: AbortSignal,
): Promise<CommitProof> {
  const { workspace, gates } = deps;
  const base = previous?.commit ?? (await workspace.parentOf(commit));
  const files = await workspace.filesIn(commit, base === null ? 'parent' : { commit: base });
  const checkout = await workspace.checkOut(commit);
  try {
    const { path, tree } = checkout;
    const compared = base === null ? {} : { base };
    const prepare = () => prepareCheckout(deps, checkout, { signal, ...compared });
    const broken = await prepare();
    if (broken !== null) return { reports: [], failed: `the checkout could not be prepared: ${broken}` };
    const reports = await runWithRetry(gates, {
      ...{ path, tree, commit, files, signal, isLanded: true },
      changes: () => checkout.changes(),
      reset: async () => {
        await checkout.reset();
        await prepare();
      },
      ...(base === null
        ? {}
        : {
            known: (gate: string) => baseline.findings(base, gate, { signal }),
            before: async (names: string[]) =>
              (await workspace.changedFiles(null, { trees: { base, tree }, alsoBefore: names })).before,
          }),
    });
    const repair = reports.find(({ fixed }) => fixed.length > 0);
    // Its receipt is about files that are not those of the commit.
    if (repair) return { reports: [], failed: `gate ${repair.receipt.gate} changes ${repair.fixed.join(', ')}` };
    return { reports, failed: failureOf(latest(reports)) };
  } finally {
    await checkout.close();
  }
}

function failureOf(reports: GateReport[]): string | null {
  const bad = reports.filter(({ receipt }) => isBlocking(receipt));
  if (bad.length === 0) return null;
  const names = bad.map(({ receipt }) => receipt.gate).join(', ');
  return `it does not pass ${names}: ${bad[0]!.excerpt.trim()}`;
}
