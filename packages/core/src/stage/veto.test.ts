import { type Actor, engineActor, type MergeLoss, personActor, type Question } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const ada = personActor('ada');
const loss = (text: string, line = 7): MergeLoss => ({
  ...{ path: 'src/tide.ts', kind: 'lines', detail: '', lines: [{ line, text }], lineCount: 1 },
  content: `hash of ${text}`,
});

function merging(mill: Mill): string {
  const taskId = mill.add({ pipeline: 'feature' });
  mill.bring(taskId, 'merge');
  return taskId;
}
function veto(mill: Mill, taskId: string, ...losses: MergeLoss[]) {
  const token = mill.task(taskId).lease?.token ?? mill.take(taskId).token;
  return mill.must({ type: 'stage.veto', projectId, subjectId: taskId, token, losses });
}
const open = (mill: Mill) =>
  [...mill.records.values()].filter((each): each is Question => each.noun === 'question' && each.status === 'open');
const isHeld = (mill: Mill, taskId: string) => mill.task(taskId).stage === 'needs_info';

test('a loss in a merge waits for a person, who is told file and lines and has no default', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  veto(mill, taskId, loss('open(gate);'));
  expect(mill.task(taskId)).toMatchObject({ stage: 'needs_info', resumeStage: 'merge', lease: null });
  const [question] = open(mill);
  expect(question).toMatchObject({ type: 'blocking', holds: true, defaultAnswer: null, expiresAt: null });
  expect(question!.text).toContain('changes of main are missing (src/tide.ts)');
  expect(question!.context).toContain('src/tide.ts: main added or changed line 7, missing here\n    7 | open(gate);');
});

test('a person accepts exactly the losses that were shown: fewer go on, others are asked about again', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  const [one, two] = [loss('open(gate);'), loss('close(gate);')];
  veto(mill, taskId, one, two);
  const events = mill.must({ type: 'task.approve', projectId, taskId, by: ada });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'task.matter_approved', losses: [one.content, two.content], by: ada }),
  );
  for (const shown of [[one, two], [two], [loss('open(gate);', 12)]]) {
    veto(mill, taskId, ...shown);
    expect(isHeld(mill, taskId)).toBe(false);
  }
  veto(mill, taskId, one, loss('lock(gate);'));
  expect(isHeld(mill, taskId)).toBe(true);
  expect(open(mill)[0]!.context).not.toContain('open(gate)');
});

test('nobody but a person decides about a loss in a merge: no agent, no engine, no default, no timeout', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  veto(mill, taskId, loss('open(gate);'));
  const [{ id: questionId }] = open(mill) as [Question];
  const answer = (by: Actor, source: 'user' | 'default' | 'learned' | 'timeout') =>
    mill.refusal({ type: 'question.answer', projectId, taskId, questionId, by, source, text: 'Approve' });
  const agent: Actor = { kind: 'agent', id: 'run_1', name: 'agent-1' };
  expect([answer(agent, 'user'), answer(engineActor('learned'), 'user'), answer(ada, 'default')]).toEqual(
    Array(3).fill('forbidden'),
  );
  expect(mill.refusal({ type: 'task.approve', projectId, taskId, by: agent })).toBe('forbidden');
  expect(mill.refusal({ type: 'question.expire', projectId, taskId, questionId })).toBe('conflict');
  expect(isHeld(mill, taskId)).toBe(true);
});

test('when a loss is sent back, the agent gets the lines, and the same loss is asked about again', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  veto(mill, taskId, loss('open(gate);'));
  const [{ id: questionId }] = open(mill) as [Question];
  mill.must({
    ...{ type: 'question.answer', projectId, taskId, questionId, by: ada, source: 'user', text: 'Send back' },
  });
  expect(mill.task(taskId)).toMatchObject({
    stage: 'implement',
    feedback: [{ kind: 'person', text: expect.stringContaining('7 | open(gate);') }],
    acceptedLosses: [],
  });
  mill.bring(taskId, 'merge');
  veto(mill, taskId, loss('open(gate);'));
  expect(isHeld(mill, taskId)).toBe(true);
});

test('a loss that a person accepted while settling a conflict is on record, and ends with the branch', () => {
  const mill = new Mill();
  const taskId = mill.add();
  const conflicting = () => {
    mill.bring(taskId, 'merge');
    const feedback = [{ kind: 'conflict' as const, text: 'x', files: ['a', 'b', 'c', 'd', 'e'] }];
    mill.end(taskId, 'conflicts_detected', { message: 'It conflicts.', feedback });
  };
  conflicting();
  const of = { projectId, taskId, by: ada };
  mill.must({ type: 'conflict.begin_settle', ...of, accepts: ['hash of open(gate);'] });
  expect(mill.task(taskId).settling).toMatchObject({ by: ada, accepts: ['hash of open(gate);'] });
  mill.must({ type: 'conflict.settle', ...of, commit: 'c', tree: 't', notes: [], accepts: [loss('open(gate);')] });
  expect(mill.task(taskId).acceptedLosses).toEqual(['hash of open(gate);']);
  conflicting();
  mill.must({ type: 'conflict.abort', ...of, snapshot: null });
  expect(mill.task(taskId).acceptedLosses).toEqual([]);
});
