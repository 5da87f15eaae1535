import { AUTONOMY_PRESETS, personActor, type Question } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { replay } from '../../../../test/support/command-world.ts';
import { defaultRules, Mill } from '../../../../test/support/mill.ts';
import { judgedBy } from '../pipeline/judged-by.ts';
import { DERIVE, USE_THESE } from './criteria.ts';

const projectId = 'project_1';
const by = personActor('ada');
const openOf = (mill: Mill, taskId: string) =>
  [...mill.records.values()].filter(
    (each): each is Question => each.noun === 'question' && each.status === 'open' && each.taskId === taskId,
  );
const answer = (mill: Mill, { id: questionId, taskId }: Question, text: string) =>
  mill.must({ type: 'question.answer', projectId, taskId, questionId, by, source: 'user', text });
const proposed = { envelope: { plan: 'the plan', criteria: ['It says bye', ' ', 'Its test passes'] } };

/** A task of a person who confirms everything, whose plan is complete and approved. */
function planned(ending = proposed, fields: Parameters<Mill['add']>[0] = {}) {
  const mill = new Mill();
  const id = mill.add({ title: 'Say bye', accept: [], hilConfig: AUTONOMY_PRESETS.confirm_all, ...fields });
  mill.end(id, fields.pipeline === 'bug' ? 'investigation_complete' : 'plan_complete', ending);
  return { mill, id };
}

describe('the way a task is judged', () => {
  const task = { title: 'Say bye', body: '', pipeline: 'feature', criteria: [], hilConfig: null };
  test.each([
    ['a short title alone', task, 'derived'],
    ['a short title of a bug', { ...task, pipeline: 'bug' }, 'derived'],
    ['a body', { ...task, body: 'After the greeting.' }, 'derived'],
    ['criteria', { ...task, criteria: ['it says bye'] }, 'criteria'],
    ['no review', { ...task, pipeline: 'quick' }, 'gates'],
    ['an unknown pipeline', { ...task, pipeline: 'gone' }, 'gates'],
    ['a person who confirms everything', { ...task, body: 'Much.', hilConfig: AUTONOMY_PRESETS.confirm_all }, 'asked'],
    ['a person who confirms some', { ...task, body: 'Much.', hilConfig: AUTONOMY_PRESETS.major_only }, 'derived'],
  ])('depends on what the task has: %s', (_, judged, expected) =>
    expect(judgedBy(defaultRules, judged)).toBe(expected),
  );

  test('without a plan nobody can propose criteria, so the reviewer derives them', () => {
    const { plan, plan_review, ...stages } = defaultRules.pipelines.feature!.stages;
    const pipelines = { own: { ...defaultRules.pipelines.feature!, name: 'own', start: 'implement', stages } };
    expect(judgedBy({ ...defaultRules, pipelines }, { ...task, pipeline: 'own' })).toBe('derived');
  });
});

