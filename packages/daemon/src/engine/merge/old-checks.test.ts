import { isBuilding, type Question } from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { SimGates } from '../../../../../test/sim/actors.ts';
import { Random } from '../../../../../test/sim/random.ts';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { by, MINUTE } from '../../../../../test/support/merge-bed.ts';
import type { Agent, GateReport, GateRequest } from '../../ports.ts';

// `shared` and `limits` decide what the gate `test` checks. While `shared` says `ebb`, no file may say `flood`, unless
// another one says `slack`.

const GONE = '';

/** Gates that take no time. */
class JudgingGates extends SimGates {
  override readonly checks = [{ name: 'test', run: 'test', proves: ['shared', 'limits'], timeout: 2 * MINUTE }];
  /** How often they ran on work of tasks with main's version of `shared`. */
  oldRuns = 0;
  /** How long they say nothing then. */
  silentMs = 0;
  /** How many of these runs fail anyway. */
  oldFlakes = 0;
  /** How many tests ran, and how many on the target. */
  counts: { passed: number; onTarget: number } | null = null;
  readonly #bed: EngineBed;

  constructor(of: EngineBed) {
    super(of.repository, { now: () => of.clock.now(), sleep: async () => undefined }, new Random(1), new Set());
    this.#bed = of;
  }
  override async run(request: GateRequest): Promise<GateReport[]> {
    const files = this.#bed.repository.shown(request.path);
    const isOld = files.get('shared') === 'ebb' && files.has('file-1');
    if (isOld) this.oldRuns += 1;
    if (isOld) await this.#bed.clock.sleep(this.silentMs, request.signal);
    const isFlake = isOld && this.oldFlakes > 0;
    if (isFlake) this.oldFlakes -= 1;
    const reports = await super.run(request);
    return reports.map(({ receipt, ...rest }) => {
      const count = (passed: number) => ({ passed, failed: 0, skipped: 0 });
      const { passed = 0, onTarget = 0 } = this.counts ?? {};
      const counted = this.counts ? { counts: count(passed), fewerThan: count(onTarget) } : {};
      const status = isFlake && receipt.gate === 'test' ? ('fail' as const) : receipt.status;
      return { ...rest, receipt: { ...receipt, status, ...(receipt.gate === 'test' ? counted : {}) } };
    });
  }
}

let bed: EngineBed;
let gates: JudgingGates;
afterEach(() => bed.close());

/** `writes`: what the agent of each task writes. */
async function open(pipeline: 'quick' | 'feature', writes: Record<number, Record<string, string>>): Promise<void> {
  const writing = (agent: Agent): Agent => ({
    ...agent,
    start(request, hooks) {
      const { brief, cwd } = request;
      const session = agent.start(request, hooks);
      if (isBuilding(brief.mode))
        for (const [path, text] of Object.entries(writes[brief.task!.number]!))
          if (text === GONE) bed.repository.work(cwd)?.delete(path);
          else bed.repository.work(cwd)?.set(path, text);
      return session;
    },
  });
  bed = await EngineBed.open({ defaultPipeline: pipeline }, (of) => {
    gates = new JudgingGates(of);
    return { workers: 10, gates, agentFor: () => writing(quickAgent(() => of.repository)) };
  });
  for (const [path, text] of Object.entries({ shared: 'ebb', limits: 'one', weak: 'slack' }))
    bed.repository.commitByPerson(path, text);
  await bed.start();
}
async function steer(desired: 'running' | 'paused'): Promise<void> {
  const merger = (await bed.store.workers(bed.projectId)).find(({ role }) => role === 'merger')!;
  await bed.must({ type: 'worker.steer', projectId: bed.projectId, workerId: merger.id, desired, by });
}
const add = (number: number) => bed.add(number, { accept: ['it works'] });
const judged = async () =>
  (await bed.log('work.judged')).map(({ body }) => (body.type === 'work.judged' ? body.oldChecks.result : ''));
