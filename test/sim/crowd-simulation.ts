import { AUTONOMY_PRESETS, isBuilding, type LoggedEvent, LoopConfig, MODES } from '@tidemill/contract';
import { builtinPipelines, decide, reduce } from '@tidemill/core';
import type { Agent, AgentBrief, AgentEnd } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import type { FaultyStore } from './faulty-store.ts';
import { Invariants } from './invariants.ts';
import { droppedLines, linesOf, resolve } from './merge-losses.ts';
import { Random } from './random.ts';
import { SimRepository } from './repository.ts';
import { startInstance } from './sim-instance.ts';
import { VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;
const PROJECT = 'project_crowd';
const SHARED = ['common-1', 'common-2', 'common-3'];
const FAULTS = { crash: 0.003, delay: 0.01, duplicate: 0.02, lostHeartbeat: 0.02 };
const RULES = {
  target: 'main',
  defaultPipeline: 'quick',
  gates: ['integrity', 'test'],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 10_000, monthlyUsd: 100_000, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
};

export interface CrowdReport {
  broken: string | null;
  stages: Record<string, number>;
  /** The most resolutions of one task that were overtaken. */
  mostOvertaken: number;
  met: number;
}

/**
 * Tasks that change the same three files at once, and more that arrive while those are landing. Their agent resolves every
 * conflict rightly, and nobody helps: all of them must land.
 */
export async function simulateCrowd(seed: number, tasks: number, later: number): Promise<CrowdReport> {
  const clock = new VirtualClock();
  const random = new Random(seed);
  const invariants = new Invariants();
  const repository = new SimRepository(clock, random);
  repository.onLand = (commit, tree, before) =>
    invariants.landed(commit.message, tree, droppedLines(before, commit.files));
  let serial = 0;
  const ids = { next: (prefix: string) => `${prefix}_${String(++serial).padStart(9, '0')}` };
  const store = await openStore({ url: 'memory:', clock, ids, rules: { reduce, decide } });
  await store.execute({ type: 'project.register', projectId: PROJECT, name: 'crowd', root: '/sim', rules: RULES });
  let mostOvertaken = 0;
  let met = 0;
  const over = new AbortController();
  const follow = async () => {
    for await (const event of store.subscribe(0, {}, over.signal)) {
      invariants.committed(event as LoggedEvent);
      if (event.body.type !== 'conflict.met') continue;
      met += 1;
      mostOvertaken = Math.max(mostOvertaken, event.body.resolved);
    }
  };
  void follow();
  const add = (number: number) =>
    store.execute({
      ...{ type: 'task.create', projectId: PROJECT, taskId: `task_${number}`, title: `Task ${number}`, body: '' },
      ...{ kind: 'chore', accept: [], files: [], dependsOn: [], priority: 2 },
    });
  for (let number = 1; number <= tasks; number += 1) await add(number);
  const arrive = async () => {
    for (let number = tasks + 1; number <= tasks + later; number += 1) {
      await clock.sleep(random.int(6 * MINUTE));
      await add(number);
    }
  };
  void arrive();
  let instances = 0;
  let instance: { store: FaultyStore };
  const boot = (): unknown =>
    (instance = startInstance({
      ...{ projectId: PROJECT, rules: RULES, owner: `instance-${instances++}`, store, clock, random, repository },
      ...{ invariants, plant: undefined, faults: () => FAULTS, ids, flakes: 0, timeoutMs: null, workers: 5, batch: 4 },
      agent: (isAlive) => new CrowdAgent(repository, clock, random, isAlive),
      isOwnerDead: () => true,
      push: 'target',
      onCrash: () => void clock.sleep(random.int(MINUTE)).then(boot),
      onFailedStart: (error) => invariants.break('the engine starts', String(error)),
    }));
  boot();
  const isOver = async () => {
    const { byStage } = await store.workload(PROJECT);
    return (byStage.done ?? 0) === tasks + later;
  };
  for (let step = 0; step < 400 && !invariants.broken && !(await isOver()); step += 1)
    for (const until = clock.elapsed() + 5 * MINUTE; !invariants.broken && (await clock.step(until)); );
  const { byStage } = await store.workload(PROJECT);
  over.abort();
  instance!.store.end();
  await store.close();
  return { broken: invariants.broken?.message ?? null, stages: byStage, mostOvertaken, met };
}

/** Adds its own line to each shared file, and keeps all sides of a conflict. */
class CrowdAgent implements Agent {
  readonly label = 'crowd';
  readonly #parts: [SimRepository, VirtualClock, Random, () => boolean];

  constructor(...parts: [SimRepository, VirtualClock, Random, () => boolean]) {
    this.#parts = parts;
  }

  start({ cwd, brief }: { cwd: string; brief: AgentBrief }) {
    const stop = new AbortController();
    return { end: this.#play(cwd, brief, stop.signal), stop: async () => stop.abort() };
  }

  async #play(cwd: string, brief: AgentBrief, stop: AbortSignal): Promise<AgentEnd> {
    const [repository, clock, random, isAlive] = this.#parts;
    await clock.sleep(MINUTE + random.int(4 * MINUTE), stop);
    if (stop.aborted) return { kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null };
    if (!isAlive()) return new Promise(() => undefined);
    const work = repository.work(cwd);
    if (isBuilding(brief.mode) && work)
      for (const path of SHARED) {
        const text = work.get(path) ?? '';
        if (text.includes('<<<')) work.set(path, resolve(text, true).replaceAll('undefined\n', ''));
        const own = `line-${brief.task!.number}-${path}`;
        const lines = linesOf(work, path);
        if (!lines.includes(own)) work.set(path, [...lines, own].join('\n'));
      }
    return { kind: 'result', envelope: { outcome: MODES[brief.mode].outcomes[0], summary: 'kept all sides' } };
  }
}
