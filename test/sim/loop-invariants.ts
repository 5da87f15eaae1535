import type { Alert, EventType, LoggedEvent, LoopConfig } from '@tidemill/contract';
import { STALL_MS } from '@tidemill/core';
import type { LoopIdeas } from './loop-agent.ts';

const DAY = 24 * 3_600_000;
/** The alert comes with the next look after the hour, and the daemon may be down for ten minutes. */
const LATE_MS = 20 * 60_000;
/** What may be spent after the budget: the run that had begun, and one that begins before the loop is held. */
const RUNS_ON_THE_WAY = 2;

const PROGRESS: EventType[] = [
  'task.moved',
  'task.created',
  'proposal.made',
  'proposal.checked',
  'proposal.ended',
  'category.rested',
];

/** What must hold while the loop runs. */
export class LoopInvariants {
  broken: string | null = null;
  stalls = 0;
  /** The most that was spent within 24 hours. */
  mostInADay = 0;
  /** How often its budget was spent. */
  holds = 0;
  readonly #ideas: LoopIdeas;
  readonly #config: LoopConfig;
  readonly #titles = new Map<string, string>();
  readonly #accepted = new Map<number, string>();
  #dearest = 0;
  #heldFor = 0;
  #spent: { at: number; usd: number }[] = [];
  #lastProgressAt = 0;
  #samples = 0;
  #good = 0;

  constructor(ideas: LoopIdeas, config: LoopConfig) {
    this.#ideas = ideas;
    this.#config = config;
  }

  get inRange(): number {
    return this.#samples === 0 ? 1 : this.#good / this.#samples;
  }

  break(why: string): void {
    this.broken ??= why;
  }

  committed({ at, body }: LoggedEvent): void {
    if (PROGRESS.includes(body.type)) this.#lastProgressAt = Math.max(this.#lastProgressAt, at);
    if (body.type === 'run.finished') {
      if (body.failure === null) this.#lastProgressAt = Math.max(this.#lastProgressAt, at);
      this.#paid(at, body.usage.costUsd ?? 0);
    }
    if (body.type === 'proposal.made') this.#titles.set(body.proposalId, body.draft.title);
    if (body.type === 'proposal.accepted') this.#isNew(body.proposalId);
    if (body.type === 'category.used') this.#isAffordable(at);
    if (body.type === 'loop.held' && body.until !== null) this.#held(at, body.until);
    if (body.type === 'loop.paused') this.break(`the loop paused although nothing was wrong: ${body.why}`);
    if (body.type === 'alert.raised' && body.kind === 'loop_stalled') {
      this.stalls += 1;
      if (/Nothing names a reason/.test(body.text)) this.break(`a stall without a reason: ${body.text}`);
    }
  }

  sampled(now: number, depth: number, isWorking: boolean, alerts: Alert[]): void {
    const { min, max } = this.#config;
    this.#samples += 1;
    if (depth >= min && depth <= max) this.#good += 1;
    if (isWorking) this.#lastProgressAt = Math.max(this.#lastProgressAt, now);
    const stillMs = now - this.#lastProgressAt;
    const hasWork = depth > 0;
    const isExplained = alerts.some(({ kind }) => kind.startsWith('loop_'));
    if (hasWork && stillMs > STALL_MS + LATE_MS && !isExplained)
      this.break(`no progress for ${Math.round(stillMs / 60_000)} minutes, and nobody says why`);
  }

  #isNew(proposalId: string): void {
    const title = this.#titles.get(proposalId) ?? '';
    const idea = this.#ideas.ideaOf.get(title) ?? -1;
    const twin = this.#accepted.get(idea);
    if (twin !== undefined) this.break(`a duplicate was accepted: "${title}" after "${twin}"`);
    this.#accepted.set(idea, title);
  }

  /** The end moves while runs that had begun are finished. */
  #held(at: number, until: number): void {
    if (at > this.#heldFor) this.holds += 1;
    this.#heldFor = until;
  }

  #paid(at: number, usd: number): void {
    this.#spent.push({ at, usd });
    this.#dearest = Math.max(this.#dearest, usd);
    const limit = (this.#config.budgetUsdPerDay ?? Number.POSITIVE_INFINITY) + RUNS_ON_THE_WAY * this.#dearest;
    const spent = this.#dayUntil(at);
    this.mostInADay = Math.max(this.mostInADay, spent);
    if (spent > limit) this.break(`${spent.toFixed(2)} dollars were spent within a day, more than ${limit.toFixed(2)}`);
  }

  #isAffordable(at: number): void {
    const { budgetUsdPerDay } = this.#config;
    if (budgetUsdPerDay !== undefined && this.#dayUntil(at) > budgetUsdPerDay + 0.01)
      this.break(`a proposal was requested although ${this.#dayUntil(at).toFixed(2)} dollars were spent today`);
  }

  #dayUntil(at: number): number {
    this.#spent = this.#spent.filter((each) => each.at > at - DAY);
    return this.#spent.reduce((sum, { usd }) => sum + usd, 0);
  }
}
