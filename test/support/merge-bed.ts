import { isBuilding, type LoggedEvent, personActor } from '@tidemill/contract';
import { expect } from 'vitest';
import type { EngineDeps } from '../../packages/daemon/src/engine/deps.ts';
import type { Agent, AgentBrief, GateReport, GateRequest, Gates } from '../../packages/daemon/src/ports.ts';
import { SimGates } from '../sim/actors.ts';
import { Random } from '../sim/random.ts';
import { EngineBed, quickAgent } from './engine-bed.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const by = personActor('ada');

/** The engine of the running test. */
export let bed: EngineBed;

/** Gates that take ten seconds and record on which files they ran. `flakes`: how often the next runs fail anyway. */
class SlowGates implements Gates {
  readonly names = ['integrity', 'test'];
  readonly checks = [];
  readonly runs: string[] = [];
  flakes = 0;
  /** The share of runs that fail anyway. */
  rate = 0;
  readonly #random = new Random(7);
  readonly #gates: SimGates;
  readonly #bed: EngineBed;
  constructor(of: EngineBed) {
    this.#bed = of;
    const atOnce = { now: () => of.clock.now(), sleep: async () => undefined };
    this.#gates = new SimGates(of.repository, atOnce, new Random(1), new Set());
  }
  async run(request: GateRequest): Promise<GateReport[]> {
    await this.#bed.clock.sleep(10 * SECOND, request.signal);
    const reports = await this.#gates.run(request);
    const files = [...this.#bed.repository.shown(request.path).keys()].filter((path) => path.startsWith('file-'));
    this.runs.push(files.map((path) => path.slice(5)).join(' '));
    const isFlake = this.flakes > 0 || (this.rate > 0 && this.#random.chance(this.rate));
    if (!isFlake) return reports;
    this.flakes = Math.max(0, this.flakes - 1);
    const status = (gate: string) => (gate === 'test' ? ('fail' as const) : ('pass' as const));
    return reports.map(({ receipt, ...rest }) => ({ ...rest, receipt: { ...receipt, status: status(receipt.gate) } }));
  }
}

interface Setup {
  /** What the agent of each task writes at first. With feedback it writes `fine`. */
  words?: Record<number, string>;
  deps?: Partial<EngineDeps>;
}
export const briefs: AgentBrief[] = [];
export let gates: SlowGates;

export async function open({ words = {}, deps = {} }: Setup = {}): Promise<void> {
  briefs.length = 0;
  const writing = (base: Agent): Agent => ({
    label: 'writing',
    start(request, hooks) {
      briefs.push(request.brief);
      const started = base.start(request, hooks);
      const { number } = request.brief.task!;
      const word = request.brief.feedback.length > 0 ? 'fine' : (words[number] ?? 'fine');
      if (isBuilding(request.brief.mode)) bed.repository.work(request.cwd)?.set(`file-${number}`, `${word}-${number}`);
      return started;
    },
  });
  bed = await EngineBed.open({}, (of) => {
    gates = new SlowGates(of);
    return { workers: 10, gates, agentFor: () => writing(quickAgent(() => of.repository)), ...deps };
  });
  await bed.start();
}

/** So many tasks wait to be merged. */
export async function waiting(count: number): Promise<void> {
  await steer('paused');
  for (let number = 1; number <= count; number += 1) await bed.add(number);
  await bed.pass(2 * MINUTE);
  expect(await stages()).toEqual(Array(count).fill('merge'));
  gates.runs.length = 0;
  await steer('running');
}
async function steer(desired: 'running' | 'paused'): Promise<void> {
  const merger = (await bed.store.workers(bed.projectId)).find(({ role }) => role === 'merger')!;
  await bed.must({ type: 'worker.steer', projectId: bed.projectId, workerId: merger.id, desired, by });
}
export const stages = async () =>
  (await bed.store.tasks({ projectId: bed.projectId, limit: 100 })).map(({ stage }) => stage);
export const landed = () => bed.repository.landed.map(({ message }) => Number(/Task: #(\d+)/.exec(message)?.[1]));
export const bodies = async <T extends LoggedEvent['body']['type']>(type: T) =>
  (await bed.log(type)).map(({ body }) => body as Extract<LoggedEvent['body'], { type: T }>);
