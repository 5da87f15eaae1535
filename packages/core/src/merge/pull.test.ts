import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { forgeWaitsFor, judgeChecks } from './checks.ts';

const projectId = 'project_1';
const seen = { comment: 3, line: 0, review: 0 };
const feedback = [{ kind: 'person' as const, text: 'Shorter.', files: [] }];

const opened = () => {
  const mill = new Mill({ defaultPipeline: 'quick' });
  const id = mill.add();
  mill.bring(id, 'merge');
  const fence = mill.take(id);
  mill.must({ type: 'merge.note_pull', ...fence, number: 7, url: 'https://github.example/7' });
  return { mill, id, fence };
};

describe('a pull request', () => {
  test('is recorded once', () => {
    const { mill, id, fence } = opened();
    expect(mill.must({ type: 'merge.note_pull', ...fence, number: 7, url: 'https://github.example/7' })).toEqual([]);
    expect(mill.task(id).pull).toEqual({
      number: 7,
      url: 'https://github.example/7',
      seen: { comment: 0, line: 0, review: 0 },
    });
  });

  test('with comments sends the task to its builder, does not count as a failure, and stays the same', () => {
    const { mill, id, fence } = opened();
    const events = mill.must({ type: 'merge.record_comments', ...fence, seen, authors: ['ada'], feedback });
    expect(typesOf(events)).toEqual(['merge.commented', 'task.feedback_given', 'task.moved', 'lease.released']);
    expect(mill.task(id)).toMatchObject({
      stage: 'implement',
      feedback,
      pull: { number: 7, seen },
      counters: { failures: {} },
    });
  });

  test('asks a person once about the same thing, and remembers what they approved', () => {
    const { mill, id, fence } = opened();
    const ask = {
      type: 'merge.ask',
      about: 'closed:7',
      text: 'Open it again?',
      context: '',
      approves: 'It is.',
    } as const;
    mill.must({ ...ask, ...fence });
    const [open] = mill.task(id).openQuestions;
    expect(mill.task(id)).toMatchObject({ stage: 'needs_info', resumeStage: 'merge' });
    mill.must({
      type: 'question.answer',
      projectId,
      questionId: open!.id,
      taskId: id,
      text: 'Approve',
      source: 'user',
      by: personActor('ada'),
    });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', approvedPulls: ['closed:7'] });
    expect(mill.must({ ...ask, ...mill.take(id) })).toEqual([]);
  });

  test('that is merged while a question holds the task lets it land, and withdraws the question', () => {
    const { mill, id, fence } = opened();
    const head = mill.task(id).head!.commit;
    mill.must({ type: 'merge.ask', ...fence, about: 'closed:7', text: '', context: '', approves: '' });
    const merged = { type: 'merge.note_merged', projectId, taskId: id, number: 7, head } as const;
    expect(mill.must({ ...merged, number: 8 })).toEqual([]);
    expect(mill.must({ ...merged, head: 'older' })).toEqual([]);
    mill.must(merged);
    expect(mill.task(id)).toMatchObject({ stage: 'merge', openQuestions: [] });
    expect(mill.must(merged)).toEqual([]);
  });

  test('that is merged while a worker has the task changes nothing yet', () => {
    const { mill, id, fence } = opened();
    mill.must({ type: 'merge.record_comments', ...fence, seen, authors: ['ada'], feedback });
    mill.take(id);
    const { head } = mill.task(id);
    expect(
      mill.must({ type: 'merge.note_merged', projectId, taskId: id, number: 7, head: head?.commit ?? '' }),
    ).toEqual([]);
  });

  test('in the merge queue remembers its last removal until it is offered again', () => {
    const { mill, id, fence } = opened();
    const queue = { type: 'merge.queue', ...fence } as const;
    const offer = { type: 'merge.offer', ...fence, tree: mill.task(id).head!.tree, name: 'origin/task/1' } as const;
    expect(mill.refusal({ ...queue, after: '' })).toBe('wrong_stage');
    mill.must({ ...offer, commit: 'c' });
    expect(typesOf(mill.must({ ...queue, after: '' }))).toEqual(['merge.queued']);
    expect(mill.must({ ...queue, after: '' })).toEqual([]);
    expect(mill.task(id).offered).toMatchObject({ commit: 'c', queuedAfter: '' });
    expect(typesOf(mill.must({ ...queue, after: 'removal_1' }))).toEqual(['merge.queued']);
    expect(mill.must({ ...queue, after: 'removal_1' })).toEqual([]);
    expect(mill.task(id).offered).toMatchObject({ commit: 'c', queuedAfter: 'removal_1' });
    mill.must({ ...offer, commit: 'd' });
    expect(mill.task(id).offered).toMatchObject({ commit: 'd' });
    expect(mill.task(id).offered).not.toHaveProperty('queuedAfter');
    expect(typesOf(mill.must({ ...queue, after: 'removal_1' }))).toEqual(['merge.queued']);
    mill.must({ type: 'merge.record_comments', ...fence, seen, authors: ['ada'], feedback });
    expect(mill.task(id).offered).toBeNull();
  });

  test('is only recorded while the task is being merged', () => {
    const mill = new Mill();
    const { fence } = mill.startRun(mill.add());
    expect(mill.refusal({ type: 'merge.note_pull', ...fence, number: 7, url: 'x' })).toBe('wrong_stage');
    expect(mill.refusal({ type: 'merge.record_comments', ...fence, seen, authors: [], feedback })).toBe('wrong_stage');
  });
});

describe('the verdict of the checks', () => {
  const result = (name: string, state: 'pending' | 'passed' | 'failed') => ({ name, state });
  const cases: [string, string[], ReturnType<typeof result>[], string][] = [
    ['nothing required, nothing reported: no pass', [], [], 'none'],
    ['only our own results: no pass', [], [result('tidemill/test', 'passed')], 'none'],
    [
      'our own results, although GitHub requires them: no pass',
      ['tidemill/test'],
      [result('tidemill/test', 'passed')],
      'none',
    ],
    ['nothing required: all that are reported', [], [result('a', 'passed'), result('b', 'pending')], 'pending'],
    ['nothing required, one failed', [], [result('a', 'passed'), result('b', 'failed')], 'failed'],
    ['required and missing', ['ci'], [result('other', 'passed')], 'pending'],
    ['required and passed, another failed', ['ci'], [result('ci', 'passed'), result('other', 'failed')], 'passed'],
    ['required and failed', ['ci'], [result('ci', 'failed')], 'failed'],
  ];
  test.each(cases)('is right in the case: %s', (_name, required, results, kind) => {
    expect(judgeChecks({ required, results }, { checks: [] }).kind).toBe(kind);
  });

  test('waits for what only the project requires', () => {
    expect(judgeChecks({ required: ['ci'], results: [result('ci', 'passed')] }, { checks: ['e2e'] })).toEqual({
      kind: 'pending',
      names: ['e2e'],
      missing: ['e2e'],
    });
  });

  test.each([
    ['what GitHub requires', ['ci'], [], [result('ci', 'pending')], true],
    ['what only the project requires', ['ci'], ['e2e'], [result('ci', 'passed'), result('e2e', 'pending')], false],
    ['what nobody requires', [], [], [result('a', 'pending')], false],
    ['nothing at all', [], [], [], false],
  ] as const)('GitHub may be left to wait for %s: %s', (_name, required, checks, results, may) => {
    const verdict = judgeChecks({ required: [...required], results: [...results] }, { checks: [...checks] });
    expect(forgeWaitsFor(verdict, [...required])).toBe(may);
  });
});
