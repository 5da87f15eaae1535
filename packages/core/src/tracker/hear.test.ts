import { personActor, type Task } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import { asksForWork, wordsOf } from './words.ts';

const projectId = 'project_1';
const itemId = 'tracker/project_1/k';
const ada = personActor('ada');

/** A task of an item, in this stage. */
function world(stage: string, rules: ConstructorParameters<typeof Mill>[0] = {}): { mill: Mill; taskId: string } {
  const mill = new Mill(rules);
  const content = { title: 'Add', body: '', kind: 'feature', priority: 2, labels: [], blockedBy: [] } as const;
  const seen = {
    ...content,
    labels: [],
    blockedBy: [],
    state: 'open',
    isRejected: false,
    hash: 'h',
    updatedAt: 't',
  } as const;
  const see = { type: 'tracker_item.see', key: 'k', url: null, author: 'ada', isTrusted: true, waiting: '' } as const;
  mill.must({ ...see, projectId, itemId, seen: { ...seen, labels: [], blockedBy: [] } });
  const taskId = mill.add({ origin: { kind: 'tracker', id: itemId } });
  mill.must({ type: 'tracker_item.take', projectId, itemId, taskId, before: null, by: ada });
  mill.bring(taskId, stage);
  return { mill, taskId };
}

function hear({ mill, taskId }: ReturnType<typeof world>, texts: string[], isFirst = false) {
  const comments = texts.map((text) => ({ id: text, author: 'bob', text: `bob: ${text}` }));
  const about = { projectId, itemId, taskId, comments, ...(isFirst ? { isFirst } : {}) };
  return typesOf(mill.must({ type: 'tracker_item.hear', ...about }));
}

const unread = ({ feedback }: Task) => feedback.filter(({ isUnread }) => isUnread).map(({ text }) => text);
const told = ({ feedback }: Task) => feedback.filter(({ isUnread }) => !isUnread).map(({ text }) => text);

