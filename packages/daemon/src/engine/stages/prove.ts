import { type Feedback, INTEGRITY_GATE, isBlocking, ranTests } from '@tidemill/contract';
import { isComparedWith, newestByGate, type TaskGate, taskGates } from '@tidemill/core';
import type { CleanCheckout, GateReport, GateRequest, Gates } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { Tripwires } from '../tripwire/tripwires.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { Baseline } from './baseline.ts';
import { Environment, EnvironmentError, PREPARE, prepareCheckout } from './environment.ts';
import { latest, runWithRetry } from './gate-retry.ts';
import { heldText, openWorkflows, refusedFeedback, WORKFLOW_FILES } from './workflow-files.ts';

/** The work to prove. */
export interface BuiltWork {
  commit: string;
  tree: string;
  /** The files of the change. */
  files: string[];
  /** The target's commit that the change is based on. */
  base: string;
  /** Contents of workflow files that people agreed to, if it is the work of several tasks. */
  agreed?: string[];
  /** The gates of its tasks, if it is the work of several. Absent: those of the leased task. */
  own?: TaskGate[];
}

export type Proof =
  /** `work` is what passed. A gate may have fixed files in it. */
  { kind: 'passed'; work: BuiltWork } | { kind: 'failed'; gates: string[]; feedback: Feedback[]; work: BuiltWork };

/**
 * What happens when a gate fails. `twice`: it is run once more, from a clean start. `once`: it is not. `again`: it
 * failed before, and this is the second run.
 */
export type Tries = 'twice' | 'once' | 'again';

interface Attempt {
  tries: Tries;
  /** Why the commit must not be pushed to ask CI about it. */
  held: string | undefined;
}

/** How often gates may fix files, which restarts the proof. */
const MAX_REPAIRS = 2;

/**
 * Proves that a commit passes the gates on a clean checkout of exactly its tree, and records the receipts.
 *
 *   checked out, prepared ──▶ gates ──fail──▶ reset, failed gates again ──▶ receipts recorded ──▶ verdict
 *                               └─ a gate fixed files: committed, restarted on the new tree
 *
 * If the gate also fails on the target itself, an EnvironmentError is thrown and the task waits.
 */
export class Prover {
  readonly #deps: EngineDeps;
  readonly environment: Environment;
  readonly baseline: Baseline;
  /** Whether gates still notice faults. */
  readonly tripwires: Tripwires;

  constructor(deps: EngineDeps, stopped: AbortSignal) {
    this.#deps = deps;
    this.environment = new Environment(deps);
    this.baseline = new Baseline(deps, this.environment, stopped);
    this.tripwires = new Tripwires(deps, this.baseline);
  }

