import { REACTORS } from '@tidemill/contract';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { blindText } from '../merge/tripwire.ts';
import type { BlindGate } from '../tripwire/planting.ts';
import type { Tripwires } from '../tripwire/tripwires.ts';
import { StandingAlerts, type StandingCondition } from './standing-alerts.ts';

/** Work comes first: a daemon that was just started has other things to do. */
const FIRST_MS = 15_000;
const NEXT_MS = 1_000;
const BUSY_MS = 30_000;

/**
 * Looks for faults that the gates notice while no proof is running, and checks the gates after a landing that take too long
 * to be checked before it.
 */
export class TripwireWatch implements RoutedReactor {
  readonly name = 'tripwires';
  readonly on = REACTORS.tripwires.on;
  readonly everyMs = 10 * 60_000;
  readonly projectId: string;
  readonly #deps: EngineDeps;
  readonly #tripwires: Tripwires;
  readonly #isBusy: () => boolean;
  readonly #stopped: AbortSignal;
  readonly #alerts: StandingAlerts;
  /** The verdicts about slow gates. */
  readonly #judged = new Map<string, { commit: string; blind: BlindGate[] }>();

  constructor(deps: EngineDeps, tripwires: Tripwires, isBusy: () => boolean, stopped: AbortSignal) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#tripwires = tripwires;
    this.#isBusy = isBusy;
    this.#stopped = stopped;
    this.#alerts = new StandingAlerts(deps, ['gate_blind'], ({ text }) => text);
  }

  async handle({ cause, tickIn }: ReactorCall): Promise<void> {
    if (!this.#deps.tripwires || !this.#deps.gates.tripwired?.length) return;
    try {
      await this.#checkSlow();
      if (cause !== 'tick') tickIn(FIRST_MS);
      else if (this.#isBusy()) tickIn(BUSY_MS);
      else if (await this.#search()) tickIn(NEXT_MS);
    } catch (error) {
      // What was cut short is done again after the next start.
      if (!this.#stopped.aborted) throw error;
    }
  }

  /** One gate at a time, and only a few faults. */
  async #search(): Promise<boolean> {
    const { workspace, gates } = this.#deps;
    const target = await workspace.targetCommit();
    // What a blind gate notices says nothing.
    for (const gate of gates.tripwired ?? [])
      if (
        !this.#judged.get(gate)?.blind.length &&
        (await this.#tripwires.search(target, gate, { signal: this.#stopped }))
      )
        return true;
    return false;
  }

  /** Compares what landed since the last time with what was there then. */
  async #checkSlow(): Promise<void> {
    const { workspace, project, gates } = this.#deps;
    const commit = await workspace.targetCommit();
    const slow = await this.#tripwires.gatesFor(commit, 'slow');
    const found: StandingCondition[] = [];
    const accepted = await this.#acknowledged();
    // The others are checked before a landing. They may become slow.
    for (const gate of gates.tripwired ?? []) {
      const base = await this.#tripwires.checkedAt(gate);
      const isFirst = base === null || !(await workspace.isLanded(base));
      const isFine = isFirst || base === commit || accepted.has(gate) || !slow.includes(gate);
      const blind = isFine ? [] : await this.#judge(gate, commit, base);
      if (blind.length === 0) await this.#tripwires.noteChecked(gate, commit);
      for (const each of blind) {
        const text = `${blindText(each, base!.slice(0, 10))}\nIt takes longer than a minute, so it was tried after the landing of ${commit.slice(0, 10)} on ${project.rules.target}. Look at what landed since ${base!.slice(0, 10)}. Nothing else lands until you acknowledge this, or ${project.rules.target} changes and the gate notices faults again.`;
        found.push({ kind: 'gate_blind', subject: gate, severity: 'error', text: text.slice(0, 4000) });
      }
    }
    await this.#alerts.settle(found);
  }

  /** Once for each commit: it takes long. */
  async #judge(gate: string, commit: string, base: string): Promise<BlindGate[]> {
    const known = this.#judged.get(gate);
    if (known?.commit === commit) return known.blind;
    const blind = await this.#tripwires.blindAmong({ commit, base, asker: { signal: this.#stopped } }, [gate]);
    this.#judged.set(gate, { commit, blind });
    return blind;
  }

  async #acknowledged(): Promise<Set<string>> {
    const { store, project } = this.#deps;
    const open = await store.records({ noun: 'alert', projectId: project.id, isOpen: true });
    const mine = open.filter(({ kind, acknowledgedAt }) => kind === 'gate_blind' && acknowledgedAt !== null);
    return new Set(mine.map(({ subject }) => subject));
  }
}

/** Why nothing may land: a gate was made blind by what landed, and no person has looked at it. */
export async function blindObstacle({ store, project, tripwires }: EngineDeps): Promise<string | null> {
  if (!tripwires) return null;
  const open = await store.records({ noun: 'alert', projectId: project.id, isOpen: true });
  const alert = open.find(({ kind, acknowledgedAt }) => kind === 'gate_blind' && acknowledgedAt === null);
  return alert
    ? `Gate ${alert.subject} no longer notices faults since an earlier landing. The inbox says which; acknowledge it to go on.`
    : null;
}
