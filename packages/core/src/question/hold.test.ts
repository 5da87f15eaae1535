import { AskedQuestion, AUTONOMY_PRESETS, personActor, type Question } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { APPROVE, STUCK_CHOICES } from './effect.ts';

const projectId = 'project_1';
const HOUR = 3_600_000;
const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };

const open = (mill: Mill, taskId: string) =>
  [...mill.records.values()].filter(
    (each): each is Question => each.noun === 'question' && each.status === 'open' && each.taskId === taskId,
  );
const named = (mill: Mill, ref: string) =>
  [...mill.records.values()].find((each): each is Question => each.noun === 'question' && each.ref === ref)!;
const answer = (mill: Mill, { id: questionId, taskId }: Question, text: string) =>
  mill.must({ type: 'question.answer', projectId, taskId, questionId, by: personActor('ada'), source: 'user', text });
const asks = (...questions: unknown[]) => ({ envelope: { open_questions: questions } });

describe('a task that needs information', () => {
  test('waits where it was, frees its worker, and goes on when all is answered, and only then', () => {
    const mill = new Mill();
    const task = mill.add();
    mill.bring(task, 'implement');
    mill.end(task, 'needs_info', asks('Which port?', 'Which host?'));
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'implement', lease: null, role: null });
    expect(mill.offered('agent-1')).toBe('nothing_ready');
    const [port, host] = open(mill, task);
    answer(mill, host!, 'localhost');
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', openQuestions: [{ text: 'Which port?' }] });
    answer(mill, port!, '8080');
    expect(mill.task(task)).toMatchObject({ stage: 'implement', openQuestions: [], resumeStage: null });
    expect(mill.offered('agent-1')).toBe(1);
    expect(
      mill
        .task(task)
        .context.slice(-2)
        .map(({ summary }) => summary),
    ).toEqual(['Asked: Which host?\nAnswer: localhost', 'Asked: Which port?\nAnswer: 8080']);
  });

  test('has not failed, even if its agent says so', () => {
    const mill = new Mill();
    const task = mill.add();
    mill.bring(task, 'implement');
    mill.end(task, 'failed', { failure: 'agent_reported', ...asks('Which port?') });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', counters: { failures: {} } });
  });

  test('continues with the default of a question, or with its own judgement if there is none', () => {
    const mill = new Mill();
    const task = mill.add();
    const question = (text: string, more = {}) => ({ text, type: 'clarifying', ...more });
    mill.end(task, 'needs_info', asks(question('Tabs?', { default: 'No' }), question('Why?')));
    expect(mill.task(task).stage).toBe('needs_info');
    mill.now += 4 * HOUR;
    for (const { id: questionId } of open(mill, task))
      mill.must({ type: 'question.expire', projectId, taskId: task, questionId });
    expect(mill.task(task).stage).toBe('plan');
    expect(mill.task(task).context.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([expect.stringContaining('(default): No'), expect.stringContaining('own judgement')]),
    );
  });

  test('that repeats answered questions is blocked instead of looping', () => {
    const mill = new Mill();
    const task = mill.add();
    mill.end(task, 'needs_info', asks('Which port?'));
    answer(mill, open(mill, task)[0]!, '8080');
    mill.end(task, 'needs_info', asks('Which port?'));
    expect(mill.task(task)).toMatchObject({ stage: 'blocked', blocked: { reason: 'no_progress' } });
  });

  test('that cannot continue without an earlier question waits for that question', () => {
    const mill = new Mill();
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    const tabs = AskedQuestion.parse({ text: 'Tabs?', type: 'clarifying', default: 'No' });
    mill.must({ type: 'run.ask', ...fence, runId, questions: [tabs] });
    expect(mill.task(task)).toMatchObject({ stage: 'plan', openQuestions: [] });
    const envelope = { outcome: 'needs_info' as const, summary: '', open_questions: [tabs] };
    const events = mill.must({ type: 'run.finish', ...fence, runId, outcome: 'needs_info', envelope, usage });
    expect(typesOf(events)).toContain('question.held');
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', openQuestions: [{ text: 'Tabs?' }] });
    answer(mill, open(mill, task)[0]!, 'Yes');
    expect(mill.task(task).stage).toBe('plan');
  });

  test('whose question has a learned answer runs again', () => {
    const mill = new Mill();
    const tabs = { text: 'Tabs?', type: 'preference' };
    const first = mill.add();
    mill.end(first, 'needs_info', asks(tabs));
    answer(mill, open(mill, first)[0]!, 'Yes');
    mill.bring(first, 'done');
    const second = mill.add();
    mill.end(second, 'needs_info', asks(tabs));
    expect(mill.task(second)).toMatchObject({ stage: 'plan', lease: null, openQuestions: [] });
    expect(mill.offered('agent-1')).toBe(2);
    mill.end(second, 'needs_info', asks(tabs));
    expect(mill.task(second).stage).toBe('blocked');
  });

  test('is answered by a retry with a note, for all of its questions', () => {
    const mill = new Mill();
    const task = mill.add();
    mill.end(task, 'needs_info', asks('Which port?', 'Which host?'));
    expect(mill.refusal({ type: 'task.retry', projectId, taskId: task, by: personActor('ada') })).toBe('bad_input');
    mill.must({ type: 'task.retry', projectId, taskId: task, by: personActor('ada'), note: 'localhost:8080' });
    expect(mill.task(task)).toMatchObject({ stage: 'plan', openQuestions: [] });
    expect(open(mill, task)).toEqual([]);
  });

  test('is in needs_info when its worker died after asking', () => {
    const mill = new Mill();
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    mill.must({ type: 'run.ask', ...fence, runId, questions: [AskedQuestion.parse('Which port?')] });
    mill.must({ type: 'lease.expire', projectId, subjectId: task, token: fence.token, ownerIsDead: true });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'plan', lease: null });
    answer(mill, named(mill, 'Q1.1'), '8080');
    expect(mill.offered('agent-1')).toBe(1);
  });
});

