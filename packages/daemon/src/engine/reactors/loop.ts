import {
  AppError,
  ENGINE,
  isLoopOn,
  isOpenProposal,
  type Job,
  type LoggedEvent,
  type Loop,
  loopId,
  type Proposal,
  REACTORS,
  type Task,
} from '@tidemill/contract';
import { approvalOf, chooseCategory, isFilling, pauseReason } from '@tidemill/core';
import type { OwnWrites, Reactor, ReactorCall, Store, Workload } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { acceptProposal } from '../loop/accept-proposal.ts';
import { seeCategories } from '../loop/categories.ts';
import { checkProposal } from '../loop/check-proposal.ts';
import { KnownWork } from '../loop/known-work.ts';
import { LoopLedger } from '../loop/ledger.ts';
import { revertedBy } from '../loop/reverted.ts';
import { type StallHelp, StallWatch } from '../loop/stall-watch.ts';
import { StandingAlerts, type StandingCondition } from './standing-alerts.ts';

const FOLLOWED = REACTORS.loop.on;
const EVERY_MS = 60_000;
/** Events come in groups. One look after the last of them is enough. */
const SOON_MS = 1_000;

/**
 * Keeps the queue filled with improvements that Tidemill proposes itself, while it is allowed to.
 *
 *   queue low ──▶ category ──▶ job: propose ──▶ checks ──┬─▶ waits for a yes ──▶ task ──▶ landed, counted
 *       ▲                                                └─▶ duplicate, invalid, nothing: another category
 *       └──────────────────────────────────────────────────────────────────────────────────────┘
 * It pauses itself when a limit is exceeded, and says what waits for what when nothing moves for an hour.
 */
export class LoopReactor implements Reactor {
  readonly name = 'loop';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly everyMs = EVERY_MS;
  readonly atOnce = 500;
  readonly own: OwnWrites;
  readonly #deps: EngineDeps;
  readonly #store: Store;
  readonly #alerts: StandingAlerts;
  readonly #known: KnownWork;
  readonly #ledger: LoopLedger;
  readonly #stall: StallWatch;
  readonly #noted = new Set<string>();
  #isFilling = false;
  #isDue = false;

