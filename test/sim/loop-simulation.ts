import {
  AUTONOMY_PRESETS,
  CATEGORIES,
  type LoggedEvent,
  LoopConfig,
  type ProjectRules,
  personActor,
} from '@tidemill/contract';
import { builtinPipelines, decide, reduce } from '@tidemill/core';
import { queueDepth } from '../../packages/daemon/src/engine/reactors/loop.ts';
import type { Improvements, Store } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import type { FaultyStore } from './faulty-store.ts';
import { Invariants } from './invariants.ts';
import { LoopAgent, LoopIdeas } from './loop-agent.ts';
import { LoopInvariants } from './loop-invariants.ts';
import type { PlantedBug } from './planted.ts';
import { Random } from './random.ts';
import { SimRepository } from './repository.ts';
import { startInstance } from './sim-instance.ts';
import { VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PROJECT = 'project_loop';
const WORKERS = 1;
const person = personActor('person');

const LOOP_RULES: ProjectRules = {
  target: 'main',
  defaultPipeline: 'quick',
  gates: ['integrity', 'test'],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 100, monthlyUsd: 3000, timeZone: 'UTC' },
  loop: LoopConfig.parse({ enabled: true, exposure: 4, budgetUsdPerDay: 6 }),
};

const improvements: Improvements = {
  categories: async () => CATEGORIES.map((slug) => ({ slug, name: slug, isOff: false, fault: null, fill: () => slug })),
  stack: async () => ({ languages: [], frameworks: [], dependencies: new Set() }),
};

export interface LoopReport {
  broken: string | null;
  virtualDays: number;
  events: number;
  landed: number;
  crashes: number;
  accepted: number;
  dropped: number;
  usedCategories: number;
  /** The share of the time in which the queue was within its limits. */
  inRange: number;
  stalls: number;
  /** From a proposal to its landing, on average. */
  cycleHours: number;
  holds: number;
  mostInADay: number;
}

/** The loop for many days: the real engine; agents, repository, people and faults come from one seed. */
export async function simulateLoop(options: { seed: number; days: number; plant?: PlantedBug }): Promise<LoopReport> {
  return new LoopSimulation(options).run();
}

class LoopSimulation {
  readonly #days: number;
  readonly #plant: PlantedBug | undefined;
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #repository: SimRepository;
  readonly #ideas: LoopIdeas;
  readonly #basic = new Invariants();
  readonly #invariants: LoopInvariants;
  #store!: Store;
  #instance: { store: FaultyStore } | null = null;
  #crashes = 0;
  #serial = 0;

  constructor({ seed, days, plant }: { seed: number; days: number; plant?: PlantedBug }) {
    this.#days = days;
    this.#plant = plant;
    this.#random = new Random(seed);
    this.#repository = new SimRepository(this.#clock, this.#random);
    this.#ideas = new LoopIdeas(this.#random);
    this.#invariants = new LoopInvariants(this.#ideas, LOOP_RULES.loop);
  }

  async run(): Promise<LoopReport> {
    const rules = { reduce, decide: this.#plant?.decide ?? decide };
    this.#store = await openStore({ url: 'memory:', clock: this.#clock, ids: this.#ids(), rules });
    void this.#follow();
    await this.#store.execute({
      type: 'project.register',
      projectId: PROJECT,
      name: 'sim',
      root: '/sim',
      rules: LOOP_RULES,
    });
    void this.#person();
    void this.#sampling();
    this.#boot();
    const end = this.#days * DAY;
    while (!this.#invariants.broken && (await this.#clock.step(end)));
    const report = await this.#report();
    this.#instance?.store.end();
    await this.#store.close();
    return report;
  }

  async #follow(): Promise<void> {
    for await (const event of this.#store.subscribe(0, {}, new AbortController().signal))
      this.#invariants.committed(event as LoggedEvent);
  }

