import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { decide } from '../decide.ts';

const projectId = 'project_1';
const by = personActor('ada');
const at = (stage: string, pipeline = 'feature', reviewPlans = false) => {
  const mill = new Mill({ reviewPlans });
  const id = mill.add({ pipeline });
  mill.bring(id, stage);
  return { mill, id, of: { projectId, taskId: id, by } };
};

describe('cancelling a task', () => {
  test.each(['open', 'plan_review', 'implement', 'verify', 'review', 'merge'])('works from %s', (stage) => {
    const { mill, id, of } = at(stage, 'feature', true);
    mill.must({ type: 'task.cancel', ...of });
    expect(mill.task(id)).toMatchObject({ stage: 'cancelled', role: null, head: null, feedback: [], rework: false });
    expect(mill.must({ type: 'task.cancel', ...of })).toEqual([]);
  });

  test('ends the run and the lease of an agent at work', () => {
    const { mill, id, of } = at('implement');
    const { runId, fence } = mill.startRun(id);
    expect(typesOf(mill.must({ type: 'task.cancel', ...of }))).toEqual([
      'run.finished',
      'lease.released',
      'task.moved',
    ]);
    expect(mill.runs.get(runId)).toMatchObject({ outcome: 'interrupted', summary: 'cancelled by ada' });
    expect(mill.refusal({ type: 'lease.renew', ...fence })).toBe('stale_lease');
  });

  test('is refused for a task that is done, and for one that does not exist', () => {
    const { mill, of } = at('done');
    expect(mill.refusal({ type: 'task.cancel', ...of })).toBe('wrong_stage');
    expect(mill.refusal({ type: 'task.cancel', ...of, taskId: 'task_9' })).toBe('not_found');
  });

  test('a cancelled task is retried as an open one, without its old state', () => {
    const { mill, id, of } = at('implement');
    mill.end(id, 'needs_info', { envelope: { open_questions: ['which?'] } });
    mill.must({ type: 'task.cancel', ...of });
    expect(mill.task(id)).toMatchObject({ resumeStage: null, openQuestions: [], blocked: null, waiting: null });
    mill.must({ type: 'task.retry', ...of });
    expect(mill.task(id)).toMatchObject({ stage: 'open', role: 'builder', notBefore: 0, feedback: [] });
    mill.bring(id, 'done');
  });
});

describe('retrying a task', () => {
  test('continues where the task was blocked, with the note for the agent and in the log', () => {
    const { mill, id, of } = at('implement');
    mill.end(id, 'failed', { failure: 'unknown', message: 'broken' });
    mill.must({ type: 'task.retry', ...of, note: 'use the other library' });
    expect(mill.task(id)).toMatchObject({
      stage: 'implement',
      role: 'builder',
      blocked: null,
      resumeStage: null,
      rework: true,
      feedback: [{ kind: 'person', text: 'use the other library' }],
    });
    expect(mill.task(id).context.at(-1)).toMatchObject({ source: 'person', summary: 'use the other library' });
  });

  test('goes to another stage on request, but only to an existing one', () => {
    const { mill, id, of } = at('review');
    mill.must({ type: 'task.retry', ...of, stage: 'implement' });
    expect(mill.task(id).stage).toBe('implement');
    for (const stage of ['done', 'cancelled', 'blocked', 'nowhere', 'constructor'])
      expect(mill.refusal({ type: 'task.retry', ...of, stage })).toBe('bad_input');
  });

  test('in verify runs the gates again, whatever passed before', () => {
    const { mill, id, of } = at('review');
    mill.must({ type: 'task.retry', ...of, stage: 'verify' });
    expect(mill.task(id)).toMatchObject({ stage: 'verify', role: 'verifier' });
    mill.verify(id);
    const again = { type: 'task.retry', ...of, stage: 'verify' } as const;
    // Also when another command of the same transaction recorded the evidence.
    expect(decide(mill.loadAll(), again, mill.env())).toEqual(mill.execute(again));
    expect(mill.task(id).stage).toBe('verify');
  });

  test('is refused while somebody works on it, and when it is done', () => {
    const { mill, id, of } = at('implement');
    mill.take(id);
    expect(mill.refusal({ type: 'task.retry', ...of })).toBe('conflict');
    const done = at('done');
    expect(done.mill.refusal({ type: 'task.retry', ...done.of })).toBe('wrong_stage');
  });
});

