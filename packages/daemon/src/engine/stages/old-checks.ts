import { INTEGRITY_GATE, isBlocking, type OldChecks, type Task } from '@tidemill/contract';
import { type ChangedFile, judgedFor, oldCheckFindings } from '@tidemill/core';
import type { CleanCheckout, GateReport, GateRequest } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { type FoundDeciding, findDeciding } from './deciding.ts';
import { EnvironmentError, PREPARE, prepareCheckout } from './environment.ts';
import { latest } from './gate-retry.ts';
import { isProven, type Prover } from './prove.ts';

/** Work with the files of it that decide what gates check. */
export interface JudgedWork extends Pick<FoundDeciding, 'changed'> {
  tree: string;
  /** The commit whose versions of these files judge. */
  base: string;
}

type Verdict = Omit<OldChecks, 'tree' | 'judged'>;
const PASSED: Verdict = { result: 'passed', findings: [], why: '' };

/**
 * Runs the base's versions of files that decide on the new code: in a clean checkout of the work's tree with these files put
 * back. Its results are no receipts, because that tree never lands. `known`: tasks whose results may answer it already.
 */
export async function judge(
  deps: EngineDeps,
  leased: LeasedTask,
  prover: Prover,
  { tree, base, changed }: JudgedWork,
  known: readonly Pick<Task, 'oldChecks'>[],
): Promise<OldChecks> {
  const { workspace } = deps;
  const mixed = await workspace.putBack(
    tree,
    base,
    changed.map(({ path }) => path),
  );
  const about = { tree, judged: mixed.tree };
  const before = known
    .flatMap(({ oldChecks }) => oldChecks)
    .findLast(({ judged, result }) => judged === mixed.tree && result !== 'not_run');
  if (before) return { ...before, ...about };
  if (mixed.tree === (await workspace.treeOf(base))) return { ...about, ...PASSED, result: 'same' };
  if (await isProven(deps, mixed.tree, [])) return { ...about, ...PASSED };
  return { ...about, ...(await run(deps, leased, prover, { commit: mixed.commit, base, changed })) };
}

interface Trial extends Pick<JudgedWork, 'base' | 'changed'> {
  commit: string;
}

async function run(deps: EngineDeps, leased: LeasedTask, prover: Prover, trial: Trial): Promise<Verdict> {
  leased.isTesting = true;
  const checkout = await deps.workspace.checkOut(trial.commit);
  try {
    const { signal, control, watch } = leased;
    const broken = await prepareCheckout(deps, checkout, { signal, control, watch, base: trial.base });
    if (broken !== null) return failed([{ gate: PREPARE, output: broken }], trial.changed);
    const reports = await runGates(deps, leased, prover, checkout, trial);
    // Gates that were stopped have no result.
    leased.check();
    return await verdictOf(prover, leased, reports, trial);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    const found = failed([{ gate: PREPARE, output: error.message }], trial.changed);
    // Old lock files that do not fit to new sources look like a broken environment.
    const isInstalled = error.what === PREPARE && found.findings.every(({ reason }) => reason === 'dependency');
    return isInstalled ? found : { result: 'not_run', findings: [], why: error.message };
  } finally {
    await checkout.close();
    leased.isTesting = false;
    leased.sign();
  }
}

const failed = (gates: { gate: string; output: string }[], changed: ChangedFile[]): Verdict => ({
  result: 'failed',
  findings: oldCheckFindings(gates, changed),
  why: '',
});

/** Nothing is pushed to CI for it, and gates that fix files may do so: only the results count. */
async function runGates(
  deps: EngineDeps,
  { ref, signal, control, watch }: LeasedTask,
  { baseline }: Prover,
  checkout: CleanCheckout,
  { base, changed, commit }: Trial,
): Promise<GateReport[]> {
  const { gates, workspace } = deps;
  const { path, tree } = checkout;
  const request: GateRequest = {
    ...{ path, tree, commit, signal, control, watch },
    files: changed.map((file) => file.path),
    held: 'It is run here only, to compare it with the change.',
    only: gates.names.filter((gate) => gate !== INTEGRITY_GATE && !gates.ofChange?.includes(gate)),
    known: (gate) => baseline.findings(base, gate, { signal, watch }),
    before: async (files) => (await workspace.changedFiles(ref, { trees: { base, tree }, alsoBefore: files })).before,
  };
  const reports = await gates.run(request);
  const again = reports.filter(isFailing).map(({ receipt }) => receipt.gate);
  if (again.length === 0 || signal.aborted) return reports;
  await checkout.reset();
  await prepareCheckout(deps, checkout, { signal, control, watch, base });
  return latest([...reports, ...(await gates.run({ ...request, only: again, again }))]);
}

const isFailing = ({ receipt }: GateReport) => receipt.status === 'fail' && isBlocking(receipt);

/** A gate that fails on the base itself says nothing about the change. A time limit is not a verdict. */
async function verdictOf(
  { baseline }: Prover,
  leased: LeasedTask,
  reports: GateReport[],
  { base, changed }: Trial,
): Promise<Verdict> {
  const failing = reports.filter(isFailing);
  const names = failing.map(({ receipt }) => receipt.gate);
  const red = names.length > 0 ? await baseline.redAmong(base, names, leased) : new Map();
  const own = failing.filter(({ receipt }) => !red.has(receipt.gate));
  if (own.length > 0)
    return failed(
      own.map(({ receipt, excerpt }) => ({ gate: receipt.gate, output: excerpt })),
      changed,
    );
  const open = reports.find(({ receipt }) => receipt.status === 'unverified' && isBlocking(receipt));
  if (open) return { result: 'not_run', findings: [], why: `Gate ${open.receipt.gate} ${open.excerpt}` };
  if (red.size === 0) return PASSED;
  const also = [...red.keys()].join(', ');
  return { result: 'not_run', findings: [], why: `${also} also fails on the target itself, without the change.` };
}

/**
 * Before a review, and before a person is asked: records what the base's versions of the files that decide say about the work.
 * Nothing happens when none was changed, which is the usual case, or when it is known for exactly this tree.
 */
export async function judgeWork(
  deps: EngineDeps,
  leased: LeasedTask,
  prover: Prover,
  trees: { base: string; tree: string },
): Promise<OldChecks | null> {
  const task = (await deps.store.task(leased.task.id)) ?? leased.task;
  const known = judgedFor(task, trees.tree);
  if (known && known.result !== 'not_run') return known;
  const found = await findDeciding(deps, leased.ref, trees);
  // Source that ends or patches its tests is what is judged: with the old source, the old checks would pass.
  if (found.changed.length === 0) return null;
  const oldChecks = await judge(deps, leased, prover, { ...trees, changed: found.changed }, [task]);
  await leased.must({ type: 'work.judge', oldChecks });
  return oldChecks;
}
