import { hash } from 'node:crypto';
import {
  type Actor,
  AUTONOMY_PRESETS,
  ENGINE,
  LearningConfig,
  type Lesson,
  type LessonUse,
  LoopConfig,
  type ProjectRules,
  personActor,
} from '@tidemill/contract';
import { alikeLessons, builtinPipelines, type Command, decide, reduce, twinOf } from '@tidemill/core';
import { Engine } from '../../packages/daemon/src/engine/engine.ts';
import { recordLesson } from '../../packages/daemon/src/engine/learning/record-lesson.ts';
import { ReactorHost } from '../../packages/daemon/src/engine/reactors/host.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import { SimGates } from './actors.ts';
import { type Faults, FaultyStore, mortal } from './faulty-store.ts';
import { bound, onlyAlive } from './instance-store.ts';
import { Invariants } from './invariants.ts';
import { AREAS, draftFor, type Fault, LearningAgent, PLACEBO, PLANTED, pairedReplay } from './learning-world.ts';
import { Random } from './random.ts';
import { SimRepository } from './repository.ts';
import { VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PROJECT = 'project_learning';
const person = personActor('person');
const agentActor: Actor = { kind: 'agent', id: 'reflection', name: 'reflection' };
const FAULTS: Faults = { crash: 0.005, delay: 0.005, duplicate: 0.01, lostHeartbeat: 0.02 };
const BRIEFING = { promptTokens: 0, dropped: [], model: null, tools: null, maxTurns: null, timeoutMs: null };

const rulesFor = (isLearning: boolean): ProjectRules => ({
  target: 'main',
  defaultPipeline: 'quick',
  gates: ['integrity', 'test'],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 100, monthlyUsd: 3000, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
  // The teacher of this world takes the place of reflection.
  learning: LearningConfig.parse({
    enabled: isLearning,
    reflection: { enabled: false },
    promotion: { enabled: false },
  }),
});

export interface LearningReport {
  /** Mistakes of an area after the first one, within the first 30 tasks. */
  repeated: number;
  landed: number;
  crashes: number;
  lessons: Lesson[];
  uses: LessonUse[];
  /** What is wrong with the counters, or with what runs were given. */
  broken: string[];
}

export interface LearningOptions {
  seed: number;
  tasks: number;
  isLearning: boolean;
}

/** The real engine; agents repeat five mistakes, and somebody planted bad lessons. */
export async function simulateLearning(options: LearningOptions): Promise<LearningReport> {
  return new LearningSimulation(options).run();
}

class LearningSimulation {
  readonly #options: LearningOptions;
  readonly #rules: ProjectRules;
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #repository: SimRepository;
  readonly #invariants = new Invariants();
  readonly #faults: Fault[] = [];
  readonly #broken: string[] = [];
  #store!: Store;
  #crashes = 0;
  #serial = 0;
  #isCalm = false;

  constructor(options: LearningOptions) {
    this.#options = options;
    this.#rules = rulesFor(options.isLearning);
    this.#random = new Random(options.seed);
    this.#repository = new SimRepository(this.#clock, this.#random);
  }

  async run(): Promise<LearningReport> {
    this.#store = await openStore({ url: 'memory:', clock: this.#clock, ids: this.#ids(), rules: { reduce, decide } });
    const project = { name: 'sim', root: '/sim', rules: this.#rules };
    await this.#store.execute({ type: 'project.register', projectId: PROJECT, ...project });
    for (const { folder, text } of PLANTED) await this.#record(folder, text, 'task_planted');
    void this.#person();
    void this.#teacher();
    this.#boot();
    for (let number = 1; number <= this.#options.tasks; number += 1) await this.#task(number);
    this.#isCalm = true;
    await this.#until(async () => (await this.#store.records({ noun: 'lesson_use', isOpen: true })).length === 0);
    if (this.#options.isLearning) await this.#replays();
    return this.#report();
  }

  /** One after the other: what one task teaches reaches the next. */
  async #task(number: number): Promise<void> {
    const { folder } = AREAS[(number - 1) % AREAS.length]!;
    const taskId = `task_${String(number).padStart(4, '0')}`;
    await this.#store.execute({
      type: 'task.create',
      projectId: PROJECT,
      taskId,
      title: `Change ${folder}`,
      body: '',
      kind: 'feature',
      accept: ['it works'],
      files: [`${folder}/file-${number}`],
      dependsOn: [],
      priority: 2,
    });
    await this.#until(async () => (await this.#store.task(taskId))?.stage === 'done');
  }

  async #until(isReached: () => Promise<boolean>): Promise<void> {
    const end = this.#clock.elapsed() + 2 * DAY;
    while (!(await isReached())) {
      if (this.#clock.elapsed() >= end) throw new Error('the work does not end');
      const next = this.#clock.elapsed() + 10 * MINUTE;
      while (await this.#clock.step(next));
    }
  }

  #boot(): void {
    const store: FaultyStore = new FaultyStore({
      store: this.#store,
      clock: this.#clock,
      random: this.#random,
      invariants: this.#invariants,
      faults: () => (this.#isCalm ? { crash: 0, delay: 0, duplicate: 0, lostHeartbeat: 0 } : FAULTS),
      onCrash: () => void this.#reboot(),
    });
    const isDead = () => store.isDead;
    const owner = `instance-${this.#crashes}`;
    const clock = mortal(this.#clock, isDead);
    const reads = bound(this.#store) as Store;
    const engineStore = {
      ...mortal(reads, isDead),
      ...onlyAlive(reads, store.death.signal),
      execute: (command: Command) => store.execute(command),
      executeAll: (commands: readonly Command[]) => store.executeAll(commands),
    };
    const agent = new LearningAgent({
      repository: this.#repository,
      clock: this.#clock,
      random: this.#random,
      isAlive: () => !store.isDead,
      onFault: (fault) => this.#faults.push(fault),
    });
    const engine = new Engine({
      project: {
        id: PROJECT,
        name: 'sim',
        root: '/sim',
        firstCommit: null,
        createdAt: 0,
        nextNumber: 1,
        nextQuestion: 1,
        nextIdea: 1,
        nextFeedback: 1,
        nextDelivery: 1,
        evidence: { head: '', count: 0 },
        rules: this.#rules,
      },
      store: engineStore,
      reactors: new ReactorHost({ store: engineStore, clock, onNote: () => undefined }),
      workspace: mortal(this.#repository, isDead),
      agentFor: () => agent,
      gates: mortal(new SimGates(this.#repository, this.#clock, this.#random, this.#invariants.passedTrees), isDead),
      guards: { check: async () => ({ kind: 'allow' }) },
      prompts: {
        render: async ({ lessons = [] }) => ({ ...BRIEFING, prompt: lessons.map(({ text }) => text).join('\n') }),
        renderJob: async () => ({ ...BRIEFING, prompt: '' }),
      },
      openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
      clock,
      ids: this.#ids(),
      host: '',
      owner,
      hash: (text) => hash('sha256', text),
      isOwnerDead: (other) => other !== owner,
      workers: 1,
      batch: 4,
      push: 'never',
      onNote: () => undefined,
    });
    engine.start().catch((error: unknown) => {
      if (!store.isDead) this.#broken.push(`the engine does not start: ${String(error)}`);
    });
  }

  async #reboot(): Promise<void> {
    this.#crashes += 1;
    await this.#clock.sleep(this.#random.int(5 * MINUTE));
    this.#boot();
  }

  /** Retries what is blocked. */
  async #person(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(30 * MINUTE);
      for (const { id: taskId } of await this.#store.tasks({ projectId: PROJECT, stages: ['blocked', 'needs_info'] }))
        await this.#store.execute({ type: 'task.retry', projectId: PROJECT, taskId, by: person, note: 'go on' });
    }
  }

  /** What a reflection finds out about a run that a gate sent back: the cure, if it made the mistake of its area. */
  async #teacher(): Promise<void> {
    const signal = new AbortController().signal;
    for await (const { body } of this.#store.subscribe(0, { types: ['run.sent_back'] }, signal)) {
      if (body.type !== 'run.sent_back') continue;
      const fault = this.#faults.find(({ runId }) => runId === body.runId);
      const area = fault?.fault === 'mistake' ? AREAS.find(({ folder }) => folder === fault.folder) : undefined;
      if (area) await this.#record(area.folder, area.cure, body.subjectId);
    }
  }

  async #record(folder: string, text: string, taskId: string): Promise<void> {
    const deps = { store: this.#store, ids: this.#ids(), project: { id: PROJECT } };
    await recordLesson(deps, draftFor(folder, text), { traceIds: [], taskIds: [taskId], runId: null, by: agentActor });
  }

  /** Each lesson in use, and a placebo, is replayed. Core decides whether the figures are enough. */
  async #replays(): Promise<void> {
    await this.#record('schema', PLACEBO, 'task_placebo');
    for (const { id: lessonId, text, filePatterns } of await this.#store.records({ noun: 'lesson', isOpen: true })) {
      // A lesson that names no files is about no area that could be played with and without it.
      const area = filePatterns[0]?.split('/')[0];
      if (area === undefined) continue;
      const proof = pairedReplay(area, text, this.#random);
      const why = 'a paired replay';
      const about = { projectId: PROJECT, lessonId, why, proof, by: ENGINE };
      await this.#store.execute({ type: 'lesson.advance', ...about, to: 'production' });
    }
  }

  #ids() {
    return { next: (prefix: string) => `${prefix}_${String(++this.#serial).padStart(9, '0')}` };
  }

  async #report(): Promise<LearningReport> {
    const lessons = await this.#store.records({ noun: 'lesson', projectId: PROJECT });
    const uses = await this.#store.records({ noun: 'lesson_use', projectId: PROJECT });
    const mistakes = new Map<string, Set<number>>();
    for (const { fault, folder, number } of this.#faults)
      if (fault === 'mistake' && number <= 30) mistakes.set(folder, (mistakes.get(folder) ?? new Set()).add(number));
    const repeated = [...mistakes.values()].reduce((sum, tasks) => sum + tasks.size - 1, 0);
    this.#check(lessons, uses);
    const landed = this.#repository.landed.length;
    return { repeated, landed, crashes: this.#crashes, lessons, uses, broken: this.#broken };
  }

  /** The counters of every lesson are those of its uses, nothing is doubled, and no run was given too much. */
  #check(lessons: readonly Lesson[], uses: readonly LessonUse[]): void {
    for (const lesson of lessons) {
      const own = uses.filter(({ lessonIds }) => lessonIds.includes(lesson.id));
      const count = (verdict: string) => own.filter((use) => use.verdict === verdict).length;
      const { injected, helped, hurt } = lesson;
      if (
        injected !== own.length ||
        (lesson.stage !== 'retired' && (helped !== count('helped') || hurt !== count('hurt')))
      )
        this.#broken.push(`L${lesson.number} counts ${injected}/${helped}/${hurt}, its uses say ${own.length}`);
    }
    for (const { runId, lessonIds } of uses)
      if (lessonIds.length > 5) this.#broken.push(`run ${runId} was given ${lessonIds.length} lessons`);
    const active = lessons.filter(({ stage, supersededBy }) => stage !== 'retired' && supersededBy === null);
    for (const lesson of active)
      if (
        twinOf(
          alikeLessons(
            lesson,
            active.filter(({ id }) => id !== lesson.id),
          ),
        )
      )
        this.#broken.push(`L${lesson.number} is there twice`);
  }
}
