import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Feedback } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { QuestionBed } from '../support/question-bed.ts';

const MINUTE = 60_000;
let bed: QuestionBed;
afterEach(() => bed.close());

describe('an approval', () => {
  test('shows the change, survives a restart, and sends the task back or lets it continue', {
    timeout: 3 * MINUTE,
  }, async () => {
    bed = new QuestionBed();
    const { machine, root, add, shown, moved, parked } = bed;
    const first = await machine.up(root);
    const task = await add('One that depends', '--autonomy', 'major_only');
    await parked(task.id);
    first.child.kill('SIGKILL');
    await first.ended;
    const question = await machine.run(['questions', 'show', 'Q1.1'], root);
    expect(question.stdout).toContain('changes dependencies');
    expect(question.stdout).toContain('+{"dependencies":{"left-pad":"1"}}');
    expect(question.stdout).toContain('tidemill task approve 1');

    await machine.up(root);
    await machine.json(['task', 'reject', '1', '--note', 'without left-pad'], root);
    await machine.event('question.asked', (body) => body.question.ref === 'Q1.2');
    expect((await shown(1)).task.stage).toBe('needs_info');
    await machine.json(['task', 'approve', '1'], root);
    await moved(task.id, 'done');
    expect(readFileSync(join(root, 'package.json'), 'utf8')).toBe('{}');
    expect((await shown(1)).task.approved).toEqual(['dependencyModifications']);
  });
});

const isHint = ({ kind, text }: Feedback) => kind === 'person' && text === 'Write hint.txt';

describe('the catalogue', () => {
  test('asks about a task that failed permanently, and the answer restarts it', { timeout: 2 * MINUTE }, async () => {
    bed = new QuestionBed("  - { name: lint, run: 'test -f hint.txt || ! ls work-*.txt' }\n");
    const { machine, root, add, shown, asked } = bed;
    await machine.up(root);
    const task = await add('One that fails');
    await machine.event('question.asked', (body) => body.question.source === 'catalogue');
    // A moment later Tidemill also offers to reflect on it.
    const [question] = await asked();
    expect(question).toMatchObject({ ref: 'Q1.1', effect: { kind: 'unblock' }, tags: ['task_failed_repeatedly'] });
    expect((await shown(1)).task.stage).toBe('blocked');
    await machine.json(['answer', 'Q1.1', 'Write hint.txt'], root);
    await machine.event('task.moved', (body) => body.taskId === task.id && body.because === 'answered');
    await machine.event('task.feedback_given', (body) => body.feedback.some(isHint));
  });
});
