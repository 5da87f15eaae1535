import type { Evidence, Feedback } from '@tidemill/contract';
import type { GateReport, Worktree } from '../ports.ts';
import type { EngineDeps } from './deps.ts';
import type { Held } from './held.ts';

export type Proof =
  | { kind: 'passed' }
  | { kind: 'failed'; gates: string[]; feedback: Feedback[] }
  | { kind: 'unverified'; message: string };

/** Has this very tree passed every gate? The newest receipt of each gate decides. */
async function isProven(deps: EngineDeps, tree: string): Promise<boolean> {
  const newest = newestByGate(await deps.store.evidenceForTree(deps.project.id, tree));
  return deps.gates.names.every((gate) => newest.get(gate)?.status === 'pass');
}

/** The hash a landed commit carries: the last link among the receipts that prove its tree. */
export async function proofHash(deps: EngineDeps, tree: string): Promise<string> {
  const newest = newestByGate(await deps.store.evidenceForTree(deps.project.id, tree));
  const links = deps.gates.names.map((gate) => newest.get(gate)).filter((link) => link !== undefined);
  return links.reduce((last, link) => (link.position > last.position ? link : last)).hash;
}

/** Runs the gates on a worktree that shows `tree` and puts their receipts on record. Costs nothing when it is proven already. */
export async function prove(
  deps: EngineDeps,
  held: Held,
  worktree: Worktree,
  tree: string,
  files: string[],
): Promise<Proof> {
  if (await isProven(deps, tree)) return { kind: 'passed' };
  held.isTesting = true;
  const reports = await deps.gates.run(worktree, tree, files, held.signal, held.reins).finally(() => {
    held.isTesting = false;
    held.sign();
  });
  // Gates that were stopped have proven nothing, either way.
  held.check();
  await held.must({ type: 'evidence.record', receipts: reports.map((report) => report.receipt) });
  return verdictOf(reports);
}

function verdictOf(reports: GateReport[]): Proof {
  const unverified = reports.find(({ receipt }) => receipt.status === 'unverified');
  if (unverified) {
    const { gate, command } = unverified.receipt;
    const message = `Gate ${gate} could not run \`${command}\`: ${unverified.excerpt.trim().slice(0, 500)}`;
    return { kind: 'unverified', message };
  }
  const failed = reports.filter(({ receipt }) => receipt.status === 'fail');
  if (failed.length === 0) return { kind: 'passed' };
  const feedback = failed.map(({ receipt, excerpt }) => ({
    kind: 'gate' as const,
    text: `Gate ${receipt.gate} failed (${receipt.command}):\n${excerpt}`,
    files: [],
  }));
  return { kind: 'failed', gates: failed.map(({ receipt }) => receipt.gate), feedback };
}

function newestByGate(links: Evidence[]): Map<string, Evidence> {
  const newest = new Map<string, Evidence>();
  for (const link of links) {
    if ((newest.get(link.gate)?.position ?? 0) < link.position) newest.set(link.gate, link);
  }
  return newest;
}
