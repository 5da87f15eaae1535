import { isBuilding, type LoggedEvent, personActor } from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { SimGates } from '../../../../../test/sim/actors.ts';
import { Random } from '../../../../../test/sim/random.ts';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { Agent, AgentBrief, GateReport, GateRequest, Gates } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const by = personActor('ada');

let bed: EngineBed;
afterEach(() => bed.close());

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
const briefs: AgentBrief[] = [];
let gates: SlowGates;

async function open({ words = {}, deps = {} }: Setup = {}): Promise<void> {
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
async function waiting(count: number): Promise<void> {
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
const stages = async () => (await bed.store.tasks({ projectId: bed.projectId, limit: 100 })).map(({ stage }) => stage);
const landed = () => bed.repository.landed.map(({ message }) => Number(/Task: #(\d+)/.exec(message)?.[1]));
const bodies = async <T extends LoggedEvent['body']['type']>(type: T) =>
  (await bed.log(type)).map(({ body }) => body as Extract<LoggedEvent['body'], { type: T }>);

describe('tasks that wait to be merged', { timeout: 60_000 }, () => {
  it('are proven as one tree and land together, one commit each, with the evidence of that tree', async () => {
    await open();
    await waiting(6);
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(Array(6).fill('done'));
    // The first is proven on the target already. The others need one run of the gates.
    expect(gates.runs).toEqual(['1 2 3 4 5 6']);
    expect(landed()).toEqual([1, 2, 3, 4, 5, 6]);
    const prepared = await bodies('merge.prepared');
    expect(new Set(prepared.slice(1).map(({ lands, commit }) => lands ?? commit)).size).toBe(1);
    expect(prepared.every(({ evidence }) => evidence.length === 2)).toBe(true);
  });

  it('land one at a time with a batch of one', async () => {
    await open({ deps: { batch: 1 } });
    await waiting(4);
    await bed.pass(5 * MINUTE);
    expect(gates.runs).toEqual(['1 2', '1 2 3', '1 2 3 4']);
  });

  it('of ten, two fail only together: the later one goes back with the target merged in, the rest lands', async () => {
    await open({ words: { 3: 'ebb', 8: 'flood' } });
    await waiting(10);
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(Array(10).fill('done'));
    expect(landed().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(landed().at(-1)).toBe(8);
    const again = briefs.filter(({ feedback }) => feedback.length > 0);
    expect(again.map(({ task }) => task!.number)).toEqual([8]);
    expect(again[0]!.feedback[0]).toMatchObject({
      text: expect.stringContaining(
        'together with the newest main it fails test. main is now merged into your worktree',
      ),
    });
    // Fewer runs than one at a time: batches 2 to 6 and 7 to 10, the search in the second, then the rework.
    expect(gates.runs.length).toBeLessThanOrEqual(8);
  });

  it('whose worktree is behind get the target before their agent starts', async () => {
    await open({ words: { 1: 'ebb', 2: 'flood' } });
    await waiting(2);
    await bed.pass(5 * MINUTE);
    const [rework] = briefs.filter(({ feedback }) => feedback.length > 0);
    expect(rework!.task!.number).toBe(2);
    expect(landed()).toEqual([1, 2]);
    // The agent of the second one saw the file of the first: gates ran on both before it was handed in.
    expect(gates.runs).toContain('1 2');
  });

  it('a gate that fails and passes on the same tree is a flake: recorded, and nobody is sent back', async () => {
    await open();
    await waiting(5);
    gates.flakes = 1;
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(Array(5).fill('done'));
    expect(briefs.filter(({ feedback }) => feedback.length > 0)).toEqual([]);
    const attempts = (await bodies('evidence.recorded')).filter(({ evidence }) => evidence.gate === 'test');
    expect(attempts.some(({ evidence }) => evidence.attempt === 2 && evidence.status === 'pass')).toBe(true);
    expect(await bed.alerts()).toContain('warning flaky_gate test');
  });

  it('with a gate that fails one time in five, land only what has passed, and every flake is on record', async () => {
    await open();
    gates.rate = 0.2;
    for (let number = 1; number <= 20; number += 1) await bed.add(number);
    await bed.pass(60 * MINUTE);
    const all = await stages();
    // Two failures in a row are one time in 25: such a task is handed to a person.
    expect(all.filter((stage) => stage === 'done').length).toBeGreaterThanOrEqual(15);
    expect(new Set(all).isSubsetOf(new Set(['done', 'blocked', 'needs_info']))).toBe(true);
    const links = (await bodies('evidence.recorded')).map(({ evidence }) => evidence);
    const newest = new Map(links.map((link) => [`${link.tree} ${link.gate}`, link]));
    for (const { tree, proven = tree } of await bodies('merge.prepared'))
      expect(newest.get(`${proven} test`)?.status).toBe('pass');
    const flakes = links.filter(({ attempt, status }) => attempt === 2 && status === 'pass');
    expect(flakes.length).toBeGreaterThan(0);
    for (const flake of flakes)
      expect(
        links.some(
          ({ tree, status, position }) => tree === flake.tree && status === 'fail' && position < flake.position,
        ),
      ).toBe(true);
  });

  it('one that is cancelled while the batch is proven does not land, the others do', async () => {
    await open();
    await waiting(4);
    await bed.pass(5 * SECOND);
    await bed.must({ type: 'task.cancel', projectId: bed.projectId, taskId: 'task_3', by });
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'done', 'cancelled', 'done']);
    expect(landed()).toEqual([1, 2, 4]);
  });

  it('wait while the target itself is red, and nobody is sent back', async () => {
    await open();
    await waiting(3);
    bed.repository.commitByPerson('theirs', 'bug');
    await bed.pass(5 * MINUTE);
    expect(landed()).toEqual([]);
    expect(briefs.filter(({ feedback }) => feedback.length > 0)).toEqual([]);
    expect(await bed.alerts()).toContain('error baseline_red test');
    bed.repository.commitByPerson('theirs', 'mended');
    await bed.pass(20 * MINUTE);
    expect(await stages()).toEqual(Array(3).fill('done'));
  });
});

describe('a shared remote', { timeout: 60_000 }, () => {
  const shared = async (deps: Partial<EngineDeps> = {}) => {
    await open({ deps: { push: 'target', ...deps } });
    bed.repository.remote.tip = bed.repository.target;
  };
  const both = () => [bed.repository.remote.tip, bed.repository.target];

  it('gets each landing, and what others pushed meanwhile is taken in first and proven with it', async () => {
    await shared();
    await waiting(3);
    await bed.pass(5 * SECOND);
    // The gates run now: the push will be rejected.
    bed.repository.pushByPerson('theirs', 'one');
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(Array(3).fill('done'));
    const [remote, local] = both();
    expect(remote).toBe(local);
    expect(bed.repository.commits.get(local!)!.files.get('theirs')).toBe('one');
    expect(bed.repository.isAncestor(bed.repository.landed[0]!.id, remote!)).toBe(true);
  });

  it('that moves while commits here are not pushed costs no run of the gates beside those of the tasks', async () => {
    await shared();
    await waiting(3);
    bed.repository.commitByPerson('ours', 'one');
    bed.repository.pushByPerson('theirs', 'one');
    await bed.pass(25 * SECOND);
    expect(await stages()).toEqual(Array(3).fill('done'));
    const [remote, local] = both();
    expect(remote).toBe(local);
    // One proof of the batch, and one look at the target that others changed.
    expect(gates.runs.filter((files) => files !== '')).toEqual(['1 2 3']);
  });

  it('that is down holds nothing up; what landed is pushed later', async () => {
    await shared();
    bed.repository.remote.isDown = true;
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    expect(await stages()).toEqual(['done']);
    expect(both()[0]).not.toBe(both()[1]);
    expect(await bed.alerts()).toContain('error push_failed');
    bed.repository.remote.isDown = false;
    await bed.pass(25 * MINUTE);
    expect(both()[0]).toBe(both()[1]);
    expect(await bed.alerts()).not.toContain('error push_failed');
  });

  it('that moved while it was down is merged, not rewritten', async () => {
    await shared();
    bed.repository.remote.isDown = true;
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    const ours = bed.repository.target;
    bed.repository.pushByPerson('theirs', 'one');
    const theirs = bed.repository.remote.tip!;
    bed.repository.remote.isDown = false;
    await bed.pass(25 * MINUTE);
    const [remote, local] = both();
    expect(remote).toBe(local);
    expect([ours, theirs].every((commit) => bed.repository.isAncestor(commit, remote!))).toBe(true);
  });

  it('that was pushed by force stops merging until a person brings both together', async () => {
    await shared();
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    bed.repository.pushByPerson('theirs', 'forced', true);
    const forced = bed.repository.remote.tip;
    await bed.add(2);
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'merge']);
    expect(both()[0]).toBe(forced);
    expect(await bed.alerts()).toContain('error target_diverged');
    bed.repository.mergeByPerson();
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'done']);
    expect(await bed.alerts()).not.toContain('error target_diverged');
  });

  it('that refuses the push lands nothing, says what to do, and is asked once a minute', async () => {
    let pushes = 0;
    await shared();
    bed.repository.pushTarget = async () => {
      pushes += 1;
      return { kind: 'refused', name: 'origin/main', why: 'protected branch' };
    };
    await bed.add(1);
    await bed.add(2);
    await bed.pass(6 * MINUTE);
    expect(await stages()).toEqual(['merge', 'merge']);
    expect(await bed.alerts()).toContain('error push_refused');
    expect(pushes).toBeLessThanOrEqual(7);
    const alert = (await bed.store.records({ noun: 'alert', projectId: bed.projectId })).find(
      ({ kind }) => kind === 'push_refused',
    );
    expect(alert?.text).toContain('set `push: branch`');
  });
});
