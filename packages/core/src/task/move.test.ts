import { personActor, type TaskMove } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { commandOf, dice } from '../../../../test/support/wild-command.ts';
import type { Command } from '../command.ts';
import { scopeOf } from '../scope.ts';
import { movesOf } from './move.ts';

const projectId = 'project_1';

function moves(mill: Mill, taskId: string): TaskMove[] {
  const slice = mill.load(scopeOf({ type: 'task.cancel', projectId, taskId, by: personActor('ada') }));
  return movesOf(slice, mill.projects.get(projectId)!, mill.task(taskId));
}
const to = (mill: Mill, id: string, stage: string) => moves(mill, id).find((move) => move.to === stage);

function commandFor(via: NonNullable<TaskMove['via']>, taskId: string, stage: string): Command {
  const of = { projectId, taskId, by: personActor('ada'), note: 'a word' };
  return via === 'retry' ? { type: 'task.retry', ...of, stage } : { type: `task.${via}`, ...of };
}

/** The stage after a person's command; null when it is refused. */
function tried(mill: Mill, command: Command, taskId: string): string | null {
  const world = mill.copy();
  return world.execute(command).ok ? world.tasks.get(taskId)!.stage : null;
}

describe('the moves offered for a task', () => {
  test('each offered move works, and no command makes a move that is not offered', () => {
    const seen = new Set<string>();
    const story = fc.array(dice, { minLength: 20, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(story, (throws) => {
        const mill = new Mill({ reviewPlans: throws.length % 2 === 0 });
        for (const each of throws) {
          const command = commandOf(mill, each);
          mill.now += 10;
          if (command) mill.execute(command);
        }
        for (const [id, task] of mill.tasks) {
          for (const move of moves(mill, id)) {
            seen.add(`${move.via}`);
            if (move.via) {
              expect(tried(mill, commandFor(move.via, id, move.to), id)).toBe(move.to);
              continue;
            }
            expect(move.why).not.toBe('');
            if (move.to === task.stage) continue;
            for (const via of ['approve', 'reject', 'retry', 'cancel'] as const)
              expect(tried(mill, commandFor(via, id, move.to), id)).not.toBe(move.to);
          }
        }
      }),
      { numRuns: 60 },
    );
    expect([...seen].sort()).toEqual(['approve', 'cancel', 'null', 'reject', 'retry']);
  });

  test('a plan that waits is approved or rejected by moving it', () => {
    const mill = new Mill({ reviewPlans: true });
    const id = mill.add();
    mill.bring(id, 'plan_review');
    expect(to(mill, id, 'implement')).toMatchObject({ via: 'approve', needsNote: false });
    expect(to(mill, id, 'plan')).toMatchObject({ via: 'reject', needsNote: true });
    expect(to(mill, id, 'plan_review')).toMatchObject({ via: null, why: 'it is already there' });
    expect(to(mill, id, 'verify')).toMatchObject({ via: null, why: expect.stringContaining('you have approved it') });
  });

  test('a person may move a task back or skip an agent’s work, but not skip a check', () => {
    const mill = new Mill();
    const id = mill.add();
    expect(to(mill, id, 'verify')?.via).toBe('retry');
    expect(to(mill, id, 'plan_review')?.why).toBe('plans are not reviewed here: it would move to implement');
    mill.bring(id, 'implement');
    for (const stage of ['open', 'plan', 'verify']) expect(to(mill, id, stage)?.via).toBe('retry');
    for (const stage of ['review', 'merge'])
      expect(to(mill, id, stage)).toMatchObject({ via: null, why: 'Tidemill moves it there when its gates pass' });
    const skipping = { type: 'task.retry', projectId, taskId: id, by: personActor('ada'), stage: 'merge' } as const;
    expect(mill.refusal(skipping)).toBe('wrong_stage');
    mill.bring(id, 'review');
    expect(to(mill, id, 'merge')?.why).toBe('Tidemill moves it there when a reviewer has approved it');
    mill.bring(id, 'merge');
    expect(to(mill, id, 'done')).toMatchObject({ via: null, why: 'Tidemill moves it there when it has landed' });
    expect(to(mill, id, 'review')?.via).toBe('retry');
  });

  test('a leased task names its worker; a done, landing or cancelled one says so', () => {
    const mill = new Mill();
    const id = mill.add({ pipeline: 'quick' });
    mill.take(id);
    expect(to(mill, id, 'open')?.why).toBe('agent-1 is working on it: cancel it first, or wait');
    expect(to(mill, id, 'cancelled')?.via).toBe('cancel');
    mill.must({ type: 'task.cancel', projectId, taskId: id, by: personActor('ada') });
    expect(to(mill, id, 'open')?.via).toBe('retry');
    const landing = mill.add({ pipeline: 'quick' });
    mill.bring(landing, 'merge');
    mill.prepare(landing, 'tree');
    expect(to(mill, landing, 'cancelled')?.why).toContain('it is landing');
    const done = new Mill();
    const finished = done.add({ pipeline: 'quick' });
    done.bring(finished, 'done');
    expect(new Set(moves(done, finished).map(({ via }) => via))).toEqual(new Set([null]));
  });

  test('a task with a question continues with a note', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.bring(id, 'implement');
    mill.end(id, 'needs_info', { envelope: { open_questions: ['which?'] } });
    expect(to(mill, id, 'implement')).toMatchObject({ via: 'retry', needsNote: true });
    mill.must({ type: 'task.retry', projectId, taskId: id, by: personActor('ada'), note: 'the second' });
    mill.build(id, 'tree');
    expect(mill.task(id).stage).toBe('review');
  });
});