  constructor(deps: EngineDeps, help: StallHelp) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.own = deps.reactors.watchWrites(deps.store, FOLLOWED);
    this.#store = this.own.store;
    this.#alerts = new StandingAlerts(deps, ['loop_exhausted', 'loop_paused', 'loop_stalled']);
    this.#known = new KnownWork(deps.store, this.projectId);
    this.#ledger = new LoopLedger(deps.store, this.projectId);
    this.#stall = new StallWatch(deps, help);
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'events') {
      await this.#follow(call.events);
      if (this.#isDue) return;
      this.#isDue = true;
      return call.tickIn(SOON_MS);
    }
    this.#isDue = false;
    await this.#look();
  }

  async #follow(events: readonly LoggedEvent[]): Promise<void> {
    this.#stall.follow(events);
    await this.#known.follow(events);
    const changed = events.flatMap(({ body }) => ('proposalId' in body ? [body.proposalId] : []));
    if (changed.length > 0) await this.#ledger.refresh(this.#deps.clock.now(), new Set(changed));
  }

  async #look(): Promise<void> {
    const { clock, project } = this.#deps;
    const now = clock.now();
    const loop = await this.#store.record('loop', loopId(this.projectId));
    const isOn = isLoopOn(loop, project.rules.loop);
    const isUnused = !isOn && loop === null;
    if (isUnused) return this.#alerts.settle([]);
    await this.#ledger.refresh(now);
    await this.#followTasks();
    if (!isOn) return this.#rest(loop);
    const figures = this.#ledger.figures(now, loop, project.rules);
    const reason = pauseReason(figures, project.rules.loop);
    if (reason) {
      await this.#store.execute({ type: 'loop.pause', projectId: this.projectId, ...reason });
      return this.#rest(await this.#store.record('loop', loopId(this.projectId)));
    }
    const heldUntil = this.#ledger.spentUntil(now, loop, project.rules.loop);
    if (heldUntil !== (loop?.heldUntil ?? null))
      await this.#store.execute({ type: 'loop.hold', projectId: this.projectId, until: heldUntil });
    for (const proposal of this.#all('checking')) await this.#settle(proposal);
    for (const proposal of this.#all('waiting')) await this.#acceptIfAllowed(proposal);
    const found = heldUntil === null ? await this.#balance(now) : [];
    const stall = await this.#stall.look(now, this.#ledger.proposals, loop?.switched?.at ?? 0, heldUntil);
    await this.#alerts.settle([...found, ...(stall ? [stall] : [])]);
  }

  /** It is off or paused. Work that exists goes on. */
  async #rest(loop: Loop | null): Promise<void> {
    this.#isFilling = false;
    this.#stall.reset();
    const { projectId } = this;
    const why = loop?.paused ? 'the loop paused' : 'the loop was switched off';
    for (const { id: jobId, subjectId } of await this.#proposing())
      await this.#store.execute({ type: 'job.cancel', projectId, jobId, subjectId, why });
    const paused = loop?.paused;
    const text = `The loop paused itself: ${paused?.why}. \`tidemill loop\` shows its figures, \`tidemill loop on\` lets it go on.`;
    await this.#alerts.settle(paused ? [{ kind: 'loop_paused', subject: '', severity: 'error', text }] : []);
  }

  #all(status: Proposal['status']): Proposal[] {
    return [...this.#ledger.proposals].filter((proposal) => proposal.status === status);
  }

  /** What became of the tasks of accepted proposals. */
  async #followTasks(): Promise<void> {
    const { projectId } = this;
    const accepted = this.#all('accepted').filter(isOpenProposal);
    const ids = accepted.flatMap(({ taskId }) => taskId ?? []);
    const tasks = ids.length === 0 ? [] : await this.#store.tasks({ projectId, ids, stages: ['done', 'cancelled'] });
    const ended = accepted.flatMap((proposal) => {
      const task = tasks.find(({ id }) => id === proposal.taskId);
      const outcome = task?.stage === 'done' ? ('landed' as const) : ('cancelled' as const);
      return task ? [{ proposal, outcome }] : [];
    });
    const landed = this.#all('accepted').filter(({ outcome }) => outcome === 'landed');
    const reverted = (await revertedBy(this.#deps, landed)).map((proposal) => ({
      proposal,
      outcome: 'reverted' as const,
    }));
    for (const { proposal, outcome } of [...ended, ...reverted]) {
      const { id: proposalId, categoryId } = proposal;
      await this.#store.execute({ type: 'proposal.end', projectId, proposalId, categoryId, outcome });
    }
    if (ended.length + reverted.length > 0) await this.#reread([...ended, ...reverted].map(({ proposal }) => proposal));
  }

  async #settle(proposal: Proposal): Promise<void> {
    await this.#store.execute(await checkProposal(this.#deps, this.#known, proposal, this.#ledger.proposals));
    await this.#reread([proposal]);
  }

  async #acceptIfAllowed(proposal: Proposal): Promise<void> {
    const approval = approvalOf(this.#deps.project.rules);
    if (approval === 'requires_approval') return;
    const task = await this.#accept(proposal);
    await this.#reread([proposal]);
    if (approval !== 'notify_and_proceed' || !task) return;
    const text = `The loop added #${task.number} ${task.title} (proposal ${proposal.number}, ${proposal.category}).`;
    const about = { projectId: this.projectId, taskId: null, kind: 'autonomy', subject: proposal.id } as const;
    await this.#store.execute({ type: 'alert.raise', ...about, severity: 'info', text });
  }

  /** Null when no task can be made of it. Then another category has its turn. */
  async #accept(proposal: Proposal): Promise<Task | null> {
    const { ids, project, onNote } = this.#deps;
    try {
      return await acceptProposal({ store: this.#store, ids, project }, proposal, ENGINE);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      onNote(`no task could be made of proposal ${proposal.number}`, error);
      const { id: proposalId, categoryId } = proposal;
      const why = `no task could be made of it: ${error.message}`;
      await this.#store.execute({
        type: 'proposal.refuse',
        projectId: this.projectId,
        proposalId,
        categoryId,
        why,
        by: ENGINE,
      });
      return null;
    }
  }

  #reread(proposals: readonly Proposal[]): Promise<void> {
    return this.#ledger.refresh(
      this.#deps.clock.now(),
      proposals.map(({ id }) => id),
    );
  }

  /** Asks for a proposal when the queue is low. Returns what a person should know. */
  async #balance(now: number): Promise<StandingCondition[]> {
    const { rules } = this.#deps.project;
    const jobs = await this.#proposing();
    const depth = queueDepth(await this.#store.workload(this.projectId), this.#ledger.proposals) + jobs.length;
    this.#isFilling = isFilling(depth, this.#isFilling, rules.loop, approvalOf(rules));
    if (!this.#isFilling || jobs.some(({ lease }) => lease === null)) return [];
    const busy = jobs.map(({ input }) => input);
    const choice = chooseCategory(
      (await this.#usable()).filter(({ slug }) => !busy.includes(slug)),
      now,
    );
    if (choice.slug === null) return jobs.length > 0 ? [] : [exhausted(choice.rests)];
    await this.#store.execute({ type: 'loop.propose', projectId: this.projectId, category: choice.slug, by: ENGINE });
    return [];
  }

  async #proposing(): Promise<Job[]> {
    const jobs = await this.#store.records({ noun: 'job', projectId: this.projectId, isOpen: true });
    return jobs.filter(({ mode }) => mode === 'propose');
  }

  /** The categories in use. Those that cannot be used are noted once. */
  async #usable() {
    const { improvements, project, onNote } = this.#deps;
    const texts = (await improvements?.categories()) ?? [];
    const records = await this.#store.records({ noun: 'category', projectId: this.projectId });
    const seen = seeCategories(texts, project.rules.loop, this.projectId, records, this.#ledger.proposals);
    for (const { slug, unused } of seen)
      if (unused?.state === 'broken' && !this.#noted.has(unused.why)) {
        this.#noted.add(unused.why);
        onNote(`the loop skips the category ${slug}: ${unused.why}`);
      }
    return seen.filter(({ unused }) => unused === null);
  }
}

/** Tasks that nobody has begun, and proposals that may become such. */
export function queueDepth({ byStage }: Pick<Workload, 'byStage'>, proposals: Iterable<Proposal>): number {
  const coming = [...proposals].filter(({ status }) => status === 'checking' || status === 'waiting').length;
  return (byStage.open ?? 0) + coming;
}

function exhausted(rests: { slug: string; rest: { until: number | null; why: string } }[]): StandingCondition {
  const times = rests.flatMap(({ rest }) => rest.until ?? []);
  const next = times.length === 0 ? '' : ` The next one is tried after ${new Date(Math.min(...times)).toISOString()}.`;
  const what = rests.length === 0 ? 'No category is in use.' : `All ${rests.length} categories in use rest.`;
  const text = `The loop has nothing to propose and waits. ${what}${next} \`tidemill loop categories\` says why.`;
  return { kind: 'loop_exhausted', subject: '', severity: 'warning', text };
}
