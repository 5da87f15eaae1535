import { personActor, type ReviewVerdict } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const inReview = (accept = ['fast', 'small']) => {
  const mill = new Mill();
  const id = mill.add({ accept, body: 'Greet ann as well.' });
  mill.bring(id, 'review');
  return { mill, id };
};
const verdict = (...criteria: [id: string, met: boolean, evidence?: string][]) => ({
  review: {
    criteria: criteria.map(([id, met, evidence = 'see `test`']) => ({ id, met, evidence })),
    comments: [] as string[],
  },
});

describe('a review', () => {
  test('approves when each criterion is met', () => {
    const { mill, id } = inReview();
    mill.end(id, 'approved', { envelope: verdict(['C1', true, 'test prints "3 ms"'], ['C2', true]) });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', feedback: [], counters: { reviewCycles: 0 } });
    expect(mill.task(id).criteria).toMatchObject([{ met: true, evidence: 'test prints "3 ms"' }, { met: true }]);
    expect(mill.task(id).context.at(-1)).toMatchObject({ source: 'reviewer', entryType: 'review_approved' });
  });

  test('that says approved with a criterion unmet asks for changes, and says which', () => {
    const { mill, id } = inReview();
    mill.end(id, 'approved', { envelope: verdict(['C1', true], ['C2', false, '3 MB']) });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', rework: true, counters: { reviewCycles: 1 } });
    expect(mill.task(id).feedback).toEqual([{ kind: 'review', text: 'Not met: small (3 MB)', files: [] }]);
    expect(mill.runs.get(mill.task(id).lastRunId!)?.outcome).toBe('changes_requested');
  });

  test.each([
    '',
    ' \n\t',
    '\u200b\u200b',
    '\u2060.',
    '.',
    'ok',
    'looks good to me',
    'attested',
    '""',
    '"."',
    '"\u3164\u3164\u3164"',
    "it's what isn't wrong",
  ])('whose evidence is %j cites nothing: the verdict is invalid', (evidence) => {
    const { mill, id } = inReview(['fast']);
    mill.end(id, 'approved', { envelope: verdict(['C1', true, evidence]), shownFiles: ['src/sum.ts'] });
    expect(mill.task(id)).toMatchObject({ stage: 'review', counters: { failures: { invalid_result: 1 } } });
    expect(mill.runs.get(mill.task(id).lastRunId!)?.summary).toMatch(/^the review calls C1 met without evidence/);
    expect(mill.task(id).criteria).toMatchObject([{ met: null }]);
  });

  test.each([
    'src/sum.ts:4',
    'sum.ts line 4',
    'the gate test',
    'it prints "3 ms"',
    'see `sum(1)`',
    "says 'no list'",
    '(“drei”)',
  ])('whose evidence is %j can be checked', (evidence) => {
    const { mill, id } = inReview(['fast']);
    mill.end(id, 'approved', { envelope: verdict(['C1', true, evidence]), shownFiles: ['src/sum.ts'] });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', criteria: [{ met: true, evidence }] });
  });

  test('that asks for changes does not leave a criterion met without evidence', () => {
    const { mill, id } = inReview();
    mill.end(id, 'changes_requested', { envelope: verdict(['C1', true, '.'], ['C2', false, '3 MB']) });
    expect(mill.task(id).criteria).toMatchObject([{ met: null }, { met: false }]);
  });

  test('that says both met and not met counts as not met', () => {
    for (const order of [
      [true, false],
      [false, true],
    ]) {
      const { mill, id } = inReview(['fast']);
      mill.end(id, 'approved', { envelope: verdict(['C1', order[0]!], ['C1', order[1]!]) });
      expect(mill.task(id).stage).toBe('implement');
    }
  });

  test.each([
    ['leaves a criterion out', { envelope: verdict(['C1', true]) }],
    ['has no verdict', { envelope: { summary: 'looks good to me' } }],
    ['judges criteria nobody asked for', { envelope: verdict(['C8', true], ['C9', true]) }],
    ['has no envelope', { envelope: null }],
  ])('that approves and %s is invalid: retried, then a person is asked', (_name, ending) => {
    const { mill, id } = inReview();
    for (const attempt of [1, 2]) {
      mill.end(id, 'approved', ending);
      expect(mill.task(id)).toMatchObject({ stage: 'review', counters: { failures: { invalid_result: attempt } } });
    }
    mill.end(id, 'approved', ending);
    expect(mill.task(id)).toMatchObject({
      stage: 'blocked',
      resumeStage: 'review',
      blocked: { reason: 'agent_failed' },
    });
    expect(mill.task(id).criteria.map(({ met }) => met)).toEqual([null, null]);
  });

  test('that asks for changes without comments still sends the task back', () => {
    const { mill, id } = inReview();
    mill.end(id, 'changes_requested', { envelope: null });
    expect(mill.task(id).stage).toBe('implement');
    expect(mill.task(id).feedback[0]?.text).toMatch(/without saying which/);
  });

  test("the reviewer's comments reach the builder once, and are removed when addressed", () => {
    const { mill, id } = inReview();
    mill.review(id, false, ['rename it', 'test it']);
    expect(mill.task(id).feedback.map(({ text }) => text)).toEqual([
      'Not met: fast\nNot met: small\nrename it\ntest it',
    ]);
    mill.build(id, 'second');
    expect(mill.task(id)).toMatchObject({ stage: 'review', feedback: [], rework: false });
  });

  describe('of a task without criteria', () => {
    const derived = (...criteria: ReviewVerdict['criteria']) => ({ envelope: { review: { criteria, comments: [] } } });
    const C1 = { id: 'C1', text: 'it greets ann', met: true, evidence: 'test passes' };

    test('derives them from title and description, and they become its criteria', () => {
      const { mill, id } = inReview([]);
      expect(mill.task(id)).toMatchObject({ stage: 'review', role: 'reviewer', blocked: null });
      mill.end(id, 'approved', derived(C1, { ...C1, text: ' it still greets ' }));
      expect(mill.task(id)).toMatchObject({
        stage: 'merge',
        criteria: [
          { id: 'C1', text: 'it greets ann', met: true, isDerived: true },
          { id: 'C2', text: 'it still greets', met: true, isDerived: true },
        ],
      });
    });

    test.each([
      ['names none', derived()],
      ['names one without a text', derived({ id: 'C1', met: true, evidence: 'test passes' })],
      ['names one with a blank text', derived({ ...C1, text: ' \n' })],
      ['has no evidence for one', derived(C1, { ...C1, text: 'fast', evidence: 'looks good' })],
      ['has no envelope', { envelope: null }],
    ])('that approves and %s does not count', (_name, ending) => {
      const { mill, id } = inReview([]);
      mill.end(id, 'approved', ending);
      expect(mill.task(id)).toMatchObject({
        stage: 'review',
        criteria: [],
        counters: { failures: { invalid_result: 1 } },
      });
    });

    test('sends it back when a derived one is not met; the next review judges the same ones', () => {
      const { mill, id } = inReview([]);
      mill.end(id, 'approved', derived({ ...C1, met: false, evidence: 'it says hello' }));
      expect(mill.task(id)).toMatchObject({
        stage: 'implement',
        feedback: [{ text: 'Not met: it greets ann (it says hello)' }],
      });
      mill.build(id, 'second');
      mill.end(id, 'approved', derived({ ...C1, id: 'C2' }));
      expect(mill.task(id).counters.failures.invalid_result).toBe(1);
      mill.review(id, true);
      expect(mill.task(id)).toMatchObject({ stage: 'merge', criteria: [{ text: 'it greets ann', met: true }] });
    });

    test('an edit of the title or the description drops derived criteria', () => {
      const { mill, id } = inReview([]);
      mill.review(id, false, ['no']);
      mill.must({ type: 'task.edit', projectId, taskId: id, by: personActor('ada'), priority: 1 });
      expect(mill.task(id).criteria).toHaveLength(1);
      mill.must({ type: 'task.edit', projectId, taskId: id, by: personActor('ada'), body: 'greet bob, too' });
      expect(mill.task(id).criteria).toEqual([]);
    });

    test('a task that an earlier version left to a person is approved or rejected as before', () => {
      for (const [decision, stage] of [
        ['task.approve', 'merge'],
        ['task.reject', 'implement'],
      ] as const) {
        const { mill, id } = inReview([]);
        const blocked = { reason: 'no_criteria' as const, text: 'no agent can judge it' };
        mill.tasks.set(id, { ...mill.task(id), stage: 'blocked', role: null, resumeStage: 'review', blocked });
        mill.must({ type: decision, projectId, taskId: id, by: personActor('ada'), note: 'seen' });
        expect(mill.task(id).stage).toBe(stage);
      }
    });
  });
});

