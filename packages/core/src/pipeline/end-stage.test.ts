import { FailureClass, type Feedback, Outcome, personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { type Ending, Mill, typesOf } from '../../../../test/support/mill.ts';
import { RETRY_POLICY } from './policy.ts';

/** Where each stage's own outcomes lead; all others must lead to a person. */
const WAYS: Record<string, Record<string, Partial<Record<Outcome, string>>>> = {
  feature: {
    plan: { plan_complete: 'implement' },
    implement: { pr_ready: 'verify' },
    verify: { approved: 'review', failed: 'implement' },
    review: { approved: 'merge', changes_requested: 'implement' },
    merge: { failed: 'implement', conflicts_detected: 'implement' },
  },
  bug: {
    investigate: { investigation_complete: 'implement' },
    implement: { pr_ready: 'verify' },
    verify: { approved: 'review', failed: 'implement' },
    review: { approved: 'merge', changes_requested: 'implement' },
    merge: { failed: 'implement', conflicts_detected: 'implement' },
  },
  quick: {
    implement: { pr_ready: 'verify' },
    verify: { approved: 'merge', failed: 'implement' },
    merge: { failed: 'implement', conflicts_detected: 'implement' },
  },
};

/** What happens to an outcome without a transition. */
const ELSE: Record<Outcome, string> = {
  plan_complete: 'no_transition',
  investigation_complete: 'no_transition',
  pr_ready: 'no_transition',
  approved: 'no_transition',
  changes_requested: 'no_transition',
  no_changes: 'no_changes',
  replied: 'no_transition',
  spec_ready: 'no_transition',
  critiqued: 'no_transition',
  judged: 'no_transition',
  analysed: 'no_transition',
  proposed: 'no_transition',
  reflected: 'no_transition',
  prevented: 'no_transition',
  no_lesson: 'no_transition',
  no_idea: 'no_transition',
  needs_info: 'needs_info',
  failed: 'agent_failed',
  conflicts_detected: 'conflict',
  interrupted: 'stays',
};

const isSystem = (stage: string) => stage === 'verify' || stage === 'merge';
const otherwise = (stage: string, outcome: Outcome) =>
  outcome === 'needs_info' && isSystem(stage) ? 'no_transition' : ELSE[outcome];

const table = Object.entries(WAYS).flatMap(([pipeline, stages]) =>
  Object.entries(stages).flatMap(([stage, ways]) =>
    Outcome.options
      .filter((outcome) => !(stage === 'merge' && outcome === 'approved'))
      .map((outcome) => [pipeline, stage, outcome, ways[outcome] ?? otherwise(stage, outcome)] as const),
  ),
);

describe('the end of a stage', () => {
  test.each(table)('in %s, %s with the outcome %s leads to %s', (pipeline, stage, outcome, expected) => {
    const mill = new Mill();
    const id = mill.add({ pipeline });
    mill.bring(id, stage);
    const review = { criteria: [{ id: 'C1', met: outcome === 'approved', evidence: 'test' }], comments: [] };
    const asks = outcome === 'needs_info' ? { open_questions: ['why?'] } : {};
    const events = mill.end(id, outcome, { message: 'told', envelope: { review, ...asks } });
    const task = mill.task(id);
    expect(task.lease).toBeNull();
    expect(events.at(-1)?.type).toBe('lease.released');
    expect(task.lastRunId === null || mill.runs.get(task.lastRunId)?.status === 'finished').toBe(true);
    if (expected === 'stays') expect(task.stage).toBe(stage);
    else if (expected in WAYS[pipeline]! || expected === 'needs_info') expect(task.stage).toBe(expected);
    else
      expect(task).toMatchObject({ stage: 'blocked', resumeStage: stage, role: null, blocked: { reason: expected } });
    expect(typesOf(events).includes('alert.raised')).toBe(expected === 'no_transition');
    if (expected === 'no_transition') expect(task.feedback).toEqual([]);
  });

  test('a plan goes to a person only if the project asks for it', () => {
    const mill = new Mill({ reviewPlans: true });
    const id = mill.add();
    mill.end(id, 'plan_complete');
    expect(mill.task(id)).toMatchObject({ stage: 'plan_review', role: null, lease: null });
  });

  test('a verify stage is skipped when every gate has passed for the same tree', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'implement');
    const moves = mill.build(id, 'T').filter((event) => event.type === 'task.moved');
    expect(moves.map(({ from, to }) => `${from} → ${to}`)).toEqual(['implement → verify', 'verify → review']);
  });

  test.each([
    ['the gates failed', 'fail', 'T', 'T'],
    ['a gate could not run', 'unverified', 'T', 'T'],
    ['another tree was proven', 'pass', 'U', 'T'],
    ['the branch holds another tree', 'pass', 'T', 'U'],
  ] as const)('a verify stage waits for the verifier when %s', (_name, status, proven, committed) => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'implement');
    const { fence, runId } = mill.startRun(id);
    mill.must({ type: 'work.commit', ...fence, commit: 'c', tree: committed, notes: [] });
    mill.prove(fence, proven, status);
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'pr_ready', envelope: null, usage, tree: 'T' });
    expect(mill.task(id)).toMatchObject({ stage: 'verify', role: 'verifier' });
  });

  test('an agent stage ends only with its run', () => {
    const mill = new Mill();
    const { fence } = mill.startRun(mill.add());
    expect(mill.refusal({ type: 'stage.finish', ...fence, outcome: 'approved' })).toBe('wrong_stage');
  });

  test('the reason an agent gives for changing nothing reaches the person', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.end(id, 'no_changes', { envelope: { summary: 'it is already there' } });
    expect(mill.task(id).blocked?.text).toMatch(/^Nothing was changed \(it is already there\)\./);
  });
});