describe('a question asked during a run', () => {
  test('lets the run end and holds what comes next, if it is blocking', () => {
    const mill = new Mill();
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    const events = mill.must({ type: 'run.ask', ...fence, runId, questions: [AskedQuestion.parse('Which port?')] });
    expect(events).toMatchObject([{ question: { ref: 'Q1.1', source: 'plan', runId, holds: true } }]);
    const envelope = { outcome: 'plan_complete' as const, summary: 's', plan: 'p' };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope, usage });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'implement', plan: 'p' });
    answer(mill, named(mill, 'Q1.1'), '8080');
    expect(mill.task(task).stage).toBe('implement');
  });

  test('holds nothing if it was answered meanwhile', () => {
    const mill = new Mill();
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    mill.must({ type: 'run.ask', ...fence, runId, questions: [AskedQuestion.parse('Which port?')] });
    answer(mill, named(mill, 'Q1.1'), '8080');
    expect(mill.task(task)).toMatchObject({ stage: 'plan', lease: { token: fence.token } });
    const envelope = { outcome: 'plan_complete' as const, summary: 's', plan: 'p' };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope, usage });
    expect(mill.task(task).stage).toBe('implement');
  });

  test('is refused after the run, and from a worker that lost its lease', () => {
    const mill = new Mill();
    const { fence, runId } = mill.startRun(mill.add());
    const questions = [AskedQuestion.parse('Which port?')];
    expect(mill.refusal({ type: 'run.ask', ...fence, token: fence.token - 1, runId, questions })).toBe('stale_lease');
    expect(mill.refusal({ type: 'run.ask', ...fence, runId: 'run_9', questions })).toBe('conflict');
    expect(open(mill, 'task_1')).toEqual([]);
  });
});

