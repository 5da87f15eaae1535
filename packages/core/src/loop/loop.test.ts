import {
  type Category,
  categoryId,
  engineActor,
  type Loop,
  LoopConfig,
  loopId,
  type Proposal,
  personActor,
} from '@tidemill/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { isFilling } from './balance.ts';
import { type LoopFigures, pauseReason } from './pause-reason.ts';
import { diagnoseStall, isStalled, type StallSight } from './stall.ts';

const projectId = 'project_1';
const ada = personActor('ada');
const by = engineActor('loop');
const draft = {
  title: 'Cache templates',
  description: 'Slow today.',
  criteria: ['a second request compiles nothing', 'a changed file is compiled again', 'at most 100 are kept'],
  approach: '',
  effortHours: 2,
  files: [],
  newFiles: [],
  dependencies: [],
};
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0.1, requests: 1 };
const id = categoryId(projectId, 'testing');

let mill: Mill;
beforeEach(() => {
  mill = new Mill({ loop: LoopConfig.parse({ enabled: true }) });
});
const category = () => mill.records.get(id) as Category;
const proposals = () => [...mill.records.values()].filter((each): each is Proposal => each.noun === 'proposal');
const loop = () => mill.records.get(loopId(projectId)) as Loop | undefined;

/** A job that ends with this result of its agent. */
function propose(outcome: 'proposed' | 'no_idea'): Proposal | undefined {
  mill.must({ type: 'loop.propose', projectId, category: 'testing', by });
  mill.must({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' });
  const job = [...mill.records.values()].find((each) => each.noun === 'job' && each.status === 'open');
  if (job?.noun !== 'job') throw new Error('there is no job');
  const fence = { projectId, subjectId: job.subjectId, jobId: job.id, token: job.lease!.token };
  const runId = `run_${mill.runs.size + 1}`;
  mill.must({ type: 'run.start', ...fence, runId, mode: 'propose', agent: 'x' });
  const envelope = { outcome, summary: 'said', ...(outcome === 'proposed' ? { proposal: draft } : {}) };
  mill.must({ type: 'run.finish', ...fence, runId, outcome, envelope, usage });
  return proposals().at(-1);
}
const about = ({ id: proposalId, categoryId: ofCategory }: Proposal) => ({
  projectId,
  proposalId,
  categoryId: ofCategory,
});
const check = (proposal: Proposal, verdict: 'waiting' | 'duplicate' | 'invalid' = 'waiting') =>
  mill.must({ type: 'proposal.check', ...about(proposal), verdict, why: verdict, related: [] });

describe('the loop', () => {
  it('is switched by a person over the settings, pauses itself, and goes on when it is switched on', () => {
    mill.must({ type: 'loop.switch', projectId, on: false, by: ada });
    expect(mill.refusal({ type: 'loop.propose', projectId, category: 'testing', by })).toBe('conflict');
    mill.must({ type: 'loop.switch', projectId, on: true, by: ada });
    mill.must({ type: 'loop.pause', projectId, trigger: 'budget', why: 'too dear' });
    expect(mill.must({ type: 'loop.pause', projectId, trigger: 'budget', why: 'again' })).toEqual([]);
    expect(loop()).toMatchObject({ paused: { trigger: 'budget', why: 'too dear' } });
    expect(mill.refusal({ type: 'loop.propose', projectId, category: 'testing', by })).toBe('conflict');
    mill.must({ type: 'loop.switch', projectId, on: true, by: ada });
    expect(loop()?.paused).toBeNull();
  });

  it('asks for one proposal after the other, and records the use of the category at once', () => {
    mill.must({ type: 'loop.propose', projectId, category: 'testing', by });
    expect(category()).toMatchObject({ lastUsedAt: mill.now, uses: 1 });
    expect(mill.refusal({ type: 'loop.propose', projectId, category: 'security', by })).toBe('conflict');
  });

  it('lets a category rest for seven days after NO_IDEA', () => {
    propose('no_idea');
    expect(category()).toMatchObject({ restsUntil: mill.now + 7 * 24 * 3_600_000, why: 'said', proposed: 0 });
    expect(proposals()).toEqual([]);
  });

  it('counts what was proposed, approved, landed and reverted, and the scores', () => {
    const proposal = propose('proposed')!;
    expect(proposal).toMatchObject({ status: 'checking', number: 0, category: 'testing', draft });
    check(proposal);
    expect(mill.refusal({ type: 'proposal.check', ...about(proposal), verdict: 'waiting', why: '', related: [] })).toBe(
      'conflict',
    );
    const taskId = mill.add({ origin: { kind: 'loop', id: proposal.id, category: 'testing' } });
    mill.must({ type: 'proposal.accept', ...about(proposal), taskId, by: ada });
    mill.must({ type: 'proposal.score', ...about(proposal), score: 3, by: ada });
    mill.must({ type: 'proposal.score', ...about(proposal), score: 8, by: ada });
    mill.must({ type: 'proposal.end', ...about(proposal), outcome: 'landed' });
    expect(mill.must({ type: 'proposal.end', ...about(proposal), outcome: 'landed' })).toEqual([]);
    mill.must({ type: 'proposal.end', ...about(proposal), outcome: 'reverted' });
    expect(proposals()[0]).toMatchObject({ number: 1, status: 'accepted', taskId, score: 8, outcome: 'reverted' });
    expect(category()).toMatchObject({
      proposed: 1,
      approved: 1,
      landed: 1,
      reverted: 1,
      scores: { sum: 8, count: 1 },
    });
  });

  it('refuses a second decision, and a task that is not its own', () => {
    const proposal = propose('proposed')!;
    const tooSoon = mill.execute({ type: 'proposal.refuse', ...about(proposal), why: 'no', by: ada });
    const stillChecked = { code: 'conflict', message: 'that proposal is still being checked' };
    expect(tooSoon).toMatchObject({ ok: false, refusal: stillChecked });
    check(proposal);
    const accept = { type: 'proposal.accept', ...about(proposal), taskId: mill.add(), by: ada } as const;
    expect(mill.refusal(accept)).toBe('not_found');
    mill.must({ type: 'proposal.refuse', ...about(proposal), why: 'no', by: ada });
    const tooLate = mill.execute({ type: 'proposal.refuse', ...about(proposal), why: 'no', by: ada });
    expect(tooLate).toMatchObject({
      ok: false,
      refusal: { code: 'conflict', message: 'proposal 1 is already refused' },
    });
    expect(mill.refusal({ ...accept, proposalId: 'proposal_9' })).toBe('not_found');
    expect(category()).toMatchObject({ refused: 1, approved: 0 });
  });

  it('lets a category rest for a day after a duplicate', () => {
    check(propose('proposed')!, 'duplicate');
    expect(category()).toMatchObject({ duplicates: 1, restsUntil: mill.now + 24 * 3_600_000 });
  });

  it('lets only as many of its tasks be built at once as its exposure allows', () => {
    const origin = { kind: 'loop', id: 'proposal_1', category: 'testing' } as const;
    mill.add({ origin });
    mill.add({ origin });
    mill.claim('agent-1');
    expect(mill.offered('agent-2')).toBe('nothing_ready');
    mill.add();
    expect(mill.offered('agent-2')).toBe(3);
  });
});

describe('the balance of the loop’s queue', () => {
  const limits = { min: 3, max: 10 };
  it('proposes below the minimum and never above the maximum', () => {
    for (const depth of [0, 1, 2])
      for (const approval of ['requires_approval', 'automated'] as const)
        expect(isFilling(depth, false, limits, approval)).toBe(true);
    expect(isFilling(11, true, limits, 'automated')).toBe(false);
    expect(isFilling(3, true, limits, 'requires_approval')).toBe(false);
  });
  it('begins before the queue is too short, and goes on to the middle where nobody approves', () => {
    expect([3, 4, 6, 7].map((depth) => isFilling(depth, true, limits, 'automated'))).toEqual([true, true, true, false]);
    expect([3, 4, 6, 7].map((depth) => isFilling(depth, false, limits, 'automated'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('the loop pauses itself', () => {
  const fine: LoopFigures = {
    spentDayUsd: 8,
    budgetUsd: 10,
    runsDay: 20,
    failedDay: 10,
    spentMonthUsd: 100,
    landedMonth: 20,
    finishedMonth: 20,
    lostMonth: 2,
  };
  const { pauseAt } = LoopConfig.parse({});
  it.each<[string, Partial<LoopFigures>, string | null]>([
    ['not while all is well', {}, null],
    ['after a budget overrun', { spentDayUsd: 20.01 }, 'budget'],
    ['not without a limit', { spentDayUsd: 1000, budgetUsd: null, spentMonthUsd: 0 }, null],
    ['when more than half of the runs fail', { failedDay: 11 }, 'crash_rate'],
    ['not after a few failures', { runsDay: 9, failedDay: 9 }, null],
    ['when a landed task costs more than 5 dollars', { spentMonthUsd: 101 }, 'cost_per_task'],
    ['when much was spent and nothing landed', { spentMonthUsd: 16, landedMonth: 0 }, 'cost_per_task'],
    ['when more than a tenth is reverted or given up', { lostMonth: 3 }, 'regression'],
    ['not when few have finished', { finishedMonth: 9, lostMonth: 5 }, null],
  ])('%s', (_name, change, trigger) => {
    const reason = pauseReason({ ...fine, ...change }, { pauseAt });
    expect(reason?.trigger ?? null).toBe(trigger);
    if (reason) expect(reason.why).toMatch(/\d/);
  });
});

describe('a stall of the loop', () => {
  const HOUR = 3_600_000;
  const nothing: StallSight = {
    waitingProposals: 0,
    uncheckedProposals: 0,
    job: 'none',
    tasks: [],
    workers: [{ name: 'agent-1', isRunning: true }],
    isOverBudget: false,
    heldUntil: null,
    restingModes: [],
  };
  const task = { number: 7, stage: 'review', worker: null, waitsFor: '' };
  it('is an hour without progress while something waits, or four hours while an agent works', () => {
    expect(isStalled(9 * HOUR, 9 * HOUR, nothing)).toBe(false);
    expect(isStalled(HOUR, HOUR, { ...nothing, waitingProposals: 1 })).toBe(true);
    expect(isStalled(HOUR - 1, HOUR - 1, { ...nothing, tasks: [task] })).toBe(false);
    expect(isStalled(2 * HOUR, 0, { ...nothing, tasks: [{ ...task, worker: 'agent-1' }] })).toBe(false);
    expect(isStalled(4 * HOUR, 0, { ...nothing, job: 'runs' })).toBe(true);
  });
  it('says what waits for what', () => {
    const said = diagnoseStall({
      waitingProposals: 2,
      uncheckedProposals: 1,
      job: 'waits',
      tasks: [task, { ...task, number: 8, waitsFor: 'it waits for an answer: Which one?' }],
      workers: [{ name: 'agent-1', isRunning: false }],
      isOverBudget: true,
      heldUntil: 0,
      restingModes: ['propose'],
    }).join('\n');
    for (const part of [
      'The budget is spent',
      'budget of a day is spent until 1970-01-01T00:00:00.000Z',
      'backoff',
      'agent-1 must be resumed',
      '2 proposals wait for a yes',
      '1 proposal could not be checked',
      'waits for a free worker',
      '#7 is in review: it waits for a worker',
      '#8 is in review: it waits for an answer: Which one?',
    ])
      expect(said).toContain(part);
    expect(diagnoseStall(nothing)).toHaveLength(1);
  });
});
