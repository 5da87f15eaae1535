import { type Feedback, isBlocking } from '@tidemill/contract';
import type { CleanCheckout, GateReport } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { EnvironmentError, prepareCheckout } from '../stages/environment.ts';
import { latest, runWithRetry } from '../stages/gate-retry.ts';
import type { LeasedJob } from '../workers/leased-work.ts';

export interface TriedWork {
  commit: string;
  files: string[];
  base: string;
}

export type ReplayProof =
  | { kind: 'passed' }
  | { kind: 'failed'; gates: string[]; feedback: Feedback[] }
  /** The recorded state itself fails: the run says nothing. */
  | { kind: 'void'; why: string };

/** How often gates may fix files, after which the proof begins again. */
const MAX_REPAIRS = 2;

/**
 * Runs the gates on a clean checkout of the work, like a proof. It records no evidence and raises no alert: nothing of a
 * replay may help or hinder a real change.
 */
export async function proveReplay(
  deps: EngineDeps,
  leased: LeasedJob,
  baseline: Baseline,
  first: TriedWork,
): Promise<ReplayProof> {
  let work = first;
  for (let repairs = 0; ; repairs += 1) {
    const proof = await proveOnce(deps, leased, baseline, work);
    if (!('fixed' in proof)) return proof;
    if (repairs === MAX_REPAIRS) {
      const { gate } = proof;
      return failed([{ gate, text: `Gate ${gate} changes files each time it runs.` }]);
    }
    work = { ...work, commit: proof.fixed };
  }
}

async function proveOnce(
  deps: EngineDeps,
  leased: LeasedJob,
  baseline: Baseline,
  work: TriedWork,
): Promise<ReplayProof | { gate: string; fixed: string }> {
  leased.isTesting = true;
  const checkout = await deps.workspace.checkOut(work.commit);
  try {
    const { signal, control, watch } = leased;
    const broken = await prepareCheckout(deps, checkout, { signal, control, watch, base: work.base });
    if (broken !== null) return failed([{ gate: 'prepare', text: `The project's prepare steps fail:\n${broken}` }]);
    const reports = await run(deps, leased, checkout, work);
    leased.check();
    const repair = reports.find(({ fixed }) => fixed.length > 0);
    if (repair) {
      const fixed = await deps.workspace.commitOf(await checkout.writeTree(), work.commit);
      return { gate: repair.receipt.gate, fixed };
    }
    const bad = reports.filter(({ receipt }) => isBlocking(receipt));
    if (bad.length === 0) return { kind: 'passed' };
    const names = bad.map(({ receipt }) => receipt.gate);
    const red = await baseline.redAmong(work.base, names, leased);
    const own = bad.filter(({ receipt }) => !red.has(receipt.gate));
    const unable = own.find(({ receipt }) => receipt.status === 'unverified');
    if (unable) {
      const { gate } = unable.receipt;
      throw new EnvironmentError(`gate ${gate}`, `Gate ${gate} could not run: ${unable.excerpt}`, true);
    }
    if (own.length === 0)
      return { kind: 'void', why: `the commit that the task was based on fails ${names.join(', ')} itself` };
    return failed(
      own.map(({ receipt, excerpt }) => ({
        gate: receipt.gate,
        text: `Gate ${receipt.gate} failed (${receipt.command}):\n${excerpt}`,
      })),
    );
  } finally {
    await checkout.close();
    leased.isTesting = false;
    leased.sign();
  }
}

const failed = (gates: { gate: string; text: string }[]): ReplayProof => ({
  kind: 'failed',
  gates: gates.map(({ gate }) => gate),
  feedback: gates.map(({ text }) => ({ kind: 'gate', text, files: [] })),
});

async function run(
  deps: EngineDeps,
  leased: LeasedJob,
  checkout: CleanCheckout,
  work: TriedWork,
): Promise<GateReport[]> {
  const { signal, control, watch } = leased;
  const { path, tree } = checkout;
  const reset = async () => {
    await checkout.reset();
    await prepareCheckout(deps, checkout, { signal, control, watch, base: work.base });
  };
  const request = {
    path,
    tree,
    files: work.files,
    signal,
    control,
    watch,
    reset,
    changes: () => checkout.changes(),
  };
  return latest(await runWithRetry(deps.gates, request));
}