  #boot(): void {
    this.#instance = startInstance({
      projectId: PROJECT,
      rules: LOOP_RULES,
      owner: `instance-${this.#crashes}`,
      store: this.#store,
      clock: this.#clock,
      random: this.#random,
      repository: this.#repository,
      invariants: this.#basic,
      plant: this.#plant,
      faults: () => ({ crash: 0.0001, delay: 0.002, duplicate: 0.005, lostHeartbeat: 0.01 }),
      ids: this.#ids(),
      agent: (isAlive) =>
        new LoopAgent({
          repository: this.#repository,
          ideas: this.#ideas,
          clock: this.#clock,
          random: this.#random,
          isAlive,
        }),
      flakes: 0,
      timeoutMs: 8 * 60 * MINUTE,
      isOwnerDead: () => true,
      workers: WORKERS,
      batch: 4,
      push: 'never',
      improvements,
      onCrash: () => void this.#reboot(),
      onFailedStart: (error) => this.#invariants.break(`the engine does not start: ${String(error)}`),
    });
  }

  async #reboot(): Promise<void> {
    this.#crashes += 1;
    await this.#clock.sleep(this.#random.int(10 * MINUTE));
    this.#boot();
  }

  /** Comes every two hours: retries what is blocked, scores and answers. */
  async #person(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(120 * MINUTE);
      for (const { id: taskId } of await this.#store.tasks({ projectId: PROJECT, stages: ['blocked', 'needs_info'] }))
        await this.#store.execute({ type: 'task.retry', projectId: PROJECT, taskId, by: person, note: 'go on' });
      const open = await this.#store.records({ noun: 'proposal', projectId: PROJECT, isOpen: true });
      for (const { id: proposalId, categoryId, score } of open)
        if (score === null && this.#random.chance(0.1))
          await this.#store.execute({
            type: 'proposal.score',
            projectId: PROJECT,
            proposalId,
            categoryId,
            score: 4 + this.#random.int(7),
            by: person,
          });
    }
  }

  /** Looks at the queue and at the progress every ten minutes. */
  async #sampling(): Promise<void> {
    // The first hour fills the queue.
    await this.#clock.sleep(60 * MINUTE);
    for (;;) {
      const [load, proposals, alerts, jobs] = await Promise.all([
        this.#store.workload(PROJECT),
        this.#store.records({ noun: 'proposal', projectId: PROJECT, isOpen: true }),
        this.#store.records({ noun: 'alert', projectId: PROJECT, isOpen: true }),
        this.#store.records({ noun: 'job', projectId: PROJECT, isOpen: true }),
      ]);
      const isWorking = load.leased > 0 || jobs.some(({ lease }) => lease !== null);
      this.#invariants.sampled(this.#clock.now(), queueDepth(load, proposals), isWorking, alerts);
      await this.#clock.sleep(10 * MINUTE);
    }
  }

  #ids() {
    return { next: (prefix: string) => `${prefix}_${String(++this.#serial).padStart(9, '0')}` };
  }

  async #report(): Promise<LoopReport> {
    const records = await this.#store.records({ noun: 'category', projectId: PROJECT });
    const proposals = await this.#store.records({ noun: 'proposal', projectId: PROJECT });
    const times = proposals.flatMap(({ outcome, createdAt, endedAt }) =>
      outcome === 'landed' && endedAt !== null ? [endedAt - createdAt] : [],
    );
    const dropped = proposals.filter(({ status }) => status === 'duplicate' || status === 'invalid').length;
    return {
      broken: this.#invariants.broken,
      virtualDays: this.#clock.elapsed() / DAY,
      events: await this.#store.lastSeq(),
      landed: proposals.filter(({ outcome }) => outcome === 'landed').length,
      crashes: this.#crashes,
      accepted: proposals.filter(({ status }) => status === 'accepted').length,
      dropped,
      usedCategories: records.filter(({ uses }) => uses > 0).length,
      inRange: this.#invariants.inRange,
      stalls: this.#invariants.stalls,
      cycleHours: times.reduce((sum, ms) => sum + ms, 0) / Math.max(1, times.length) / (60 * MINUTE),
      holds: this.#invariants.holds,
      mostInADay: this.#invariants.mostInADay,
    };
  }
}