describe('an approval', () => {
  const touching = (
    mill: Mill,
    task: string,
    more: object = { touches: { dependencyModifications: 'left-pad 1' } },
  ) => {
    const { fence, runId } = mill.startRun(task);
    const tree = `${task}-tree-${mill.runs.size}`;
    mill.must({ type: 'work.commit', ...fence, commit: `c-${tree}`, tree, notes: [] });
    mill.prove(fence, tree);
    const envelope = { outcome: 'pr_ready' as const, summary: 'adds left-pad' };
    return mill.must({ type: 'run.finish', ...fence, runId, outcome: 'pr_ready', envelope, usage, tree, ...more });
  };
  const waiting = (hilConfig = AUTONOMY_PRESETS.major_only) => {
    const mill = new Mill({ hilConfig });
    const task = mill.add();
    mill.bring(task, 'implement');
    touching(mill, task);
    return { mill, task };
  };

  test('is asked for what the level says, by what the files show or the agent declares', () => {
    const { mill, task } = waiting();
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'review' });
    expect(open(mill, task)).toMatchObject([{ tags: ['dependencyModifications'], context: 'adds left-pad' }]);
    const declared = new Mill({ hilConfig: AUTONOMY_PRESETS.major_only });
    declared.bring(declared.add(), 'implement');
    const envelope = { outcome: 'pr_ready' as const, summary: 's', declares: { architectureDecisions: [''] } };
    touching(declared, 'task_1', { envelope });
    expect(declared.task('task_1').stage).toBe('needs_info');
  });

  test('follows the task’s own level before its project’s', () => {
    const mill = new Mill({ hilConfig: AUTONOMY_PRESETS.confirm_all });
    const free = mill.add({ hilConfig: AUTONOMY_PRESETS.full });
    mill.bring(free, 'implement');
    touching(mill, free);
    expect(mill.task(free).stage).toBe('review');
  });

  test('is not needed with notify_and_proceed, which raises an alert and continues', () => {
    const mill = new Mill({ hilConfig: AUTONOMY_PRESETS.major_only });
    const task = mill.add();
    mill.bring(task, 'implement');
    const events = touching(mill, task, { touches: { scopeChanges: 'x' } });
    expect(events).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'alert.raised', kind: 'autonomy' })]),
    );
    expect(mill.task(task).stage).toBe('review');
  });

  test.each([['Approve'], ['approve'], ['yes'], ['LGTM!']])('is given by "%s"', (word) => {
    const { mill, task } = waiting();
    answer(mill, open(mill, task)[0]!, word);
    expect(mill.task(task)).toMatchObject({ stage: 'review', approved: ['dependencyModifications'] });
  });

  test.each([['Send back'], ['no'], ['write it yourself']])(
    'is not given by "%s": it goes back to its builder',
    (word) => {
      const { mill, task } = waiting();
      answer(mill, open(mill, task)[0]!, word);
      expect(mill.task(task)).toMatchObject({ stage: 'implement', approved: [], feedback: [{ kind: 'person' }] });
    },
  );

  test('is also given and refused by approving or rejecting the task', () => {
    const { mill, task } = waiting();
    mill.must({ type: 'task.approve', projectId, taskId: task, by: personActor('ada'), note: 'fine' });
    expect(mill.task(task)).toMatchObject({ stage: 'review', approved: ['dependencyModifications'] });
    const { mill: other, task: sentBack } = waiting();
    other.must({ type: 'task.reject', projectId, taskId: sentBack, by: personActor('ada'), note: 'no left-pad' });
    expect(other.task(sentBack)).toMatchObject({ stage: 'implement', feedback: [{ text: 'no left-pad' }] });
    expect(open(other, sentBack)).toEqual([]);
  });

  test('that was refused is asked for again for the same change', () => {
    const { mill, task } = waiting();
    mill.must({ type: 'task.reject', projectId, taskId: task, by: personActor('ada'), note: 'no left-pad' });
    touching(mill, task);
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', approved: [] });
    expect(open(mill, task)).toMatchObject([{ ref: 'Q1.2' }]);
    answer(mill, open(mill, task)[0]!, APPROVE);
    mill.review(task, false);
    touching(mill, task);
    expect(mill.task(task).stage).toBe('review');
  });

  test('is for the approved content, and is asked for again when the content changes', () => {
    const { mill, task } = waiting();
    answer(mill, open(mill, task)[0]!, APPROVE);
    mill.review(task, false);
    // The same change, merged with a newer target, is still approved.
    touching(mill, task);
    expect(mill.task(task).stage).toBe('review');
    mill.review(task, false);
    touching(mill, task, { touches: { dependencyModifications: 'left-pad 1 and evil-pad 9' } });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'review' });
    expect(open(mill, task)).toMatchObject([{ context: expect.stringContaining('has changed since you approved') }]);
    // GGoing back to the approved content needs no new approval.
    mill.must({ type: 'task.reject', projectId, taskId: task, by: personActor('ada'), note: 'no evil-pad' });
    touching(mill, task);
    expect(mill.task(task).stage).toBe('review');
  });

  test('is asked for again when the files changed before the gates ran', () => {
    const { mill, task } = waiting();
    mill.must({ type: 'task.approve', projectId, taskId: task, by: personActor('ada') });
    mill.must({ type: 'task.retry', projectId, taskId: task, by: personActor('ada'), stage: 'verify' });
    const fence = mill.take(task);
    const prove = (content: string) => {
      const tree = `${task}-${content}`;
      mill.prove(fence, tree);
      const touches = { dependencyModifications: content };
      return mill.must({ type: 'stage.finish', ...fence, outcome: 'approved', tree, touches });
    };
    prove('evil-pad 9');
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'review', lease: null });
    expect(open(mill, task)).toMatchObject([{ effect: { kind: 'approval', sendBackTo: 'implement' } }]);
  });

  test('of a plan that declares a matter does not cover the resulting files', () => {
    const mill = new Mill({ hilConfig: AUTONOMY_PRESETS.major_only });
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    const declares = { dependencyModifications: ['left-pad 1'] };
    const envelope = { outcome: 'plan_complete' as const, summary: 's', plan: 'add left-pad', declares };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope, usage });
    answer(mill, open(mill, task)[0]!, APPROVE);
    expect(mill.task(task)).toMatchObject({ stage: 'implement', approved: ['dependencyModifications'] });
    touching(mill, task);
    expect(mill.task(task).stage).toBe('needs_info');
  });

  test('cannot be bypassed: a retry sends back, and no other stage may be named', () => {
    const { mill, task } = waiting();
    const retry = { type: 'task.retry', projectId, taskId: task, by: personActor('ada') } as const;
    expect(mill.refusal({ ...retry, note: 'go', stage: 'merge' })).toBe('wrong_stage');
    mill.must({ ...retry, note: 'without left-pad' });
    expect(mill.task(task)).toMatchObject({ stage: 'implement', approved: [] });
  });

  test('is never learned and never given by a timeout', () => {
    const { mill, task } = waiting();
    expect(open(mill, task)).toMatchObject([{ expiresAt: null, defaultAnswer: null, isDefaultLearned: false }]);
    answer(mill, open(mill, task)[0]!, APPROVE);
    expect([...mill.records.values()].filter(({ noun }) => noun === 'preference')).toEqual([]);
  });

  test('waits with the other questions of the same run', () => {
    const mill = new Mill({ hilConfig: AUTONOMY_PRESETS.major_only });
    const task = mill.add();
    mill.bring(task, 'implement');
    const open_questions = [AskedQuestion.parse('Which port?')];
    const envelope = { outcome: 'pr_ready' as const, summary: 's', open_questions };
    touching(mill, task, { touches: { dependencyModifications: 'left-pad 1' }, envelope });
    const refs = open(mill, task).map(({ ref }) => ref);
    expect(refs).toEqual(['Q1.1', 'Q1.2']);
    mill.must({ type: 'task.reject', projectId, taskId: task, by: personActor('ada'), note: 'no left-pad' });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'implement' });
    answer(mill, named(mill, 'Q1.1'), '8080');
    expect(mill.task(task).stage).toBe('implement');
  });
});

