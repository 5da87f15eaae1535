import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.2, requests: 0 };

describe('a run', () => {
  test('is recorded from its start to its end', () => {
    const mill = new Mill();
    const id = mill.add();
    const { fence, runId } = mill.startRun(id);
    expect(mill.runs.get(runId)).toMatchObject({
      subjectId: id,
      workerId: 'agent-1',
      stage: 'plan',
      mode: 'plan',
      attempt: 1,
      status: 'running',
      startedAt: mill.now,
      endedAt: null,
      outcome: null,
    });
    const todo = [{ text: 'read', status: 'done' as const }];
    mill.must({ type: 'run.progress', ...fence, runId, percent: 100, text: '', todo, turns: { used: 1, limit: 9 } });
    // What a report leaves out has not changed.
    mill.must({ type: 'run.progress', ...fence, runId, percent: 40, text: 'reading', turns: { used: 2, limit: 9 } });
    mill.must({ type: 'run.send_back', ...fence, runId, gates: ['test'] });
    mill.must({ type: 'run.send_back', ...fence, runId, gates: ['test'] });
    mill.now += 1_000;
    const envelope = { outcome: 'plan_complete', summary: 'planned', plan: 'do it', subtasks: ['a', 'b'] } as const;
    mill.must({
      type: 'run.finish',
      ...fence,
      runId,
      outcome: 'plan_complete',
      usage,
      envelope: { ...envelope, subtasks: [...envelope.subtasks] },
    });
    expect(mill.runs.get(runId)).toMatchObject({
      status: 'finished',
      outcome: 'plan_complete',
      failure: null,
      summary: 'planned',
      endedAt: mill.now,
      usage,
      ...{
        validationRetries: 2,
        progress: { percent: 40, text: 'reading', turns: { used: 2, limit: 9 }, tools: null, todo },
      },
    });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', plan: 'do it', subtasks: ['a', 'b'], lease: null });
    expect(mill.task(id).context).toMatchObject([
      { runId, source: 'agent', entryType: 'plan_summary', summary: 'planned' },
    ]);
  });

  test.each([
    ['an empty plan', { plan: ' \n\t', summary: 'planned' }],
    ['neither a plan nor a summary', { summary: ' ' }],
  ])('with %s did not plan: nothing is built from it', (_, envelope) => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'plan_complete', { envelope });
    expect(mill.task(id)).toMatchObject({ stage: 'plan', plan: '', counters: { failures: { invalid_result: 1 } } });
  });

  test('is the only one of its task at a time, and only a running one can be written', () => {
    const mill = new Mill();
    const id = mill.add();
    const { fence, runId } = mill.startRun(id);
    expect(mill.refusal({ type: 'run.start', ...fence, runId: 'run_2', mode: 'plan', agent: 'a' })).toBe('conflict');
    expect(mill.refusal({ type: 'run.progress', ...fence, runId: 'run_2', percent: 1, text: '' })).toBe('conflict');
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope: null, usage });
    const again = { type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope: null, usage } as const;
    expect(mill.refusal(again)).toBe('stale_lease');
  });

  test('starts where an agent works, in a mode of its stage', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'merge');
    const start = { type: 'run.start', ...mill.take(id), runId: 'run_9', mode: 'implement', agent: 'a' } as const;
    expect(mill.refusal(start)).toBe('wrong_stage');
    const other = mill.add();
    mill.bring(other, 'review');
    expect(mill.refusal({ ...start, ...mill.take(other) })).toBe('wrong_stage');
  });

  test('attempts count by mode; feedback turns implement into request_changes and plan into plan_revision', () => {
    const mill = new Mill({ reviewPlans: true });
    const id = mill.add();
    mill.bring(id, 'plan_review');
    mill.must({ type: 'task.reject', projectId, taskId: id, by: personActor('ada'), note: 'smaller' });
    mill.end(id, 'plan_complete', { envelope: { plan: 'smaller plan' } });
    mill.bring(id, 'review');
    mill.review(id, false, ['rename it']);
    mill.build(id, 'second');
    mill.review(id, false, ['rename it, really']);
    mill.build(id, 'third');
    expect(mill.task(id).runs).toEqual({ plan: 1, plan_revision: 1, implement: 1, request_changes: 2, review: 2 });
    expect(mill.task(id).plan).toBe('smaller plan');
  });

  test('an answer to a question of the first attempt does not start a plan revision', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'needs_info', { envelope: { open_questions: ['which database?'] } });
    mill.must({ type: 'task.retry', projectId, taskId: id, by: personActor('ada'), note: 'sqlite' });
    mill.end(id, 'plan_complete', { envelope: { planSummary: 'use sqlite' } });
    expect(mill.task(id).runs).toEqual({ plan: 2 });
    expect(mill.task(id).plan).toBe('use sqlite');
  });

  test("a person's note before anything was built does not make the first attempt a rework", () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    mill.must({ type: 'task.retry', projectId, taskId: id, by: personActor('ada'), note: 'keep it small' });
    mill.build(id, 'T');
    expect(mill.task(id).runs).toEqual({ implement: 1 });
  });

  test('adds a capped summary for later runs, and none if it failed', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'failed', { failure: 'no_result', envelope: { summary: 'half' } });
    expect(mill.task(id).context).toEqual([]);
    mill.end(id, 'plan_complete', { envelope: { summary: 'x'.repeat(50_000) } });
    expect(mill.task(id).context[0]?.summary.length).toBeLessThanOrEqual(8_000);
  });

  test('an agent that reports its own run as interrupted has failed', () => {
    const mill = new Mill();
    const id = mill.add();
    for (let attempt = 1; attempt <= 3; attempt += 1) mill.end(id, 'interrupted');
    expect(mill.task(id)).toMatchObject({
      stage: 'blocked',
      blocked: { reason: 'agent_failed' },
      counters: { failures: { invalid_result: 3 }, interruptions: 0 },
    });
  });

  test("work.commit records the branch's commit once, and again when there are notes", () => {
    const mill = new Mill({ defaultPipeline: 'quick' });
    const id = mill.add();
    const { fence } = mill.startRun(id);
    const commit = { type: 'work.commit', ...fence, commit: 'c1', tree: 't1', notes: [] as string[] } as const;
    expect(mill.must(commit)).toHaveLength(1);
    expect(mill.must(commit)).toHaveLength(0);
    expect(mill.must({ ...commit, notes: ['the agent committed by itself'] })).toHaveLength(1);
    expect(mill.task(id).head).toEqual({ commit: 'c1', tree: 't1' });
  });
});