const stages = async () => (await bed.store.tasks({ projectId: bed.projectId })).map(({ stage }) => stage);
const questions = async () => (await bed.store.records({ noun: 'question', isOpen: true })) as Question[];
const landed = () => bed.repository.landed.map(({ message }) => Number(/Task: #(\d+)/.exec(message)?.[1]));
async function approve(question: Question): Promise<void> {
  const { id: questionId, taskId } = question;
  const reply = { questionId, taskId: taskId!, by, source: 'user', text: 'Approve' } as const;
  await bed.must({ type: 'question.answer', projectId: bed.projectId, ...reply });
  await bed.pass(5 * MINUTE);
}

describe('work that changes what a gate checks', () => {
  it('and fails with the target’s version waits for a person, who is told so, and lands once it is approved', async () => {
    await open('quick', { 1: { shared: 'calm', weak: 'dull', 'file-1': 'flood' } });
    gates.counts = { passed: 3, onTarget: 5 };
    await add(1);
    await bed.pass(5 * MINUTE);
    expect(await judged()).toEqual(['failed']);
    const [question] = await questions();
    expect(question?.context).toContain("main's own versions of these files fail on the new code");
    expect(question?.context).toContain('- gate test: ran 3 tests, and 5 on the target');
    expect(landed()).toEqual([]);
    // Twice, as for other work: a flake is no verdict.
    expect(gates.oldRuns).toBe(2);
    await approve(question!);
    expect(await stages()).toEqual(['done']);
    expect(gates.oldRuns).toBe(2);
  });

  it('is judged before its review, so that the reviewer is told, and lands when the reviewer approves', async () => {
    await open('feature', { 1: { shared: 'calm', weak: 'dull', 'file-1': 'flood' } });
    await add(1);
    await bed.pass(10 * MINUTE);
    const order = (await bed.log('work.judged', 'run.started')).map(({ body }) =>
      body.type === 'run.started' ? body.mode : body.type,
    );
    expect(order.slice(order.indexOf('work.judged'))).toEqual(['work.judged', 'review']);
    expect(await judged()).toEqual(['failed']);
    expect(landed()).toEqual([1]);
    expect(await questions()).toEqual([]);
  });

  it('and fails with the target’s version once, but passes at the second try, has passed', async () => {
    await open('feature', { 1: { shared: 'calm', 'file-1': 'fine' } });
    gates.oldFlakes = 1;
    await add(1);
    await bed.pass(10 * MINUTE);
    expect(await judged()).toEqual(['passed']);
    expect(gates.oldRuns).toBe(2);
  });

  it('is not judged by a version that fails on the target itself: the person is told that it says nothing', async () => {
    await open('quick', { 1: { shared: 'calm', 'file-1': 'fine' } });
    bed.repository.commitByPerson('shared', 'bug');
    await add(1);
    await bed.pass(5 * MINUTE);
    const [question] = await questions();
    expect(question?.context).toContain('test also fails on the target itself, without the change.');
    // Before the landing, and when it was about to land.
    expect(new Set(await judged())).toEqual(new Set(['not_run']));
  });

  it('and nothing else has no new code to judge', async () => {
    await open('quick', { 1: { shared: 'calm', 'file-1': GONE } });
    await add(1);
    await bed.pass(5 * MINUTE);
    expect(await judged()).toEqual(['same']);
    expect(gates.oldRuns).toBe(0);
  });

  it('is not taken for stuck while the target’s version says nothing for 12 minutes', async () => {
    await open('feature', { 1: { shared: 'calm', 'file-1': 'fine' } });
    gates.silentMs = 12 * MINUTE;
    await add(1);
    await bed.pass(30 * MINUTE);
    expect(await bed.decided()).toEqual([]);
    expect(landed()).toEqual([1]);
  });

  const landsAfterFlood = async (limits: string) => {
    await open('feature', {
      1: { 'file-1': 'flood' },
      2: { 'file-2': 'fine', limits },
      3: { 'file-3': 'fine', shared: 'calm', weak: 'dull' },
    });
    await steer('paused');
    for (const number of [1, 2, 3]) await add(number);
    await bed.pass(10 * MINUTE);
    expect(await judged()).toEqual(['passed', 'passed']);
    await steer('running');
    await bed.pass(10 * MINUTE);
  };

  it('and fails with the target’s version only beside newer work waits alone: others of its batch land', async () => {
    await landsAfterFlood('two');
    expect(landed()).toEqual([1, 2]);
    expect(await stages()).toEqual(['done', 'done', 'needs_info']);
    const [question] = await questions();
    expect(question).toMatchObject({
      taskId: 'task_3',
      text: expect.stringMatching(/\(shared\).*found after its review/),
    });
    await approve(question!);
    expect(landed()).toEqual([1, 2, 3]);
  });

  it('and fails with the target’s versions only together with other such work waits with it', async () => {
    await landsAfterFlood('slack');
    expect(landed()).toEqual([1]);
    expect(await stages()).toEqual(['done', 'needs_info', 'needs_info']);
    // Nothing was tried with a lease that had ended.
    expect(bed.notes).toEqual([]);
  });
});

describe('work whose proof on a newer target ran fewer tests', () => {
  it('waits for a person, although its first proof ran all of them', async () => {
    await open('quick', { 1: { 'file-1': 'fine' } });
    await steer('paused');
    await add(1);
    await bed.pass(5 * MINUTE);
    gates.counts = { passed: 3, onTarget: 5 };
    bed.repository.commitByPerson('theirs', 'new');
    await steer('running');
    await bed.pass(5 * MINUTE);
    expect(landed()).toEqual([]);
    const [question] = await questions();
    expect(question?.context).toContain('- gate test: ran 3 tests, and 5 on the target');
    await approve(question!);
    expect(landed()).toEqual([1]);
    // Nothing that decides was changed, so there is nothing to judge.
    expect(await judged()).toEqual([]);
  });
});