  /** `onRepair` replaces the work by a tree that a gate fixed. Runs nothing when the tree is already proven. */
  async prove(
    leased: LeasedTask,
    first: BuiltWork,
    onRepair: (tree: string) => Promise<BuiltWork>,
    tries: Tries = 'twice',
  ): Promise<Proof> {
    let work = first;
    for (let repairs = 0; ; repairs += 1) {
      if ((await isProven(this.#deps, work.tree, ownOf(leased, work))) && (await this.#isCompared(leased, work)))
        return { kind: 'passed', work };
      const workflows = await openWorkflows(this.#deps, leased, work, work.agreed);
      if (workflows.length > 0 && this.#deps.workflows === 'refuse')
        return { kind: 'failed', gates: [WORKFLOW_FILES], feedback: [refusedFeedback(workflows)], work };
      const { gates } = this.#deps;
      const held = workflows.length > 0 && gates.ofChange?.length ? heldText(workflows) : undefined;
      const result = await this.#attempt(leased, work, gates, { tries, held });
      if ('proof' in result) {
        // New settings need new receipts.
        if (this.#deps.gates !== gates) continue;
        return result.proof;
      }
      if (repairs === MAX_REPAIRS) {
        const { gate, files } = result.repaired;
        return failure(work, gate, `Gate ${gate} changes files each time it runs: ${files.join(', ')}.`);
      }
      work = await onRepair(result.repaired.tree);
    }
  }

  /** Returns whether the receipts of the tree say how its tests compare with this target's. */
  async #isCompared(leased: LeasedTask, { tree, base }: BuiltWork): Promise<boolean> {
    const { counted = [] } = this.#deps.gates;
    const newest = await evidenceOf(this.#deps, tree);
    for (const gate of counted) {
      const link = newest.get(gate);
      if (link && !isComparedWith(link, await this.baseline.counted(base, gate, leased))) return false;
    }
    return true;
  }

  async #attempt(
    leased: LeasedTask,
    work: BuiltWork,
    gates: Gates,
    how: Attempt,
  ): Promise<{ proof: Proof } | { repaired: { gate: string; files: string[]; tree: string } }> {
    leased.isTesting = true;
    const checkout = await this.#deps.workspace.checkOut(work.commit);
    try {
      const { signal, control, watch } = leased;
      const broken = await prepareCheckout(this.#deps, checkout, { signal, control, watch, ...ownerOf(leased, work) });
      if (broken !== null) return { proof: failure(work, PREPARE, `The project's prepare steps fail:\n${broken}`) };
      await this.environment.clear(PREPARE);
      const reports = await this.#run(leased, checkout, work, gates, how);
      // Gates that were stopped have no result.
      leased.check();
      const repair = reports.find(({ fixed }) => fixed.length > 0);
      if (repair) {
        const { gate } = repair.receipt;
        return { repaired: { gate, files: repair.fixed, tree: await checkout.writeTree() } };
      }
      await leased.must({ type: 'evidence.record', receipts: reports.map((report) => report.receipt) });
      await this.#noteFlakes(leased, reports);
      return { proof: await this.#verdict(leased, work, latest(reports), how.held) };
    } finally {
      await checkout.close();
      leased.isTesting = false;
      leased.sign();
    }
  }

  /** Runs failed gates once more from a clean checkout. If one passes then, both runs are recorded. */
  async #run(
    leased: LeasedTask,
    checkout: CleanCheckout,
    work: BuiltWork,
    gates: Gates,
    { tries, held }: Attempt,
  ): Promise<GateReport[]> {
    const { signal, control, watch } = leased;
    const { path, tree, commit } = checkout;
    const reset = async () => {
      await checkout.reset();
      await prepareCheckout(this.#deps, checkout, { signal, control, watch, ...ownerOf(leased, work) });
    };
    const changes = () => checkout.changes();
    const request = {
      path,
      tree,
      commit,
      files: work.files,
      signal,
      control,
      watch,
      changes,
      reset,
      own: ownOf(leased, work),
      ...(held === undefined ? {} : { held }),
      ...this.#compared(leased, work),
    };
    if (tries === 'again') {
      const newest = await evidenceOf(this.#deps, tree);
      const only = [...gates.names, ...namesOf(request.own)].filter(
        (gate) => gate !== INTEGRITY_GATE && newest.get(gate)?.status !== 'pass',
      );
      if (only.length > 0 && newest.get(INTEGRITY_GATE)?.status === 'pass')
        return gates.run({ ...request, only, again: only.filter((gate) => newest.get(gate)?.status === 'fail') });
    }
    return tries === 'twice' ? runWithRetry(gates, request) : gates.run(request);
  }

  /** Whether gates whose figures count ran no test on the target, although tests are wanted. */
  async #isUntested(base: string, leased: LeasedTask): Promise<boolean> {
    const { gates, starts } = this.#deps;
    if (!starts || starts.isTestless) return false;
    for (const gate of gates.counted ?? [])
      if (ranTests(await this.baseline.counted(base, gate, leased)) > 0) return false;
    return true;
  }

  /** What gates compare the work with: the target that it is based on. */
  #compared(
    leased: LeasedTask,
    { base, tree }: BuiltWork,
  ): Pick<GateRequest, 'known' | 'counted' | 'untested' | 'before'> {
    return {
      known: (gate) => this.baseline.findings(base, gate, leased),
      counted: (gate) => this.baseline.counted(base, gate, leased),
      untested: () => this.#isUntested(base, leased),
      before: async (files) =>
        (await this.#deps.workspace.changedFiles(leased.ref, { trees: { base, tree }, alsoBefore: files })).before,
    };
  }

  async #noteFlakes(leased: LeasedTask, reports: GateReport[]): Promise<void> {
    const { store, project } = this.#deps;
    const flakes = reports.filter(({ receipt }) => receipt.attempt > 1 && receipt.status === 'pass');
    for (const { receipt } of flakes) {
      const text = `Gate ${receipt.gate} failed and then passed on the same code (#${leased.task.number}). It is flaky: \`tidemill metrics\` shows how often.`;
      const about = { projectId: project.id, taskId: leased.task.id, subject: receipt.gate };
      await store.execute({ type: 'alert.raise', ...about, kind: 'flaky_gate', text, severity: 'warning' });
    }
  }

  async #verdict(leased: LeasedTask, work: BuiltWork, reports: GateReport[], held?: string): Promise<Proof> {
    const bad = reports.filter(({ receipt }) => isBlocking(receipt));
    for (const { receipt } of reports)
      if (receipt.status === 'pass') await this.environment.clear(`gate ${receipt.gate}`);
    if (bad.length === 0) return { kind: 'passed', work };
    // A task's own command says something about its work only: on the target it has nothing to find.
    const ownNames = namesOf(ownOf(leased, work));
    const names = bad.map(({ receipt }) => receipt.gate).filter((gate) => !ownNames.includes(gate));
    const red = await this.baseline.redAmong(work.base, names, leased);
    const own = bad.filter(({ receipt }) => !red.has(receipt.gate) || leased.task.repairs.includes(receipt.gate));
    const killed = own.find(({ receipt }) => receipt.status === 'unverified' && isKill(receipt.exitCode));
    if (own.length > 0 && !killed)
      return { kind: 'failed', gates: own.map(({ receipt }) => receipt.gate), feedback: own.map(feedbackOf), work };
    const first = killed ?? bad[0]!;
    const { gate, command } = first.receipt;
    // The stage that may ask a person does so.
    if (killed && held !== undefined && this.#deps.gates.ofChange?.includes(gate))
      throw new EnvironmentError(`${WORKFLOW_FILES} of #${leased.task.number}`, first.excerpt, true);
    if (killed) throw new EnvironmentError(`gate ${gate}`, `Gate ${gate} (${command}) ${first.excerpt}`);
    await this.baseline.alert([...red.values()]);
    const { target } = this.#deps.project.rules;
    const text = `Gate ${gate} (${command}) also fails on ${target} itself. ${first.excerpt}`;
    throw new EnvironmentError(`gate ${gate}`, text, true);
  }
}

const namesOf = (gates: readonly TaskGate[]) => gates.map(({ name }) => name);
const ownOf = ({ task }: LeasedTask, { own }: BuiltWork): TaskGate[] => own ?? taskGates(task);
const ownerOf = ({ task }: LeasedTask, { base }: BuiltWork) => ({ base, taskNumber: task.number });

/** The shell returns 137 when its program was killed. When the shell itself was killed, there is no exit code. */
const isKill = (exitCode: number | null) => exitCode === null || exitCode === 137;

const feedbackOf = ({ receipt, excerpt }: GateReport): Feedback => ({
  kind: 'gate',
  text: `Gate ${receipt.gate} failed${receipt.command === '' ? '' : ` (${receipt.command})`}:\n${excerpt}`,
  files: [],
});

const failure = (work: BuiltWork, gate: string, text: string): Proof => ({
  kind: 'failed',
  gates: [gate],
  work,
  feedback: [{ kind: 'gate', text, files: [] }],
});

/** Returns whether exactly this tree passed every gate under the current settings, and the gates of its tasks. */
export async function isProven(deps: EngineDeps, tree: string, own: readonly TaskGate[]): Promise<boolean> {
  const newest = await evidenceOf(deps, tree);
  const hasPassed = (gate: string) => newest.get(gate)?.status === 'pass';
  return (
    deps.gates.names.every(hasPassed) &&
    own.every(({ name, run }) => hasPassed(name) && newest.get(name)?.command === run)
  );
}

/** Returns the gates that exactly this tree failed under the current settings. */
export async function failedBefore(deps: EngineDeps, tree: string, own: readonly TaskGate[]): Promise<string[]> {
  const newest = await evidenceOf(deps, tree);
  return [...deps.gates.names, ...namesOf(own)].filter((gate) => newest.get(gate)?.status === 'fail');
}

/** The evidence hash for a landed commit: the last link of the receipts that prove its tree. */
export async function proofHash(deps: EngineDeps, tree: string): Promise<string> {
  const newest = await evidenceOf(deps, tree);
  const links = deps.gates.names.map((gate) => newest.get(gate)).filter((link) => link !== undefined);
  return links.reduce((last, link) => (link.position > last.position ? link : last)).hash;
}

async function evidenceOf(deps: EngineDeps, tree: string) {
  const { id, rules } = deps.project;
  return newestByGate(await deps.store.evidenceForTree(id, tree), rules.gateConfigs);
}
