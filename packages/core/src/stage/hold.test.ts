import { personActor, type Question } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { isReviewed } from '../pipeline/review.ts';

const projectId = 'project_1';
const file = (content: string) => [{ file: 'a.test.ts', why: 'a test is deleted', content }];

function merging(mill: Mill): string {
  const taskId = mill.add({ pipeline: 'quick' });
  mill.bring(taskId, 'merge');
  return taskId;
}
function hold(mill: Mill, taskId: string, content: string) {
  const token = mill.task(taskId).lease?.token ?? mill.take(taskId).token;
  return mill.must({ type: 'stage.hold', projectId, subjectId: taskId, token, files: file(content) });
}
const open = (mill: Mill) =>
  [...mill.records.values()].filter((each): each is Question => each.noun === 'question' && each.status === 'open');

test('an approval of changed checks is for their content only', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  hold(mill, taskId, 'one');
  expect(mill.task(taskId)).toMatchObject({ stage: 'needs_info', resumeStage: 'merge', lease: null });
  expect(open(mill)).toMatchObject([{ type: 'blocking', holds: true, context: '- a.test.ts: a test is deleted' }]);
  mill.must({ type: 'task.approve', projectId, taskId, by: personActor('ada') });
  expect(mill.task(taskId)).toMatchObject({ stage: 'merge', approved: [], openQuestions: [] });
  hold(mill, taskId, 'one');
  expect(mill.task(taskId)).toMatchObject({ stage: 'merge', lease: expect.anything() });
  hold(mill, taskId, 'two');
  expect(mill.task(taskId)).toMatchObject({ stage: 'needs_info', lease: null });
});

test('after a rejection of changed checks the work goes back with the note, and is asked about again', () => {
  const mill = new Mill();
  const taskId = merging(mill);
  hold(mill, taskId, 'one');
  mill.must({ type: 'task.reject', projectId, taskId, by: personActor('ada'), note: 'leave the test' });
  expect(mill.task(taskId)).toMatchObject({
    stage: 'implement',
    feedback: [{ kind: 'person', text: 'leave the test' }],
  });
  mill.bring(taskId, 'merge');
  hold(mill, taskId, 'one');
  expect(mill.task(taskId)).toMatchObject({ stage: 'needs_info' });
});

test('a pipeline is reviewed when no path skips the review', () => {
  const mill = new Mill();
  const { rules } = mill.projects.get(projectId)!;
  const task = mill.task(mill.add());
  const is = (pipeline: string, more: object = {}) =>
    isReviewed({ ...rules, pipelines: { ...rules.pipelines, ...more } }, { ...task, pipeline });
  expect([is('feature'), is('bug'), is('quick')]).toEqual([true, true, false]);
  const { stages } = rules.pipelines.feature!;
  const merge = { ...stages.merge!, actor: 'system' as const };
  const own = (more: object) => ({
    own: { name: 'own', description: '', start: 'implement', stages: { ...stages, ...more } },
  });
  const human = { actor: 'human', on: { approved: 'merge', changes_requested: 'implement' } };
  const verify = { ...stages.verify, on: { approved: 'look', failed: 'implement' } };
  expect(is('own', own({ merge, verify, look: { ...human, onlyIfPlansAreReviewed: false } }))).toBe(true);
  expect(is('own', own({ merge, verify, look: { ...human, onlyIfPlansAreReviewed: true } }))).toBe(false);
  // A path that skips the review.
  expect(is('own', own({ implement: { ...stages.implement, on: { pr_ready: 'verify', no_changes: 'merge' } } }))).toBe(
    false,
  );
});