describe('failures of an agent', () => {
  test.each(FailureClass.options.filter((failure) => Number.isFinite(RETRY_POLICY[failure].retries)))(
    '%s is retried as often as its policy says, then a person is asked',
    (failure) => {
      const mill = new Mill({ defaultPipeline: 'quick' });
      const id = mill.add();
      const { retries, backoffMs } = RETRY_POLICY[failure];
      for (let count = 1; count <= retries; count += 1) {
        mill.end(id, 'failed', { failure, message: 'broken', envelope: null });
        expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { failures: { [failure]: count } } });
        expect(mill.task(id).notBefore - mill.now).toBe(backoffMs * 4 ** (count - 1));
        mill.now = mill.task(id).notBefore;
      }
      mill.end(id, 'failed', { failure, message: 'broken', envelope: null });
      const reason = ['validation', 'unverified_gate', 'no_progress'].includes(failure) ? failure : 'agent_failed';
      expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason }, resumeStage: 'implement' });
      expect(mill.task(id).blocked?.text).toMatch(retries === 0 ? /Tried once/ : `Tried ${retries + 1} times`);
    },
  );

  test('a rate limit is waited out until its reset, however often it comes', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    for (let count = 1; count <= 20; count += 1) {
      const retryAt = mill.now + 3_600_000;
      mill.end(id, 'failed', { failure: 'rate_limit', message: 'slow down', envelope: null, retryAt });
      expect(mill.task(id)).toMatchObject({ stage: 'implement', blocked: null, notBefore: retryAt });
      mill.now = retryAt;
    }
  });

  test.each(['auth', 'credit'] as const)('%s waits for a person and counts nowhere', (failure) => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    for (let count = 1; count <= 5; count += 1) {
      mill.end(id, 'failed', { failure, message: 'No key', envelope: null });
      expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { failures: {} } });
      expect(mill.task(id).waiting).toBe('No key. Repair this, then retry.');
      mill.now = mill.task(id).notBefore;
    }
  });

  test('the same failure three times is no progress, even with successes in between', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    for (const took of ['12 ms', '9 ms', '100 ms']) {
      mill.bring(id, 'merge');
      mill.end(id, 'failed', { failure: 'validation', message: `Red after ${took}.` });
    }
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_progress' } });
    mill.must({ type: 'task.retry', projectId: mill.projectId, taskId: id, by: personActor('ada') });
    expect(mill.task(id).counters.fingerprints).toEqual({});
  });

  test('a success resets the count, and so does a person', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'failed', { failure: 'no_result', envelope: null });
    mill.end(id, 'plan_complete');
    expect(mill.task(id).counters.failures).toEqual({});
    mill.end(id, 'failed', { failure: 'unknown', envelope: null });
    mill.must({ type: 'task.retry', projectId: mill.projectId, taskId: id, by: personActor('ada') });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { failures: {} }, blocked: null });
  });

  test('newer gate output replaces older; what a person said stays until it is dealt with', () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    const red = (text: string) => ({
      failure: 'validation' as const,
      feedback: [{ kind: 'gate' as const, text, files: [] }],
    });
    mill.end(id, 'failed', red('first'));
    mill.must({
      type: 'task.retry',
      projectId: mill.projectId,
      taskId: id,
      by: personActor('ada'),
      note: 'look at line 3',
    });
    mill.end(id, 'failed', red('second'));
    expect(mill.task(id).feedback.map(({ text }) => text)).toEqual(['look at line 3', 'second']);
    mill.must({ type: 'task.retry', projectId: mill.projectId, taskId: id, by: personActor('ada') });
    mill.end(id, 'no_changes');
    expect(mill.task(id).feedback).toHaveLength(2);
    mill.must({ type: 'task.retry', projectId: mill.projectId, taskId: id, by: personActor('ada') });
    mill.build(id, 'T');
    expect(mill.task(id)).toMatchObject({ feedback: [], rework: false });
  });
});