describe('the third rejection', () => {
  const escalated = () => {
    const { mill, id } = inReview();
    for (const cycle of [1, 2]) {
      mill.review(id, false, [`no ${cycle}`]);
      expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { reviewCycles: cycle } });
      mill.build(id, `try ${cycle}`);
    }
    mill.review(id, false, ['still no']);
    return { mill, id };
  };

  test('asks a person, with the views of both', () => {
    const { mill, id } = escalated();
    const { blocked, counters, resumeStage } = mill.task(id);
    expect(blocked?.reason).toBe('review_escalation');
    expect(blocked?.text).toMatch(/Rejected 3 times.*The reviewer: .*still no.*The builder: built try 2/s);
    expect([counters.reviewCycles, resumeStage]).toEqual([3, 'review']);
  });

  test('approval overrules the reviewer: its comments do not reach the builder when the merge sends the task back', () => {
    const { mill, id } = escalated();
    mill.must({ type: 'task.approve', projectId, taskId: id, by: personActor('ada'), note: 'good enough' });
    expect(mill.task(id)).toMatchObject({ stage: 'merge', feedback: [], rework: false, counters: { reviewCycles: 0 } });
    const feedback = [{ kind: 'gate' as const, text: 'red', files: [] }];
    mill.end(id, 'failed', { failure: 'validation', message: 'The gates fail.', feedback });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', feedback });
    mill.build(id, 'after the merge');
    mill.review(id, false, ['no again']);
    expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { reviewCycles: 1 } });
  });

  test('rejection gives the builder both comments, and three more cycles', () => {
    const { mill, id } = escalated();
    mill.must({ type: 'task.reject', projectId, taskId: id, by: personActor('ada'), note: 'do as it says' });
    expect(mill.task(id)).toMatchObject({ stage: 'implement', counters: { reviewCycles: 0 } });
    expect(mill.task(id).feedback.map(({ kind }) => kind)).toEqual(['review', 'person']);
  });
});
