import { type GateCounts, INTEGRITY_GATE, isBlocking } from '@tidemill/contract';
import { newestByGate, ownFileAdvice, redAdvice } from '@tidemill/core';
import type { GateReport, GateRequest, Gates, PreparationRequest } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { StandingAlerts } from '../reactors/standing-alerts.ts';
import { type Environment, EnvironmentError, prepareCheckout } from './environment.ts';

/** How long a pass on the target stays valid. */
const CLEARED_MS = 10 * 60_000;
/** How long a failure on the target stays valid. */
const RED_MS = 60_000;
/** While nothing starts because the target fails, it is looked at again, less and less often. */
const AGAIN_MS = { first: 60_000, longest: 30 * 60_000 };

/** A gate that fails on the target itself, with its output. */
export interface RedGate {
  gate: string;
  excerpt: string;
  /** What a notice says of it. */
  quote: string;
}

/** The work that needs to know. */
type Asker = Pick<PreparationRequest, 'signal' | 'watch'>;

interface Look {
  at: number;
  /** Null: it passed. */
  red: RedGate | null;
}

/**
 * Checks whether the target itself passes its gates. A gate that fails there fails for every task, so no agent is sent
 * back for it. A commit that Tidemill landed has evidence. One that was changed by others is checked once.
 */
export class Baseline {
  readonly #deps: EngineDeps;
  readonly #environment: Environment;
  /** By commit and gate, under the current settings. */
  #looks = new Map<string, Look>();
  /** What scans found there, as the keys of the findings. */
  #found = new Map<string, { at: number; keys: string[] | null }>();
  /** How many tests ran there. */
  #counted = new Map<string, GateCounts | null>();
  #gates: Gates | null = null;
  #looking: Promise<unknown> = Promise.resolve();
  #lookedAt: string | null = null;
  /** The gates that are known to fail. */
  #red: RedGate[] = [];
  /** The last retry of a failing target, and the pause after it. */
  #retried: { commit: string; at: number; waitMs: number } | null = null;
  /** Submodules without files in the last checkout. */
  #empty: readonly string[] = [];
  /** How many looks are in progress. */
  #inProgress = 0;
  readonly #alerts: StandingAlerts;
  readonly #stopped: AbortSignal;

  /** `stopped`: the engine ends, and with it what runs in the background. */
  constructor(deps: EngineDeps, environment: Environment, stopped: AbortSignal) {
    this.#deps = deps;
    this.#stopped = stopped;
    this.#environment = environment;
    this.#alerts = new StandingAlerts(deps, ['baseline_red']);
  }

