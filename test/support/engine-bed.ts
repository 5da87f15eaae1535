import { hash } from 'node:crypto';
import { type EventType, isBuilding, type LoggedEvent, MODES, type ProjectRules } from '@tidemill/contract';
import type { Command, CommandOf } from '@tidemill/core';
import { createIds } from '../../packages/daemon/src/clock.ts';
import type { EngineDeps } from '../../packages/daemon/src/engine/deps.ts';
import { Engine } from '../../packages/daemon/src/engine/engine.ts';
import { ReactorHost } from '../../packages/daemon/src/engine/reactors/host.ts';
import type { Agent, AgentEnd, Store } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import { SimGates } from '../sim/actors.ts';
import { Random } from '../sim/random.ts';
import { SimRepository } from '../sim/repository.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { defaultRules } from './mill.ts';

const MINUTE = 60_000;
const briefing = {
  prompt: '',
  promptTokens: 0,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: 8 * 60 * MINUTE,
};

/** Starts and stays silent until it is stopped. */
export const silentAgent: Agent = {
  label: 'silent',
  start() {
    const { promise, resolve } = Promise.withResolvers<AgentEnd>();
    const end: AgentEnd = { kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null };
    return { end: promise, stop: async () => resolve(end) };
  },
};

/** Builds what it is asked for and answers at once. */
export function quickAgent(repository: () => SimRepository): Agent {
  return {
    label: 'quick',
    start({ cwd, brief }) {
      if (isBuilding(brief.mode)) repository().work(cwd)?.set(`file-${brief.task!.number}`, 'fine');
      const criteria = brief.task!.acceptance.map(({ id }) => ({ id, met: true, evidence: 'test passes' }));
      const outcome = MODES[brief.mode].outcomes[0];
      const envelope = { outcome, summary: 'done', plan: 'plan', review: { criteria, comments: [] } };
      return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
    },
  };
}

/** Replaces parts of what the engine gets. */
type Change = (bed: EngineBed) => Partial<EngineDeps>;

/** The real engine on a virtual clock, over the simulator's repository and a store in memory. */
export class EngineBed {
  readonly projectId = 'project_1';
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly repository: SimRepository;
  readonly notes: string[] = [];
  readonly #random = new Random(1);
  readonly #change: Change;
  #engine: Engine | null = null;
  #starts = 0;

  private constructor(clock: VirtualClock, store: Store, change: Change) {
    this.clock = clock;
    this.store = store;
    this.#change = change;
    this.repository = new SimRepository(clock, this.#random);
  }

  static async open(rules: Partial<ProjectRules> = {}, change: Change = () => ({})): Promise<EngineBed> {
    const clock = new VirtualClock();
    const store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
    const bed = new EngineBed(clock, store, change);
    const all = { ...defaultRules, defaultPipeline: 'quick', ...rules };
    await bed.must({ type: 'project.register', projectId: bed.projectId, name: 'mill', root: '/mill', rules: all });
    return bed;
  }

  get engine(): Engine {
    if (!this.#engine) throw new Error('the engine is not started');
    return this.#engine;
  }

  /** Starts the engine, or the next one after `stop`. */
  async start(): Promise<void> {
    this.#starts += 1;
    const { clock, store, repository: workspace } = this;
    const onNote = (text: string) => void this.notes.push(text);
    this.#engine = new Engine({
      workspace,
      clock,
      ids: createIds(clock),
      owner: `daemon-${this.#starts}`,
      workers: 2,
      batch: 5,
      push: 'never',
      agentFor: () => silentAgent,
      store,
      project: (await store.project(this.projectId))!,
      gates: new SimGates(workspace, clock, this.#random, new Set()),
      guards: { check: async () => ({ kind: 'allow' }) },
      prompts: { render: async () => briefing, renderJob: async () => briefing },
      openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
      hash: (text) => hash('sha256', text),
      host: '',
      isOwnerDead: () => false,
      reactors: new ReactorHost({ store, clock, onNote }),
      onNote,
      ...this.#change(this),
    });
    await this.#engine.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#engine?.stop({ graceMs: 0 });
    this.#engine = null;
    await this.pass(MINUTE);
    await stopped;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.store.close();
  }

  async must(command: Command): Promise<void> {
    const reply = await this.store.execute(command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
  }

  /** Task number N has the id `task_N`. */
  async add(number: number, change: Partial<CommandOf<'task.create'>> = {}): Promise<void> {
    const blank = { body: '', kind: 'feature' as const, accept: [], files: [], dependsOn: [], priority: 2, ...change };
    const about = { projectId: this.projectId, taskId: `task_${number}`, title: `Task ${number}` };
    await this.must({ type: 'task.create', ...about, ...blank });
  }

  /** Advances the clock, then runs everything that needs no more time. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.elapsed() + ms;
    void this.clock.sleep(ms);
    await settled();
    while (await this.clock.step(until)) await settled(4);
    await settled();
  }

  log(...types: EventType[]): Promise<LoggedEvent[]> {
    return this.store.events({ after: 0, limit: 100_000, types });
  }

  async decided(): Promise<string[]> {
    return (await this.log('supervisor.decided')).flatMap(({ body }) =>
      body.type === 'supervisor.decided' ? [`${body.action} ${body.subject}`] : [],
    );
  }

  /** The open alerts: kind, subject and severity. */
  async alerts(): Promise<string[]> {
    const open = await this.store.records({ noun: 'alert', projectId: this.projectId, isOpen: true });
    return open.map(({ kind, subject, severity }) => `${severity} ${kind} ${subject}`.trim()).sort();
  }
}

/** Only files that are really read need many turns. */
async function settled(turns = 30): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
