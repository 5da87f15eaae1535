import {
  type GuardProposal,
  guardFile,
  type HookNote,
  isLiveGuard,
  MANY_BYPASSES,
  REACTORS,
  shownCall,
} from '@tidemill/contract';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { type GuardTools, keepGuardFile, startObserving } from '../learning/guard-flow.ts';
import { StandingAlerts, type StandingCondition } from './standing-alerts.ts';

const EVERY_MS = 15_000;

/** Follows proposed guards: keeps their files in line with their records, and tells people what waits for them. */
export class GuardWatch implements RoutedReactor {
  readonly name = 'guard-proposals';
  readonly projectId: string;
  readonly on = REACTORS['guard-proposals'].on;
  readonly everyMs = EVERY_MS;
  readonly atOnce = 100;
  readonly #tools: GuardTools;
  readonly #alerts: StandingAlerts;
  #kept: ReadonlySet<string> = new Set();

  constructor(deps: EngineDeps, tools: GuardTools) {
    this.projectId = deps.project.id;
    this.#tools = tools;
    this.#alerts = new StandingAlerts(deps, ['guard_proposed', 'guard_bypassed']);
  }

  async handle(_call: ReactorCall): Promise<void> {
    const { store } = this.#tools;
    const all = await store.records({ noun: 'guard_proposal', projectId: this.projectId });
    for (const { id } of all) {
      // A request may have changed it in the meantime.
      const proposal = (await store.record('guard_proposal', id))!;
      const { status, proposedBy } = proposal;
      // A crash came between the record and the file.
      if (status === 'proposed' && proposedBy.kind !== 'agent')
        await startObserving(this.#tools, proposal.id, proposedBy);
      else await keepGuardFile(this.#tools, proposal);
    }
    await this.#tools.sessions.takeNotes((notes) => this.#keep(notes, all));
    await this.#alerts.settle(all.flatMap(conditionsOf));
  }

  /** What happened in a person's own sessions. Notes come again with the next ones. */
  async #keep(notes: readonly HookNote[], all: readonly GuardProposal[]): Promise<void> {
    const before = this.#kept;
    this.#kept = new Set(notes.map((note) => JSON.stringify(note)));
    for (const { kind, guard, at, session, call } of notes.filter((note) => !before.has(JSON.stringify(note)))) {
      const proposal = all.find((each) => each.name === guard && isLiveGuard(each));
      if (!proposal) continue;
      const about = { projectId: this.projectId, proposalId: proposal.id };
      const shown = shownCall({ ...call, at, source: 'session', from: session });
      // One that is refused came twice, or too late: nothing changes.
      if (kind === 'observed') await this.#tools.store.execute({ type: 'guard_proposal.hit', ...about, call: shown });
      else await this.#tools.store.execute({ type: 'guard_proposal.use_bypass', ...about, taskId: null, call: shown });
    }
  }
}

function conditionsOf({ name, status, why, bypasses }: GuardProposal): StandingCondition[] {
  const show = `\`tidemill guards show ${name}\` shows what it would refuse.`;
  if (status === 'proposed' || status === 'observing')
    return [
      {
        ...{ kind: 'guard_proposed', subject: name, severity: 'info' },
        text: `The guard ${name} is proposed: ${why}. It refuses nothing until you approve it. ${show}`,
      },
    ];
  if (status === 'enforced' && bypasses >= MANY_BYPASSES)
    return [
      {
        ...{ kind: 'guard_bypassed', subject: name, severity: 'warning' },
        text: `The guard ${name} (${guardFile(name)}) was bypassed ${bypasses} times. Change it or withdraw it. ${show}`,
      },
    ];
  return [];
}