describe('a question about a task that is stuck', () => {
  const stuck = () => {
    const mill = new Mill();
    const task = mill.add();
    const { fence, runId } = mill.startRun(task);
    const question = AskedQuestion.parse({
      text: 'Stuck?',
      options: Object.values(STUCK_CHOICES),
      allowFreeText: false,
    });
    const asker = { agent: 'supervisor', source: 'supervisor', sourceId: task, effect: { kind: 'stuck' } } as const;
    mill.must({ type: 'question.ask', projectId, taskId: task, stage: 'plan', questions: [question], ...asker });
    return { mill, task, fence, runId };
  };

  test.each([
    ['Wait', { stage: 'plan', lease: { workerId: 'agent-1' } }],
    ['Retry', { stage: 'plan', lease: null }],
    ['Skip', { stage: 'blocked', lease: null, blocked: { reason: 'skipped' }, resumeStage: 'plan' }],
  ])('%s', (choice, after) => {
    const { mill, task } = stuck();
    answer(mill, open(mill, task)[0]!, choice);
    expect(mill.task(task)).toMatchObject(after);
  });

  test('holds nothing and is over with the run', () => {
    const { mill, task, fence, runId } = stuck();
    expect(mill.task(task).openQuestions).toEqual([]);
    const envelope = { outcome: 'plan_complete' as const, summary: 's', plan: 'p' };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'plan_complete', envelope, usage });
    expect(mill.task(task).stage).toBe('implement');
    expect(named(mill, 'Q1.1').status).toBe('withdrawn');
  });
});