  /** Runs the gates in the background, once for each target commit without evidence. */
  lookSoon(): void {
    this.#inProgress += 1;
    const look = this.#look().catch(async (error: unknown) => {
      if (this.#stopped.aborted) return;
      this.#lookedAt = null;
      this.#deps.onNote('the gates could not be run on the target', error);
      if (error instanceof EnvironmentError) await this.#environment.report(error);
    });
    void look.finally(() => {
      this.#inProgress -= 1;
    });
  }

  /** A look in the background is in progress. */
  get isLooking(): boolean {
    return this.#inProgress > 0;
  }

  /** The gates that are known to fail on the target. */
  get red(): readonly RedGate[] {
    return this.#red;
  }

  /** The same, after a look at a target that has moved. */
  async stillRed(): Promise<readonly RedGate[]> {
    if (this.#red.length > 0 && (await this.#deps.workspace.targetCommit()) !== this.#lookedAt) this.lookSoon();
    return this.#red;
  }

  /** Runs the gates once, except those with evidence of any age. Rejects when they cannot run. */
  async lookFirst(): Promise<void> {
    const { workspace, gates } = this.#deps;
    const commit = await workspace.targetCommit();
    this.#lookedAt = commit;
    const red = await this.redAmong(commit, gates.names, { signal: this.#stopped }, Number.POSITIVE_INFINITY);
    await this.#report([...red.values()]);
  }

  /** Returns those of the gates that fail on the commit. Without an asker it ends with the engine. */
  async redAmong(
    commit: string,
    gates: string[],
    asker: Asker = { signal: this.#stopped },
    passesMs = CLEARED_MS,
  ): Promise<Map<string, RedGate>> {
    this.#forgetOtherSettings();
    await this.#learnFromEvidence(commit);
    const now = this.#deps.clock.now();
    const isKnown = (gate: string) => {
      const look = this.#looks.get(`${commit} ${gate}`);
      return look !== undefined && now - look.at < (look.red ? RED_MS : passesMs);
    };
    const { ofChange = [] } = this.#deps.gates;
    const asked = gates.filter((gate) => gate !== INTEGRITY_GATE && !ofChange.includes(gate));
    const unknown = asked.filter((gate) => !isKnown(gate));
    if (unknown.length > 0) await this.#run(commit, unknown, asker);
    const red = asked
      .map((gate) => this.#looks.get(`${commit} ${gate}`)?.red ?? null)
      .filter((found) => found !== null);
    return new Map(red.map((found) => [found.gate, found]));
  }

  /** What a gate finds on the commit, to know what is new. Null: it could not run there. */
  async findings(commit: string, gate: string, asker: Asker): Promise<string[] | null> {
    this.#forgetOtherSettings();
    const key = `${commit} ${gate}`;
    const known = this.#found.get(key);
    const validMs = known?.keys === null ? RED_MS : CLEARED_MS;
    if (!known || this.#deps.clock.now() - known.at >= validMs) await this.#run(commit, [gate], asker);
    return this.#found.get(key)?.keys ?? null;
  }

  /** How many tests a gate ran on the commit. Null: it could not be read, or not be run. */
  async counted(commit: string, gate: string, asker: Asker): Promise<GateCounts | null> {
    this.#forgetOtherSettings();
    const key = `${commit} ${gate}`;
    if (!this.#counted.has(key)) await this.#learnFromEvidence(commit);
    if (!this.#counted.has(key)) {
      // A look that is under way may find it out.
      const waiting = asker.watch?.begin(Number.POSITIVE_INFINITY);
      await this.#looking;
      waiting?.end();
    }
    if (!this.#counted.has(key)) await this.#run(commit, [gate], asker).catch(ifEnvironment);
    return this.#counted.get(key) ?? null;
  }

  async #look(): Promise<void> {
    const { workspace, gates } = this.#deps;
    const commit = await workspace.targetCommit();
    if (this.#lookedAt === commit && this.#gates === gates) return;
    this.#lookedAt = commit;
    // Others may push faster than the gates run. Then only the newest commit is looked at.
    await this.#looking;
    if (this.#lookedAt !== commit || this.#stopped.aborted) return;
    const names = gates.names.filter((gate) => gate !== INTEGRITY_GATE);
    const unobserved = ((await gates.unobserved?.()) ?? []).filter((gate) => names.includes(gate));
    if (unobserved.length > 0) await this.#run(commit, unobserved, { signal: this.#stopped });
    const red = await this.redAmong(commit, names);
    await this.#report([...red.values()]);
  }

  /**
   * Called each minute. While the target is known to fail, and once after the start, it is looked at again when it moved,
   * when a task found that its gates pass, and, while no task starts, after a growing pause.
   */
  async lookAgain(): Promise<void> {
    if (this.#alerts.isQuiet) return;
    const { workspace, gates } = this.#deps;
    const commit = await workspace.targetCommit();
    if (this.#red.length === 0) await this.#afterStart();
    else if (this.#lookedAt !== commit || this.#gates !== gates) this.lookSoon();
    else {
      await this.#report(this.#red.filter(({ gate }) => this.#looks.get(`${commit} ${gate}`)?.red !== null));
      this.#retry(commit);
    }
  }

  /** No task that starts would find out that a program was installed, or that a service runs again. */
  #retry(commit: string): void {
    if (!this.#deps.starts || this.#red.length === 0 || this.isLooking) return;
    const now = this.#deps.clock.now();
    const last = this.#retried?.commit === commit ? this.#retried : { commit, at: now, waitMs: AGAIN_MS.first };
    this.#retried = last;
    if (now - last.at < last.waitMs) return;
    this.#retried = { commit, at: now, waitMs: Math.min(last.waitMs * 2, AGAIN_MS.longest) };
    this.#lookedAt = null;
    this.lookSoon();
  }

  /** An alert of an earlier daemon is checked once. Without one, nothing is run. */
  async #afterStart(): Promise<void> {
    const { store, project } = this.#deps;
    const open = await store.records({ noun: 'alert', projectId: project.id, isOpen: true });
    if (open.some(({ kind }) => kind === 'baseline_red')) this.lookSoon();
    else await this.#alerts.settle([]);
  }

  /** Raises one alert about all gates that are known to fail. */
  async alert(red: RedGate[]): Promise<void> {
    await this.#report([...new Map([...this.#red, ...red].map((each) => [each.gate, each])).values()]);
  }

  /** `red`: all gates that fail now. The alert is closed when there is none. */
  async #report(red: RedGate[]): Promise<void> {
    this.#red = red;
    const order = this.#deps.gates.names;
    const names = red.map(({ gate }) => gate).sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const { target } = this.#deps.project.rules;
    const text =
      `${target} itself fails ${names.join(', ')}, so no new task starts and no work based on it can land. Agents are not sent back for it. ` +
      `Fix it, or add a task that does: tidemill task add "Repair ${target}: ${names.join(', ')}" ${names.map((gate) => `--repairs ${gate}`).join(' ')}\n\n` +
      emptyText(this.#empty) +
      [...new Set(red.map(({ gate, excerpt }) => ownFileAdvice(gate, excerpt) ?? redAdvice(gate, excerpt)))]
        .flatMap((line) => (line ? `${line}\n\n` : []))
        .join('') +
      red.map(({ gate, quote }) => `${gate}: ${quote}`).join('\n\n');
    const about = {
      kind: 'baseline_red',
      subject: names.join(', '),
      severity: 'error',
      text: text.slice(0, 4000),
    } as const;
    await this.#alerts.settle(red.length === 0 ? [] : [about]);
  }

  /** One run at a time, to save machine time. */
  async #run(commit: string, only: string[], { signal, watch }: Asker): Promise<void> {
    const { workspace, clock, gates } = this.#deps;
    // Bounded by the time limits of the gates that run before it.
    const waiting = watch?.begin(Number.POSITIVE_INFINITY);
    const turn = this.#looking.then(async () => {
      waiting?.end();
      const checkout = await workspace.checkOut(commit);
      this.#empty = [...(checkout.emptySubmodules ?? [])];
      try {
        await prepareCheckout(this.#deps, checkout, { signal, watch });
        const { path, tree } = checkout;
        const reset = async () => {
          await checkout.reset();
          await prepareCheckout(this.#deps, checkout, { signal, watch });
        };
        const changes = () => checkout.changes();
        const request = { path, tree, files: null, only, observe: true, signal, watch, changes, reset };
        const reports = await gates.run(request);
        const failed = reports.filter(isRed).map(({ receipt }) => receipt.gate);
        const again = failed.length > 0 ? await this.#again({ ...request, only: failed }, gates) : [];
        for (const report of [...reports, ...again]) this.#note(commit, report);
        // A gate that needs a failing gate was not run and counts as failing. After a gate that changed files, the
        // remaining gates were not run, so their state is unknown.
        const wasRepaired = reports.some(({ fixed }) => fixed.length > 0);
        for (const gate of only)
          if (!wasRepaired && !reports.some(({ receipt }) => receipt.gate === gate))
            this.#looks.set(`${commit} ${gate}`, { at: clock.now(), red: { gate, ...NEEDED } });
      } finally {
        await checkout.close();
      }
    });
    this.#looking = turn.catch(() => undefined);
    await turn;
  }

  /** Runs failed gates again: one that passes now is flaky, and not a defect of the target. */
  async #again(request: GateRequest, gates: Gates): Promise<GateReport[]> {
    await request.reset?.();
    // Without being observed: some programs fail then.
    return gates.run({ ...request, observe: false, again: request.only });
  }

  #note(commit: string, report: GateReport): void {
    const { gate } = report.receipt;
    const red = isRed(report) ? { gate, excerpt: report.excerpt, quote: report.quote ?? report.excerpt } : null;
    const at = this.#deps.clock.now();
    this.#looks.set(`${commit} ${gate}`, { at, red });
    const keys = report.receipt.status === 'unverified' ? null : (report.findingKeys ?? null);
    this.#counted.set(`${commit} ${gate}`, report.receipt.counts);
    if (report.findingKeys) this.#found.set(`${commit} ${gate}`, { at, keys });
  }

  async #learnFromEvidence(commit: string): Promise<void> {
    const { store, project, workspace } = this.#deps;
    const tree = await workspace.treeOf(commit);
    const links = newestByGate(await store.evidenceForTree(project.id, tree), project.rules.gateConfigs);
    for (const { gate, status, at, counts } of links.values()) {
      if (status === 'pass') this.#counted.set(`${commit} ${gate}`, counts);
      const known = this.#looks.get(`${commit} ${gate}`);
      if (status === 'pass' && (known?.at ?? 0) < at) this.#looks.set(`${commit} ${gate}`, { at, red: null });
    }
  }

  #forgetOtherSettings(): void {
    if (this.#gates === this.#deps.gates) return;
    this.#gates = this.#deps.gates;
    this.#looks = new Map();
    this.#found = new Map();
    this.#counted = new Map();
    this.#lookedAt = null;
  }
}

const NEEDED = { excerpt: 'A gate it needs fails.', quote: 'A gate it needs fails.' };

const emptyText = (submodules: readonly string[]): string =>
  submodules.length === 0
    ? ''
    : `These submodules are empty, because your checkout does not have them: ${submodules.slice(0, 5).join(', ')}. ` +
      'If the gates need them: git submodule update --init --recursive\n\n';

/** A gate that only fixed files on the target does not count as failing. */
const isRed = ({ receipt, fixed }: GateReport): boolean => isBlocking(receipt) && fixed.length === 0;

/** A target that cannot be prepared has no figures. The gates of the work itself decide. */
function ifEnvironment(error: unknown): void {
  if (!(error instanceof EnvironmentError)) throw error;
}
