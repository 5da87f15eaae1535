import type { Task } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { newTask } from '../task/new-task.ts';
import { outsideStateOf } from './outside.ts';

const created = {
  type: 'task.created' as const,
  ...{ taskId: 'task_1', number: 7, title: 'Add sums', body: '', kind: 'feature' as const, pipeline: 'feature' },
  criteria: [{ id: 'C1', text: 'it adds', met: null, evidence: '' }],
  ...{
    files: [],
    dependsOn: [],
    unmet: 0,
    priority: 2,
    branch: 'task/7',
    hilConfig: null,
    repairs: [],
    validate: '',
    estimateMinutes: null,
    origin: null,
  },
};
const task = (change: Partial<Task>): Task => ({ ...newTask('project_1', 0, created, 'builder'), ...change });
const stateOf = (change: Partial<Task>) => outsideStateOf(task(change), { close: true, isKnown: true })!;

describe('the state of a task in a tracker', () => {
  test('is empty before somebody works on the task', () => {
    expect(outsideStateOf(task({}), { close: true, isKnown: false })).toBeNull();
  });

  test.each([
    ['plan', 'builder', ['tidemill:in-progress'], 'working'],
    ['verify', 'verifier', ['tidemill:in-progress'], 'working'],
    ['review', 'reviewer', ['tidemill:in-review'], 'review'],
    ['merge', 'merger', ['tidemill:in-review'], 'review'],
    ['plan_review', null, ['tidemill:needs-you'], 'waiting'],
    ['done', null, [], 'done'],
    ['cancelled', null, [], null],
  ] as const)('has the labels and the status of the stage: %s', (stage, role, labels, status) => {
    const state = stateOf({ stage, role });
    expect([state.labels, state.status, state.isClosed]).toEqual([labels, status, stage === 'done']);
  });

  test('shows a rejection with its heading, what is not met and what to change', () => {
    const feedback = [{ kind: 'review' as const, text: 'Not met: it adds (1 + 1 is 3)\nAdd a test for 0', files: [] }];
    const { comment } = stateOf({
      ...{ stage: 'implement', feedback },
      counters: { failures: {}, reviewCycles: 1, interruptions: 0, fingerprints: {} },
    });
    expect(comment).toContain('## Review Feedback - Cycle 1/3\n\n**Status:** REJECTED');
    expect(comment).toContain('**Issues Found:**\n- Not met: it adds (1 + 1 is 3)');
    expect(comment).toContain('**Requested Changes:**\n1. Add a test for 0');
  });

  test('shows an escalation with its label and both views', () => {
    const text = 'Rejected 3 times.\nThe reviewer: it does not add\nThe builder: it does';
    const state = stateOf({
      ...{ stage: 'blocked', role: null, blocked: { reason: 'review_escalation', text } },
      feedback: [{ kind: 'review', text: 'it does not add', files: [] }],
    });
    expect(state.labels).toEqual(['tidemill:needs-you', 'review-escalation']);
    expect(state.comment).toContain('Cycle 3/3');
    expect(state.comment).toContain('> The reviewer: it does not add\n> The builder: it does');
  });

  test('shows a conflict with its label and the files', () => {
    const state = stateOf({
      ...{ stage: 'blocked', role: null, blocked: { reason: 'conflict', text: 'Conflicts' } },
      feedback: [{ kind: 'conflict', text: 'both changed it', files: ['src/a.ts', 'src/b.ts'] }],
    });
    expect(state.labels).toEqual(['tidemill:needs-you', 'needs-manual-resolution']);
    expect(state.comment).toContain('- src/a.ts\n- src/b.ts');
  });

  test('the words of an agent notify nobody, close nothing, show no image and contain no key', () => {
    const said = 'thanks @everyone, fixes #3, <img src=x> ![x](https://evil.example/?s) ghp_aaaaaaaaaaaaaaaaaaaaaaaa';
    const { comment } = stateOf({
      ...{ stage: 'review', role: 'reviewer' },
      criteria: [{ id: 'C1', text: said, met: true, evidence: said }],
    });
    expect(comment).not.toMatch(/@everyone|#3|<img|!\[x\]|ghp_a/);
    expect(comment).toContain('fixes');
  });

  test('lists the reviews so far, also when there is only one', () => {
    const entry = {
      runId: null,
      source: 'reviewer' as const,
      entryType: 'review_result',
      summary: 'no test for 0',
      at: 1,
    };
    const { comment } = stateOf({ stage: 'implement', context: [entry] });
    expect(comment).toContain('Reviews so far: 1</summary>\n\n1. review result: no test for 0');
  });

  test('has a long comment cut', () => {
    const criteria = Array.from({ length: 100 }, (_, n) => ({
      id: `C${n}`,
      text: 'x'.repeat(2000),
      met: null,
      evidence: '',
    }));
    expect(stateOf({ stage: 'plan', criteria }).comment.length).toBeLessThan(30_100);
  });
});
