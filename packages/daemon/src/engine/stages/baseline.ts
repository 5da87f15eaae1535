import { INTEGRITY_GATE } from '@tidemill/contract';
import { newestByGate } from '@tidemill/core';
import type { GateReport, Gates } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { type Environment, EnvironmentTrouble, prepareCheckout } from './environment.ts';

/** How long a gate's pass on the target clears the target of being the reason for a failure. */
const CLEARED_MS = 10 * 60_000;
/** How long a gate that fails on the target is not tried there again. */
const RED_MS = 60_000;

/** A gate that does not pass on the target itself, and what it says. */
export interface RedGate {
  gate: string;
  excerpt: string;
}

interface Look {
  at: number;
  /** Null: it passed. */
  red: RedGate | null;
}

/**
 * Whether the target itself passes its gates. What fails there fails for everybody: no agent is sent back for it, and
 * no task is blamed. A target that Tidemill landed has its evidence; one that somebody else changed is looked at once.
 */
export class Baseline {
  readonly #deps: EngineDeps;
  readonly #environment: Environment;
  /** By commit and gate. Looks under other settings do not count. */
  #looks = new Map<string, Look>();
  #gates: Gates | null = null;
  #looking: Promise<unknown> = Promise.resolve();
  #lookedAt: string | null = null;
  #told = '';

  constructor(deps: EngineDeps, environment: Environment) {
    this.#deps = deps;
    this.#environment = environment;
  }

  /** Runs the gates once on a target that has no evidence of its own, beside other work. */
  lookSoon(): void {
    this.#look().catch(async (error: unknown) => {
      this.#lookedAt = null;
      this.#deps.onNote('the gates could not be run on the target', error);
      if (error instanceof EnvironmentTrouble) await this.#environment.report(error);
    });
  }

  /** Which of these gates do not pass on the commit, as far as is known or can be found out. */
  async redAmong(commit: string, gates: string[], signal: AbortSignal): Promise<Map<string, RedGate>> {
    this.#forgetOtherSettings();
    await this.#learnFromEvidence(commit);
    const now = this.#deps.clock.now();
    const isKnown = (gate: string) => {
      const look = this.#looks.get(`${commit} ${gate}`);
      return look !== undefined && now - look.at < (look.red ? RED_MS : CLEARED_MS);
    };
    const asked = gates.filter((gate) => gate !== INTEGRITY_GATE);
    const unknown = asked.filter((gate) => !isKnown(gate));
    if (unknown.length > 0) await this.#run(commit, unknown, signal);
    const red = asked
      .map((gate) => this.#looks.get(`${commit} ${gate}`)?.red ?? null)
      .filter((found) => found !== null);
    return new Map(red.map((found) => [found.gate, found]));
  }

  async #look(): Promise<void> {
    const { workspace, gates } = this.#deps;
    const commit = await workspace.targetCommit();
    if (this.#lookedAt === commit && this.#gates === gates) return;
    this.#lookedAt = commit;
    const names = gates.names.filter((gate) => gate !== INTEGRITY_GATE);
    const red = await this.redAmong(commit, names, new AbortController().signal);
    if (red.size === 0) this.#told = '';
    if (red.size > 0) await this.tell([...red.values()]);
  }

  /** One notice for each set of gates, until it has changed. */
  async tell(red: RedGate[]): Promise<void> {
    const { store, project } = this.#deps;
    const names = red.map(({ gate }) => gate).join(', ');
    if (this.#told === names) return;
    this.#told = names;
    const { target } = project.rules;
    const text =
      `${target} itself does not pass ${names}, so nothing that stands on it can land, and no agent is sent back for it. ` +
      `Repair it, or add a task that does: tidemill task add "Repair ${target}: ${names}" ${red.map(({ gate }) => `--repairs ${gate}`).join(' ')}\n\n` +
      red.map(({ gate, excerpt }) => `${gate}: ${excerpt}`).join('\n\n');
    await store.execute({
      ...{ type: 'alert.raise', projectId: project.id, taskId: null, kind: 'baseline_red' },
      ...{ text: text.slice(0, 4000), severity: 'error', subject: names },
    });
  }

  /** One look at a time: two would need twice the machine to find out the same. */
  async #run(commit: string, only: string[], signal: AbortSignal): Promise<void> {
    const { workspace, clock } = this.#deps;
    const { gates } = this.#deps;
    const turn = this.#looking.then(async () => {
      const checkout = await workspace.checkOut(commit);
      try {
        await prepareCheckout(this.#deps, checkout, { signal });
        const { path, tree } = checkout;
        const request = { path, tree, files: null, only, signal, changes: () => checkout.changes() };
        const reports = await gates.run(request);
        const failed = reports.filter(isRed).map(({ receipt }) => receipt.gate);
        const again = failed.length > 0 ? await this.#again(checkout, { ...request, only: failed }, gates) : [];
        for (const report of [...reports, ...again]) this.#note(commit, report);
        // What stands on a red gate was not run: it cannot pass either.
        // After a gate that repairs, the rest was not run: nothing is known of it.
        const wasRepaired = reports.some(({ fixed }) => fixed.length > 0);
        for (const gate of only)
          if (!wasRepaired && !reports.some(({ receipt }) => receipt.gate === gate))
            this.#looks.set(`${commit} ${gate}`, { at: clock.now(), red: { gate, excerpt: 'A gate it needs fails.' } });
      } finally {
        await checkout.close();
      }
    });
    this.#looking = turn.catch(() => undefined);
    await turn;
  }

  /** A gate that fails once and passes then is a flake, and not what is wrong with the target. */
  async #again(
    checkout: { reset(): Promise<void> },
    request: Parameters<Gates['run']>[0],
    gates: Gates,
  ): Promise<GateReport[]> {
    await checkout.reset();
    return gates.run({ ...request, again: request.only });
  }

  #note(commit: string, report: GateReport): void {
    const { gate } = report.receipt;
    const red = isRed(report) ? { gate, excerpt: report.excerpt } : null;
    this.#looks.set(`${commit} ${gate}`, { at: this.#deps.clock.now(), red });
  }

  async #learnFromEvidence(commit: string): Promise<void> {
    const { store, project, workspace } = this.#deps;
    const tree = await workspace.treeOf(commit);
    const links = newestByGate(await store.evidenceForTree(project.id, tree), project.rules.gateConfigs);
    for (const { gate, status, at } of links.values()) {
      const known = this.#looks.get(`${commit} ${gate}`);
      if (status === 'pass' && (known?.at ?? 0) < at) this.#looks.set(`${commit} ${gate}`, { at, red: null });
    }
  }

  #forgetOtherSettings(): void {
    if (this.#gates === this.#deps.gates) return;
    this.#gates = this.#deps.gates;
    this.#looks = new Map();
    this.#lookedAt = null;
  }
}

/** A gate that repairs has work to do on the target: that is not red, it only was not run there before. */
const isRed = ({ receipt, fixed }: GateReport): boolean => receipt.status !== 'pass' && fixed.length === 0;
