import {
  ALL_PROJECTS,
  AppError,
  AUTONOMY_PRESETS,
  accountId,
  type LoggedEvent,
  LoopConfig,
  personActor,
} from '@tidemill/contract';
import { builtinPipelines, decide, reduce } from '@tidemill/core';
import type { Engine } from '../../packages/daemon/src/engine/engine.ts';
import { restartWorker } from '../../packages/daemon/src/engine/flows/restart.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import { SimAgent } from './actors.ts';
import type { Faults, FaultyStore } from './faulty-store.ts';
import { type BrokenInvariant, Invariants } from './invariants.ts';
import { droppedLines } from './merge-losses.ts';
import type { PlantedBug } from './planted.ts';
import { PullStory } from './pull-story.ts';
import { Random } from './random.ts';
import { SimRepository } from './repository.ts';
import { startInstance } from './sim-instance.ts';
import { VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PROJECT = 'project_sim';
const WORKERS = 3;
const BATCH = 4;
const RULES = {
  target: 'main',
  defaultPipeline: 'feature',
  gates: ['integrity', 'test'],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  // Small enough to be exhausted sometimes.
  budget: { dailyUsd: 8, monthlyUsd: 100, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
};

export interface Options {
  seed: number;
  /** Tasks arrive and faults happen for this long; after that all work must end. */
  days: number;
  tasksPerDay: number;
  faults?: Partial<Faults>;
  plant?: PlantedBug;
  /** Default: in every third story, work lands by pull requests. */
  landing?: 'push' | 'pull_request';
}

export interface Report {
  seed: number;
  broken: BrokenInvariant | null;
  virtualDays: number;
  events: number;
  landed: number;
  crashes: number;
  stages: Record<string, number>;
  /** The numbers of the writes of the last instance that changed something: the possible crash points. */
  writes: number[];
}

const USUAL_FAULTS: Faults = { crash: 0.01, delay: 0.01, duplicate: 0.02, lostHeartbeat: 0.05, forge: 0.03 };
const NO_FAULTS: Faults = { crash: 0, delay: 0, duplicate: 0, lostHeartbeat: 0 };

/** One story: the real core, engine, supervisor and memory store; everything else is simulated from one seed. */
export async function simulate(options: Options): Promise<Report> {
  const simulation = new Simulation(options);
  return simulation.run();
}

class Simulation {
  readonly #options: Options;
  /** In every fourth story many small tasks come at once, so that several wait to be merged. */
  readonly #isCrowded: boolean;
  readonly #rules: typeof RULES;
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #invariants = new Invariants();
  readonly #repository: SimRepository;
  readonly #pulls: PullStory | null;
  readonly #mended = new Map<string, number>();
  #store!: Store;
  #instance: { engine: Engine; store: FaultyStore } | null = null;
  #crashes = 0;
  #serial = 0;
  #isCalm = false;

  constructor(options: Options) {
    this.#options = options;
    this.#isCrowded = options.seed % 4 === 0;
    const budget = this.#isCrowded ? { ...RULES.budget, dailyUsd: 100, monthlyUsd: 1000 } : RULES.budget;
    this.#rules = { ...RULES, budget };
    this.#random = new Random(options.seed);
    this.#repository = new SimRepository(this.#clock, this.#random);
    this.#repository.onLand = (commit, tree, before) =>
      this.#invariants.landed(commit.message, tree, droppedLines(before, commit.files));
    const isByPull = (options.landing ?? (options.seed % 3 === 0 ? 'pull_request' : 'push')) === 'pull_request';
    const world = { repository: this.#repository, clock: this.#clock, random: this.#random };
    this.#pulls = isByPull ? new PullStory({ ...world, invariants: this.#invariants }) : null;
    this.#invariants.pulls = this.#pulls;
    Object.assign(this.#repository, options.plant?.workspace);
  }

  async run(): Promise<Report> {
    await this.#open();
    const stormEnds = this.#options.days * DAY;
    void this.#arrivals(stormEnds);
    void this.#person();
    void this.#steering(stormEnds);
    void this.#weather(stormEnds);
    void this.#pulls?.play(stormEnds, this.#store, PROJECT);
    this.#boot();
    await this.#advance(stormEnds);
    this.#isCalm = true;
    await this.#makePeace();
    this.#repository.isDirty = false;
    this.#repository.remote.isDown = false;
    if (this.#pulls) this.#repository.pushByPerson('theirs', 'mended');
    else {
      this.#repository.mergeByPerson();
      this.#repository.commitByPerson('theirs', 'mended');
    }
    // Two days without faults are enough for running work; then everything must have ended.
    for (let step = 0; step < 96 && !(await this.#isAtRest()); step += 1)
      await this.#advance(this.#clock.elapsed() + DAY / 48);
    await this.#invariants.atEnd(this.#store, PROJECT, this.#repository);
    const report = await this.#report();
    this.#instance?.store.end();
    await this.#store.close();
    return report;
  }

  async #open(): Promise<void> {
    const real = this.#options.plant?.decide ?? decide;
    this.#store = await openStore({
      url: 'memory:',
      clock: this.#clock,
      ids: this.#ids(),
      rules: {
        reduce,
        decide: (slice, command, env) => {
          const decision = real(slice, command, env);
          this.#invariants.decided(slice, command, decision);
          return decision;
        },
      },
    });
    this.#invariants.people.dailyUsd = this.#rules.budget.dailyUsd;
    this.#invariants.people.dearestUsd = 0.5;
    this.#invariants.batch = BATCH;
    void this.#follow();
    await this.#store.execute({
      type: 'project.register',
      projectId: PROJECT,
      name: 'sim',
      root: '/sim',
      rules: this.#rules,
    });
  }

  /** The invariants read the log like any subscriber. */
  async #follow(): Promise<void> {
    let last = 0;
    for await (const event of this.#store.subscribe(0, {}, new AbortController().signal)) {
      if (event.seq !== last + 1)
        this.#invariants.break('a cursor never skips or repeats', `${event.seq} after ${last}`);
      last = event.seq;
      this.#invariants.committed(event as LoggedEvent);
    }
  }

  #boot(): void {
    this.#instance = startInstance({
      projectId: PROJECT,
      rules: this.#rules,
      owner: `instance-${this.#crashes}`,
      store: this.#store,
      clock: this.#clock,
      random: this.#random,
      repository: this.#repository,
      invariants: this.#invariants,
      plant: this.#options.plant,
      faults: () => (this.#isCalm ? NO_FAULTS : { ...USUAL_FAULTS, ...this.#options.faults }),
      ids: this.#ids(),
      agent: (isAlive) => this.#agent(isAlive),
      forge: this.#pulls?.forge,
      flakes: 0.05,
      timeoutMs: null,
      isOwnerDead: () => this.#random.chance(0.7),
      workers: WORKERS,
      batch: BATCH,
      push: this.#pulls ? 'branch' : 'target',
      onCrash: () => void this.#reboot(),
      onFailedStart: (error) => this.#invariants.break('the engine starts', String(error)),
    });
  }

  #agent(isAlive: () => boolean): SimAgent {
    const agent = new SimAgent(this.#repository, this.#clock, this.#random, isAlive);
    agent.onBrief = (texts) => this.#pulls?.invariants.briefed(texts);
    return agent;
  }

  async #reboot(): Promise<void> {
    this.#crashes += 1;
    await this.#clock.sleep(this.#random.int(5 * MINUTE));
    this.#boot();
  }

  /** People add tasks: some depend on others, some have a file scope, a few have no criteria. */
  async #arrivals(until: number): Promise<void> {
    const known: string[] = [];
    const between = DAY / this.#options.tasksPerDay / (this.#isCrowded ? 3 : 1);
    while (this.#clock.elapsed() < until) {
      const taskId = `task_${String(known.length).padStart(6, '0')}`;
      const dependsOn = known.slice(-4).filter(() => this.#random.chance(0.25));
      await this.#store.execute({
        type: 'task.create',
        projectId: PROJECT,
        taskId,
        title: `Task ${known.length}`,
        body: '',
        kind: this.#random.pick(['feature', 'feature', 'bug', 'chore']),
        pipeline: this.#random.chance(this.#isCrowded ? 0.9 : 0.3) ? 'quick' : undefined,
        accept: this.#random.chance(0.9) ? ['it works', 'it is tested'] : [],
        files: this.#random.chance(0.3) ? [this.#random.pick(['src/**', 'src/a.ts', 'docs/'])] : [],
        dependsOn,
        priority: this.#random.int(5),
      });
      known.push(taskId);
      if (this.#random.chance(0.15)) await this.#requestJob(known.length);
      await this.#clock.sleep(this.#random.int(2 * between));
    }
  }

  /** Jobs, some of which are cancelled. */
  async #requestJob(number: number): Promise<void> {
    const about = { projectId: PROJECT, subjectId: PROJECT, jobId: `job_${String(number).padStart(6, '0')}` };
    await this.#store.execute({ type: 'job.request', ...about, mode: 'trial', input: 'x', by: personActor('person') });
    if (this.#random.chance(0.1)) await this.#store.execute({ type: 'job.cancel', ...about, why: 'not needed' });
  }

  /** A person who comes every hour, answers, retries, approves, cancels, and cancels a task after five retries. */
  async #person(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(60 * MINUTE);
      await this.#answers();
      for (const task of await this.#store.tasks({ projectId: PROJECT, stages: ['blocked', 'needs_info'] })) {
        const tries = (this.#mended.get(task.id) ?? 0) + 1;
        this.#mended.set(task.id, tries);
        const about = { projectId: PROJECT, taskId: task.id, by: personActor('person'), note: 'go on' };
        if (tries > 5) {
          if (this.#random.chance(0.5)) await this.#store.execute({ type: 'task.cancel', ...about });
        } else if (task.blocked?.reason === 'no_criteria' || task.blocked?.reason === 'review_escalation')
          await this.#store.execute({ type: this.#random.chance(0.7) ? 'task.approve' : 'task.reject', ...about });
        else await this.#store.execute({ type: 'task.retry', ...about });
      }
      if (this.#random.chance(0.02)) {
        const [task] = await this.#store.leased(PROJECT);
        if (task)
          await this.#store.execute({
            type: 'task.cancel',
            projectId: PROJECT,
            taskId: task.id,
            by: personActor('person'),
          });
      }
    }
  }

  /** Half of the questions are answered one by one. */
  async #answers(): Promise<void> {
    for (const { id, taskId, options } of await this.#store.records({ noun: 'question', isOpen: true, limit: 50 })) {
      if (!this.#random.chance(0.5)) continue;
      const text = options.length > 0 ? this.#random.pick(options).label : this.#random.pick(['yes', 'no']);
      const about = {
        projectId: PROJECT,
        taskId,
        questionId: id,
        by: personActor('person'),
        source: 'user' as const,
        text,
      };
      await this.#store.execute({ type: 'question.answer', ...about });
    }
  }

  /** Workers are paused, frozen, stopped, restarted and resumed. */
  async #steering(until: number): Promise<void> {
    while (this.#clock.elapsed() < until) {
      await this.#clock.sleep(this.#random.int(90 * MINUTE));
      if (this.#isCalm) return;
      const workers = await this.#store.workers(PROJECT);
      if (workers.length === 0) continue;
      const worker = this.#random.pick(workers);
      const { id: workerId } = worker;
      const desired = this.#random.pick(['running', 'running', 'paused', 'frozen', 'stopped'] as const);
      // A running worker is restarted instead.
      if (desired === 'running' && worker.desired === 'running')
        await restartWorker(this.#store, worker, { by: personActor('person'), isReset: workers.length % 2 > 0 }).catch(
          ifRemoved,
        );
      else
        await this.#store.execute({
          type: 'worker.steer',
          projectId: PROJECT,
          workerId,
          desired,
          by: personActor('person'),
        });
    }
  }

  /** The person raises the budget and resumes all workers. */
  async #makePeace(): Promise<void> {
    const rules = { ...RULES, budget: { ...RULES.budget, dailyUsd: 1000, monthlyUsd: 10_000 } };
    this.#invariants.people.dailyUsd = rules.budget.dailyUsd;
    await this.#store.execute({ type: 'project.configure', projectId: PROJECT, rules });
    const total = { dailyUsd: 1000, monthlyUsd: 10_000 };
    const all = {
      projectId: PROJECT,
      accountId: accountId(ALL_PROJECTS),
      limits: total,
      timeZone: 'UTC',
      by: personActor('person'),
    };
    await this.#store.execute({ type: 'budget.limit', ...all });
    for (const { id: workerId } of await this.#store.workers(PROJECT))
      await this.#store.execute({
        type: 'worker.steer',
        projectId: PROJECT,
        workerId,
        desired: 'running',
        by: personActor('person'),
      });
  }

  /** Wall clocks jump, checkouts get dirty, people commit to the target. */
  async #weather(until: number): Promise<void> {
    while (this.#clock.elapsed() < until) {
      await this.#clock.sleep(this.#random.int(40 * MINUTE));
      if (this.#isCalm) return;
      const what = this.#random.int(8);
      if (what === 0) this.#clock.jump(this.#random.int(20 * MINUTE) - 10 * MINUTE);
      if (what === 1) this.#repository.isDirty = !this.#repository.isDirty;
      const line = () => `person-${this.#random.int(1e6)}`;
      if (what === 2 && this.#pulls) this.#repository.pushLineByPerson('shared', line());
      else if (what === 2) this.#repository.addLineByPerson('shared', line());
      if (what === 3) this.#repository.remote.isDown = !this.#repository.remote.isDown;
      if (what === 4) this.#repository.pushByPerson(`theirs-${this.#random.int(3)}`, `${this.#random.int(1e6)}`);
      // Somebody breaks the shared branch, and mends it later.
      if (what === 5) this.#repository.pushByPerson('theirs', this.#random.chance(0.5) ? 'bug' : 'mended');
      if (this.#pulls) continue;
      if (what === 6 && this.#random.chance(0.3)) this.#repository.pushByPerson('theirs', 'forced', true);
      if (what === 7) this.#repository.mergeByPerson();
    }
  }

  async #advance(until: number): Promise<void> {
    while (!this.#invariants.broken && (await this.#clock.step(until)));
  }

  async #isAtRest(): Promise<boolean> {
    const { leased, ready, waiting } = await this.#store.workload(PROJECT);
    const jobs = await this.#store.records({ noun: 'job', projectId: PROJECT, isOpen: true });
    const isDone = leased + ready + waiting + jobs.length === 0 && this.#repository.isPushed;
    return isDone || this.#invariants.broken !== null;
  }

  #ids() {
    return { next: (prefix: string) => `${prefix}_${String(++this.#serial).padStart(9, '0')}` };
  }

  async #report(): Promise<Report> {
    const { byStage } = await this.#store.workload(PROJECT);
    return {
      seed: this.#options.seed,
      broken: this.#invariants.broken,
      virtualDays: this.#clock.elapsed() / DAY,
      events: await this.#store.lastSeq(),
      landed: this.#pulls ? (byStage.done ?? 0) : this.#repository.landed.length,
      crashes: this.#crashes,
      stages: byStage,
      writes: this.#instance?.store.effective.toSorted((one, other) => one - other) ?? [],
    };
  }
}

/** The engine removes surplus workers: one may be gone when a person restarts it. */
function ifRemoved(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
}