describe('a question', () => {
  test.each([
    ['as asked', ['which?', 'where?'], '', ['which?', 'where?']],
    ['the same one once', ['which?', 'Which?', 'where?'], '', ['which?', 'where?']],
    ['without any, what the agent said', [], 'I am lost', ['I am lost']],
    ['without a word', [], '', ['The agent needs more information, but did not say which.']],
  ])('parks the task: %s', (_name, asked, summary, expected) => {
    const { mill, id } = at('implement');
    mill.end(id, 'needs_info', { envelope: { open_questions: asked, summary } });
    expect(mill.task(id)).toMatchObject({ stage: 'needs_info', resumeStage: 'implement' });
    expect(mill.task(id).openQuestions.map(({ text }) => text)).toEqual(expected);
    expect(mill.ready(projectId, 'builder')).toEqual([]);
  });

  test('lets the task continue where it was only after an answer', () => {
    const { mill, id, of } = at('implement');
    mill.end(id, 'needs_info', { envelope: { open_questions: ['which?', 'where?'] } });
    expect(mill.refusal({ type: 'task.retry', ...of })).toBe('bad_input');
    expect(mill.refusal({ type: 'task.approve', ...of })).toBe('wrong_stage');
    mill.must({ type: 'task.retry', ...of, note: 'the second' });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', openQuestions: [], resumeStage: null });
    expect(mill.task(id).context.at(-1)?.summary).toBe('Asked: which? / where?\nAnswer: the second');
  });

  test('of an agent during rework keeps its feedback', () => {
    const { mill, id, of } = at('review');
    mill.review(id, false, ['rename it']);
    mill.end(id, 'needs_info', { envelope: { open_questions: ['to what?'] } });
    mill.must({ type: 'task.retry', ...of, note: 'to tide' });
    expect(mill.task(id).feedback.map(({ kind }) => kind)).toEqual(['review', 'person']);
  });
});

describe('approving and rejecting', () => {
  test('decide about a plan', () => {
    const { mill, id, of } = at('plan_review', 'feature', true);
    mill.must({ type: 'task.reject', ...of, note: 'too big' });
    expect(mill.task(id)).toMatchObject({ stage: 'plan', feedback: [{ kind: 'person', text: 'too big' }] });
    mill.bring(id, 'plan_review');
    expect(mill.task(id).feedback).toEqual([]);
    mill.must({ type: 'task.approve', ...of, note: 'mind the tests' });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', feedback: [] });
    expect(mill.task(id).context.at(-1)).toMatchObject({ source: 'person', summary: 'mind the tests' });
  });

  test.each(['open', 'implement', 'review', 'merge', 'done'])('are refused in %s, where nothing is asked', (stage) => {
    const { mill, of } = at(stage);
    expect(mill.refusal({ type: 'task.approve', ...of })).toBe('wrong_stage');
    expect(mill.refusal({ type: 'task.reject', ...of, note: 'no' })).toBe('wrong_stage');
  });

  test('a task that is blocked for another reason is retried, not approved', () => {
    const { mill, id, of } = at('review');
    mill.end(id, 'failed', { failure: 'unknown' });
    expect(mill.refusal({ type: 'task.approve', ...of })).toBe('wrong_stage');
  });
});

describe('snapshots and alerts', () => {
  test('a snapshot needs its task, an alert does not', () => {
    const { mill, id } = at('implement');
    expect(mill.must({ type: 'snapshot.note', projectId, taskId: id, ref: 'refs/x', why: 'y' })).toHaveLength(1);
    expect(mill.refusal({ type: 'snapshot.note', projectId, taskId: 'task_9', ref: 'refs/x', why: 'y' })).toBe(
      'not_found',
    );
    const before = mill.task(id);
    for (const taskId of [id, null])
      expect(mill.must({ type: 'alert.raise', projectId, taskId, kind: 'push_failed', text: 'x' })).toHaveLength(1);
    expect(mill.task(id)).toBe(before);
  });

  test('the same alert is only counted for five minutes, and a clock that was set back silences none', () => {
    const { mill } = at('implement');
    const raise = () =>
      mill.must({ type: 'alert.raise', projectId, taskId: null, kind: 'disk_full', text: 'x' }).map(({ type }) => type);
    expect([raise(), raise()]).toEqual([['alert.raised'], ['alert.repeated']]);
    mill.now -= 24 * 3_600_000;
    expect([raise(), raise()]).toEqual([['alert.raised'], ['alert.repeated']]);
    mill.now += 5 * 60_000;
    expect(raise()).toEqual(['alert.raised']);
  });

  test('an alert about a stuck task repeats every half hour, and sooner when it became worse', () => {
    const { mill } = at('implement');
    const about = { type: 'alert.raise', projectId, taskId: null, kind: 'stuck', subject: '#1', text: 'x' } as const;
    const raise = (severity: 'warning' | 'critical') => mill.must({ ...about, severity }).map(({ type }) => type);
    expect(raise('warning')).toEqual(['alert.raised']);
    mill.now += 20 * 60_000;
    expect(raise('warning')).toEqual(['alert.repeated']);
    expect(raise('critical')).toEqual(['alert.raised']);
  });
});