describe('a task without criteria, of a person who confirms everything,', () => {
  test('waits after its plan, before anything is built, with what the plan proposes', () => {
    for (const pipeline of ['feature', 'bug']) {
      const { mill, id } = planned(proposed, { pipeline });
      expect(mill.task(id)).toMatchObject({ stage: 'needs_info', runs: {} });
      expect(mill.task(id).runs.implement).toBeUndefined();
      const question = openOf(mill, id).find(({ effect }) => effect.kind === 'criteria');
      expect(question).toMatchObject({
        type: 'blocking',
        holds: true,
        text: '#1 Say bye: it has no acceptance criteria. How will you know that it is done?',
        context: expect.stringContaining('1. It says bye\n2. Its test passes\n'),
        options: [{ label: USE_THESE, recommended: true }, { label: DERIVE }],
        effect: { kind: 'criteria', proposed: ['It says bye', 'Its test passes'] },
      });
    }
  });

  test.each([
    ['Use these criteria', ['It says bye', 'Its test passes']],
    ['use these criteria', ['It says bye', 'Its test passes']],
    ['yes', ['It says bye', 'Its test passes']],
    ['- [ ] It prints bye\n2. It exits with 0\n\n* It is quick', ['It prints bye', 'It exits with 0', 'It is quick']],
    ['It prints bye', ['It prints bye']],
    [DERIVE, []],
  ])('takes the answer %j', (text, criteria) => {
    const { mill, id } = planned();
    answer(mill, openOf(mill, id)[0]!, text);
    expect(mill.task(id).stage).toBe('plan_review');
    expect(mill.task(id).criteria.map((each) => each.text)).toEqual(criteria);
    expect(mill.task(id).criteria.map((each) => each.id)).toEqual(criteria.map((_, index) => `C${index + 1}`));
    expect([...mill.records.values()].some(({ noun }) => noun === 'preference')).toBe(false);
    expect(replay(mill.log).tasks).toEqual([mill.task(id)]);
    mill.must({ type: 'task.approve', projectId, taskId: id, by });
    mill.bring(id, 'merge');
    expect(mill.task(id).criteria.map(({ met }) => met)).toEqual(Array(criteria.length || 1).fill(true));
  });

  test('is offered the proposal when the plan has exactly one', () => {
    const { mill, id } = planned({ envelope: { plan: 'the plan', criteria: [' It says bye '] } });
    const [question] = openOf(mill, id);
    expect(question).toMatchObject({
      context: expect.stringContaining('The plan proposes:\n1. It says bye\n'),
      options: [{ label: USE_THESE, recommended: true }, { label: DERIVE }],
    });
    answer(mill, question!, USE_THESE);
    expect(mill.task(id).criteria.map((each) => each.text)).toEqual(['It says bye']);
  });

  test('is offered at most twenty of the proposed criteria, and takes at most a hundred of its own', () => {
    const many = Array.from({ length: 120 }, (_, index) => `It says bye ${index}`);
    const { mill, id } = planned({ envelope: { plan: 'the plan', criteria: many.slice(0, 30) } });
    const [question] = openOf(mill, id);
    expect(question!.effect).toEqual({ kind: 'criteria', proposed: many.slice(0, 20) });
    answer(mill, question!, many.join('\n'));
    expect(mill.task(id).criteria.map((each) => each.text)).toEqual(many.slice(0, 100));
  });

  test('is asked about without a proposal when the plan has none', () => {
    const { mill, id } = planned({ envelope: { plan: 'the plan', criteria: [] } });
    const [question] = openOf(mill, id);
    expect(question!.options.map(({ label }) => label)).toEqual([DERIVE]);
    answer(mill, question!, 'yes');
    expect(mill.task(id).criteria.map((each) => each.text)).toEqual(['yes']);
  });

  test('continues when a person adds criteria or answers with a note instead', () => {
    const edited = planned();
    edited.mill.must({ type: 'task.edit', projectId, taskId: edited.id, by, accept: ['It says bye'] });
    expect(edited.mill.task(edited.id)).toMatchObject({ stage: 'plan_review', openQuestions: [] });
    expect(openOf(edited.mill, edited.id)).toEqual([]);
    const noted = planned();
    noted.mill.must({ type: 'task.retry', projectId, taskId: noted.id, by, note: 'It says bye' });
    expect(noted.mill.task(noted.id)).toMatchObject({ stage: 'plan_review', criteria: [{ text: 'It says bye' }] });
  });

  test('waits for its other questions, too', () => {
    const ending = { envelope: { ...proposed.envelope, open_questions: ['Which bye?'] } };
    const { mill, id } = planned(ending);
    const [which, criteria] = openOf(mill, id);
    mill.must({ type: 'task.edit', projectId, taskId: id, by, accept: ['It says bye'] });
    expect(mill.task(id)).toMatchObject({ stage: 'needs_info', openQuestions: [{ id: which!.id }] });
    expect(criteria!.ref).toBe('Q1.2');
    answer(mill, which!, 'adieu');
    expect(mill.task(id).stage).toBe('plan_review');
  });

  test('is asked about once, and not again for a revised plan', () => {
    const { mill, id } = planned();
    expect(mill.task(id)).toMatchObject({ stage: 'needs_info', resumeStage: 'plan_review' });
    answer(mill, openOf(mill, id)[0]!, DERIVE);
    mill.must({ type: 'task.reject', projectId, taskId: id, by, note: 'shorter' });
    mill.end(id, 'plan_complete', proposed);
    expect(mill.task(id).stage).toBe('plan_review');
  });

  test('a short title alone asks nobody: the reviewer derives the criteria', () => {
    const mill = new Mill();
    const quick = mill.add({ title: 'Say bye', accept: [], pipeline: 'quick' });
    mill.bring(quick, 'merge');
    const told = mill.add({ title: 'Say bye', accept: [] });
    mill.end(told, 'plan_complete', proposed);
    expect(mill.task(told)).toMatchObject({ stage: 'implement', criteria: [] });
    mill.bring(told, 'merge');
    expect(mill.task(told).criteria).toMatchObject([{ text: 'derived', isDerived: true, met: true }]);
  });
});