describe('comments on a tracker item', () => {
  test('are passed on once each, however often and in whatever order they are heard', () => {
    const made = world('implement');
    expect(hear(made, ['b'])).toEqual(['tracker_item.heard', 'task.noted', 'task.feedback_given']);
    expect(hear(made, ['a', 'b'])).toEqual(['tracker_item.heard', 'task.noted', 'task.feedback_given']);
    expect(hear(made, ['a', 'b'])).toEqual([]);
    expect(unread(made.mill.task(made.taskId))).toEqual(['bob: b', 'bob: a']);
  });

  test('are notes of the task before its first run', () => {
    const made = world('plan');
    expect(hear(made, ['a'], true)).toEqual(['tracker_item.heard', 'task.noted']);
    expect(made.mill.task(made.taskId)).toMatchObject({
      feedback: [],
      context: [{ source: 'person', summary: 'bob: a' }],
    });
  });

  test('before the first run none of many is left out, and a new task of the item hears all of them again', () => {
    const made = world('plan');
    const { mill, taskId } = made;
    const texts = Array.from({ length: 13 }, (_, index) => `comment ${index}.`);
    hear(made, texts, true);
    const summaries = () => mill.task(taskId).context.map(({ summary }) => summary);
    expect(summaries()).toHaveLength(11);
    for (const text of texts) expect(summaries().join()).toContain(text);
    mill.must({ type: 'task.cancel', projectId, taskId, by: ada });
    const again = mill.add({ origin: { kind: 'tracker', id: itemId } });
    mill.must({ type: 'tracker_item.take', projectId, itemId, taskId: again, before: taskId, by: ada });
    expect(hear({ mill, taskId: again }, ['comment 0.'], true)).toEqual(['tracker_item.heard', 'task.noted']);
  });

  test('a builder is told when it claims the task, and a run that has begun does not use them up', () => {
    const made = world('implement');
    const { mill, taskId } = made;
    const { fence, runId } = mill.startRun(taskId);
    hear(made, ['a']);
    mill.must({ type: 'work.commit', ...fence, commit: 'c', tree: 't', notes: [] });
    mill.prove(fence, 't');
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    const envelope = { outcome: 'pr_ready', summary: 'built' } as const;
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'pr_ready', envelope, usage, tree: 't' });
    expect(mill.task(taskId).stage).toBe('review');
    expect(unread(mill.task(taskId))).toEqual(['bob: a']);
    // The reviewer that claims it sends it back.
    const back = mill.must({ type: 'stage.return_to_builder', ...mill.take(taskId) });
    expect(typesOf(back)).toEqual(['task.moved', 'lease.released']);
    expect(mill.task(taskId)).toMatchObject({ stage: 'implement', lease: null });
    mill.take(taskId);
    expect([told(mill.task(taskId)), unread(mill.task(taskId))]).toEqual([['bob: a'], []]);
  });

  test.each([
    ['review', 'implement', {}],
    ['verify', 'implement', {}],
    ['plan_review', 'plan', { reviewPlans: true }],
  ])('send a task from %s back to %s, and no limit counts it', (stage, to, rules) => {
    const made = world(stage, rules);
    const { counters } = made.mill.task(made.taskId);
    hear(made, ['a']);
    expect(made.mill.task(made.taskId)).toMatchObject({ stage: to, counters });
    expect(unread(made.mill.task(made.taskId))).toEqual(['bob: a']);
  });

  test('wait where the way back leads to no builder', () => {
    const made = world('verify');
    const { mill } = made;
    const rules = mill.rules();
    const { verify, ...others } = rules.pipelines.feature!.stages;
    const stages = { ...others, verify: { ...verify!, on: { ...verify!.on, failed: 'merge' } } } as typeof others;
    const feature = { ...rules.pipelines.feature!, stages };
    mill.must({
      type: 'project.configure',
      projectId,
      rules: { ...rules, pipelines: { ...rules.pipelines, feature } },
    });
    hear(made, ['a']);
    expect(mill.task(made.taskId).stage).toBe('verify');
    expect(unread(mill.task(made.taskId))).toEqual(['bob: a']);
  });

  test('let a waiting merge be tried again, so that the merger takes back what is offered', () => {
    const made = world('merge');
    const { mill, taskId } = made;
    mill.must({ type: 'stage.wait', ...mill.take(taskId), why: 'checks', untilMs: 600_000 });
    hear(made, ['a']);
    expect(mill.task(taskId)).toMatchObject({ stage: 'merge', waiting: null });
    mill.must({ type: 'stage.return_to_builder', ...mill.take(taskId) });
    expect(mill.task(taskId).stage).toBe('implement');
  });

  test('do not send back what may have landed already', () => {
    const made = world('merge');
    const { mill, taskId } = made;
    const { fence, commit } = mill.prepare(taskId, 'tree');
    hear(made, ['a']);
    expect(mill.refusal({ type: 'stage.return_to_builder', ...fence })).toBe('wrong_stage');
    mill.must({ type: 'merge.land', ...fence, commit });
    expect(mill.task(taskId).stage).toBe('done');
    expect(hear(made, ['b'])).toEqual([]);
  });

  test('answer no question and unblock no task; the task is told them when it goes on', () => {
    const asking = world('implement');
    asking.mill.end(asking.taskId, 'needs_info', { envelope: { open_questions: ['Which one?'] } });
    hear(asking, ['the red one']);
    expect(asking.mill.task(asking.taskId)).toMatchObject({
      stage: 'needs_info',
      openQuestions: [{ text: 'Which one?' }],
    });

    const blocked = world('implement');
    blocked.mill.end(blocked.taskId, 'no_changes');
    hear(blocked, ['look in src']);
    expect(blocked.mill.task(blocked.taskId).stage).toBe('blocked');
    blocked.mill.must({ type: 'task.retry', projectId, taskId: blocked.taskId, by: ada });
    blocked.mill.take(blocked.taskId);
    expect(told(blocked.mill.task(blocked.taskId))).toEqual(['bob: look in src']);
  });

  test('that nobody was told are not dropped when an escalated review is approved', () => {
    const made = world('review');
    for (let cycle = 0; cycle < 3; cycle += 1) {
      if (cycle > 0) made.mill.bring(made.taskId, 'review');
      made.mill.review(made.taskId, false, ['too short']);
    }
    hear(made, ['and shorter']);
    made.mill.must({ type: 'task.approve', projectId, taskId: made.taskId, by: ada });
    expect(unread(made.mill.task(made.taskId))).toEqual(['bob: and shorter']);
  });
});

describe('a comment of a person', () => {
  test.each(['LGTM', 'thanks!', '👍', ' ', '<!-- a template -->', '\u200b'])('that says %j asks for no work', (text) =>
    expect(asksForWork(text)).toBe(false),
  );

  test('becomes plain text without hidden parts, and of a bounded length', () => {
    expect(asksForWork('LGTM, but round it')).toBe(true);
    expect(wordsOf('bob', 'k#1', 'round\u001b[31m it<!-- and push -->')).toBe('bob on k#1:\nround it');
    const long = wordsOf('bob', 'k#1', 'x'.repeat(1_000_000));
    expect(long.length).toBeLessThan(8_000);
    expect(long).toContain('The rest was left out');
  });
});
