import { hash } from 'node:crypto';
import type { ProjectRules, PushSetting } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { Engine } from '../../packages/daemon/src/engine/engine.ts';
import { ReactorHost } from '../../packages/daemon/src/engine/reactors/host.ts';
import type { Agent, Improvements, Store } from '../../packages/daemon/src/ports.ts';
import { SimGates } from './actors.ts';
import { faultyForge } from './faulty-forge.ts';
import { type Faults, FaultyStore, mortal } from './faulty-store.ts';
import type { SimForge } from './forge.ts';
import { bound, onlyAlive } from './instance-store.ts';
import type { Invariants } from './invariants.ts';
import type { PlantedBug } from './planted.ts';
import type { Random } from './random.ts';
import type { SimRepository } from './repository.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What one instance of the daemon gets from its story. */
export interface InstanceOptions {
  projectId: string;
  rules: ProjectRules;
  /** Distinguishes the instances of a story. */
  owner: string;
  store: Store;
  clock: VirtualClock;
  random: Random;
  repository: SimRepository;
  invariants: Invariants;
  plant: PlantedBug | undefined;
  faults(): Faults;
  ids: { next(prefix: string): string };
  agent(isAlive: () => boolean): Agent;
  /** How often a gate fails without a reason. */
  flakes: number;
  /** The longest time of a run; null is the mode's own. */
  timeoutMs: number | null;
  isOwnerDead(other: string): boolean;
  workers: number;
  batch: number;
  push: PushSetting;
  improvements?: Improvements;
  /** Work lands by pull requests there. */
  forge?: SimForge | undefined;
  onCrash(): void;
  onFailedStart(error: unknown): void;
}

/** Starts the real engine over simulated surroundings. A crash ends all that it could still do. */
export function startInstance(options: InstanceOptions): { engine: Engine; store: FaultyStore } {
  const { projectId, rules, owner, clock: time, random, repository, invariants, plant, ids } = options;
  const store = new FaultyStore({
    store: options.store,
    clock: time,
    random,
    invariants,
    faults: options.faults,
    onCrash: options.onCrash,
  });
  const isDead = () => store.isDead;
  const agent = options.agent(() => !store.isDead);
  const reads = { ...bound(options.store), ...plant?.store?.(options.store, projectId) } as Store;
  const clock = mortal(time, isDead);
  const onNote = () => undefined;
  const engineStore = {
    ...mortal(reads, isDead),
    ...onlyAlive(reads, store.death.signal),
    execute: (command: Command) => store.execute(command),
    executeAll: (commands: readonly Command[]) => store.executeAll(commands),
  };
  const gates = new SimGates(repository, time, random, invariants.passedTrees);
  gates.flakes = options.flakes;
  const { timeoutMs, forge } = options;
  const faultyParts = { clock: time, random, store, faults: options.faults };
  const faulty = forge
    ? mortal(faultyForge(forge, { ...faultyParts, planted: plant?.forge?.(forge) ?? {} }), isDead)
    : null;
  const briefing = {
    ...{ prompt: '', promptTokens: 0, dropped: [], model: null, tools: null, maxTurns: null },
    timeoutMs,
  };
  const engine = new Engine({
    project: {
      id: projectId,
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
      rules,
    },
    store: engineStore,
    reactors: new ReactorHost({ store: engineStore, clock, onNote }),
    workspace: mortal(repository, isDead),
    ...(forge && faulty ? { pullRequests: { forge: faulty, settings: forge.setup.settings } } : {}),
    ...(options.improvements ? { improvements: options.improvements } : {}),
    agentFor: () => agent,
    gates: mortal(gates, isDead),
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: { render: async () => briefing, renderJob: async () => briefing },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    clock,
    ids,
    host: '',
    owner,
    hash: (text) => hash('sha256', text),
    isOwnerDead: (other) => other !== owner && options.isOwnerDead(other),
    workers: options.workers,
    batch: options.batch,
    push: options.push,
    onNote,
  });
  engine.start().catch((error: unknown) => {
    if (!store.isDead) options.onFailedStart(error);
  });
  return { engine, store };
}