describe('a question about a blocked task', () => {
  const blocked = () => {
    const mill = new Mill();
    const task = mill.add();
    mill.end(task, 'failed', { failure: 'refused', message: 'no' });
    const question = AskedQuestion.parse({ text: 'How should it continue?', options: ['Try again', 'Leave it'] });
    const effect = { kind: 'unblock' as const, leaves: ['Leave it'] };
    const asker = { agent: 'tidemill', source: 'catalogue', sourceId: 'task_failed_repeatedly', effect } as const;
    const ask = {
      type: 'question.ask',
      projectId,
      taskId: task,
      stage: 'blocked',
      questions: [question],
      ...asker,
    } as const;
    mill.must(ask);
    return { mill, task, ask };
  };

  test('restarts it with the answer', () => {
    const { mill, task } = blocked();
    expect(mill.task(task)).toMatchObject({ stage: 'blocked', openQuestions: [{ text: 'How should it continue?' }] });
    answer(mill, open(mill, task)[0]!, 'Use the v2 API');
    expect(mill.task(task)).toMatchObject({
      stage: 'plan',
      counters: { failures: {} },
      feedback: [{ text: 'Use the v2 API' }],
    });
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('leaves it where it is if the answer says so', () => {
    const { mill, task } = blocked();
    answer(mill, open(mill, task)[0]!, 'Leave it');
    expect(mill.task(task)).toMatchObject({ stage: 'blocked', blocked: { reason: 'skipped' }, resumeStage: 'plan' });
    mill.must({ type: 'task.retry', projectId, taskId: task, by: personActor('ada') });
    expect(mill.offered('agent-1')).toBe(1);
  });

  test('is withdrawn when it is retried, and not asked when it is no longer blocked', () => {
    const { mill, task, ask } = blocked();
    mill.must({ type: 'task.retry', projectId, taskId: task, by: personActor('ada') });
    expect(named(mill, 'Q1.1').status).toBe('withdrawn');
    expect(mill.offered('agent-1')).toBe(1);
    expect(mill.must({ ...ask, questions: [AskedQuestion.parse('Another?')] })).toEqual([]);
  });
});