describe('a return from a system stage', () => {
  const feedback: Feedback[] = [{ kind: 'gate', text: 'red', files: [] }];
  const gateFailed: Ending = { failure: 'validation', message: 'The gates fail.', feedback };

  test.each(['verify', 'merge'])('from %s goes to the builder three times, then to a person', (stage) => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    for (let count = 1; count <= 3; count += 1) {
      mill.bring(id, stage);
      const feedback: Feedback[] = [{ kind: 'gate', text: 'red'.repeat(count), files: [] }];
      mill.end(id, 'failed', { ...gateFailed, feedback });
      expect(mill.task(id)).toMatchObject({ stage: 'implement', rework: true, feedback });
      expect(mill.task(id).counters.failures).toEqual({ [stage]: count });
    }
    mill.bring(id, stage);
    mill.end(id, 'failed', gateFailed);
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason: 'validation' }, resumeStage: stage });
    expect(mill.task(id).blocked?.text).toMatch(/It came back 4 times/);
  });

  test('does not happen for a gate that cannot run: a person decides at once', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'verify');
    mill.end(id, 'failed', { failure: 'unverified_gate', message: 'Gate test could not run.' });
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason: 'unverified_gate' }, feedback: [] });
    expect(mill.task(id).blocked?.text).toBe('Gate test could not run. A person must decide how to continue.');
  });

  const conflictIn = (mill: Mill, id: string, ...files: string[]) => conflictFound(mill, id, files);
  const conflictFound = (mill: Mill, id: string, files: string[], conflict?: Ending['conflict']) => {
    mill.bring(id, 'merge');
    mill.end(id, 'conflicts_detected', {
      message: 'It conflicts.',
      feedback: [{ kind: 'conflict', text: 'x', files }],
      conflict,
    });
    return mill.task(id);
  };

  test.each<[string, string[], string]>([
    ['one file', ['a'], 'implement'],
    ['four files', ['a', 'b', 'c', 'd'], 'implement'],
    ['five files', ['a', 'b', 'c', 'd', 'e'], 'blocked'],
    ['a critical file', ['package.json'], 'blocked'],
    ['a file below a critical folder', ['migrations/001.sql'], 'blocked'],
  ])('with a conflict in %s goes to the builder or to a person', (_name, files, stage) => {
    const mill = new Mill();
    const task = conflictIn(mill, mill.add(), ...files);
    expect(task.stage).toBe(stage);
    if (stage === 'blocked') expect(task).toMatchObject({ blocked: { reason: 'conflict' }, resumeStage: 'merge' });
    if (stage === 'blocked') expect(task.blocked?.text).toContain(`${files.join(', ')};`);
    else expect(task.feedback).toEqual([{ kind: 'conflict', text: 'x', files }]);
  });

  test('for the fourth conflict of a task goes to a person', () => {
    const mill = new Mill();
    const id = mill.add();
    for (const _time of [1, 2, 3]) expect(conflictIn(mill, id, 'a').stage).toBe('implement');
    expect(conflictIn(mill, id, 'a')).toMatchObject({ stage: 'blocked', blocked: { reason: 'conflict' } });
  });

  test('for a conflict whose predecessor was resolved and proven is no failure, however often it is overtaken', () => {
    const mill = new Mill();
    const id = mill.add();
    for (const number of [0, 5, 8, 2, 9, 4]) {
      const overtaken = { base: `target ${number}`, isResolved: number > 0, overtakenBy: number > 0 ? [number] : [] };
      expect(conflictFound(mill, id, ['a'], overtaken).stage).toBe('implement');
    }
    const { counters, conflicts } = mill.task(id);
    expect(counters.failures.conflict).toBe(1);
    expect(conflicts).toMatchObject({ base: 'target 4', resolved: 5, overtakenBy: [5, 8, 2, 9, 4] });
  });

  test('for conflicts that stay unresolved goes to a person, who reads who overtook it, and is tried again when idle', () => {
    const mill = new Mill();
    const id = mill.add();
    const found = (isResolved: boolean, overtakenBy: number[]) => ({ base: 'x', isResolved, overtakenBy });
    conflictFound(mill, id, ['a'], found(false, []));
    for (const number of [5, 8, 2]) conflictFound(mill, id, ['a'], found(true, [number]));
    for (const _time of [2, 3, 4]) conflictFound(mill, id, ['a'], found(false, []));
    expect(mill.task(id)).toMatchObject({ stage: 'blocked', blocked: { reason: 'conflict' } });
    expect(mill.task(id).blocked?.text).toContain('Resolved 3 times, overtaken by #5, #8, #2.');
    const retry = { type: 'conflict.retry', projectId: 'project_1', taskId: id } as const;
    for (const _try of [1, 2]) {
      mill.must(retry);
      expect(mill.task(id)).toMatchObject({ stage: 'implement', feedback: [{ kind: 'conflict' }] });
      expect(conflictFound(mill, id, ['a'], found(false, [])).stage).toBe('blocked');
    }
    expect(mill.refusal(retry)).toBe('wrong_stage');
    const inCritical = mill.add();
    conflictFound(mill, inCritical, ['package.json'], found(false, []));
    expect(mill.refusal({ ...retry, taskId: inCritical })).toBe('wrong_stage');
  });
});
