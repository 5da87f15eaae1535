import { type EventBody, personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill, typesOf } from '../../../../test/support/mill.ts';
import type { Command } from '../command.ts';

const projectId = 'project_1';
const FILES = ['a', 'b', 'c', 'd', 'e'];

/** A task whose conflict is too large for an agent. */
function conflicting(mill: Mill): string {
  const id = mill.add();
  mill.bring(id, 'merge');
  mill.end(id, 'conflicts_detected', {
    message: 'It conflicts.',
    feedback: [{ kind: 'conflict', text: 'x', files: FILES }],
  });
  return id;
}
const alerts = (events: { body: EventBody }[]) =>
  events.flatMap(({ body }) => (body.type === 'alert.raised' && body.kind === 'too_many_conflicts' ? [body] : []));
const cancel = (mill: Mill, taskId: string) =>
  mill.must({ type: 'task.cancel', projectId, taskId, by: personActor('ada') });

describe('a conflict that waits for a person', () => {
  test('keeps its files, and goes to the gates once it is settled', () => {
    const mill = new Mill();
    const taskId = conflicting(mill);
    expect(mill.task(taskId)).toMatchObject({ stage: 'blocked', blocked: { reason: 'conflict' }, role: null });
    const of = { projectId, taskId, by: personActor('ada') };
    mill.must({ type: 'conflict.resolve_file', ...of, path: 'a', how: 'text' });
    expect(mill.task(taskId).stage).toBe('blocked');
    const events = mill.must({ type: 'conflict.settle', ...of, commit: 'c9', tree: 't9', notes: [] });
    expect(events).toContainEqual({ type: 'conflict.settled', taskId, files: FILES, by: of.by, accepts: [] });
    expect(mill.task(taskId)).toMatchObject({
      ...{ stage: 'verify', role: 'verifier', head: { commit: 'c9', tree: 't9' }, feedback: [], blocked: null },
      counters: { failures: {} },
    });
    expect(mill.refusal({ type: 'conflict.settle', ...of, commit: 'c9', tree: 't9', notes: [] })).toBe('wrong_stage');
  });

  test('can be aborted: the task starts again, on another branch each time, and says why', () => {
    const mill = new Mill();
    const taskId = conflicting(mill);
    const { branch } = mill.task(taskId);
    mill.must({ type: 'conflict.abort', projectId, taskId, by: personActor('ada'), snapshot: 'refs/x' });
    const task = mill.task(taskId);
    expect(task).toMatchObject({ stage: 'open', role: 'builder', head: null, feedback: [], branch: `${branch}.2` });
    expect(task.context.at(-1)).toMatchObject({ source: 'person', summary: expect.stringContaining('refs/x') });
    mill.bring(taskId, 'merge');
    mill.end(taskId, 'conflicts_detected', { feedback: [{ kind: 'conflict', text: 'x', files: FILES }] });
    mill.must({ type: 'conflict.abort', projectId, taskId, by: personActor('ada'), snapshot: null });
    expect(mill.task(taskId).branch).toBe(`${branch}.3`);
  });

  test('is needed for the commands that resolve one: a task without a conflict refuses them', () => {
    const mill = new Mill();
    const taskId = mill.add();
    const of = { projectId, taskId, by: personActor('ada') };
    const commands: Command[] = [
      { type: 'conflict.resolve_file', ...of, path: 'a', how: 'ours' },
      { type: 'conflict.settle', ...of, commit: 'c', tree: 't', notes: [] },
      { type: 'conflict.abort', ...of, snapshot: null },
    ];
    for (const command of commands) expect(mill.refusal(command)).toBe('wrong_stage');
  });
});

describe('more than five conflicts that wait for a person', () => {
  test('keep new work from builders only and raise one alert; with five, work continues', () => {
    const mill = new Mill();
    const ids = [1, 2, 3, 4, 5].map(() => conflicting(mill));
    const next = mill.add();
    expect(mill.offered('agent-1')).toBe(mill.task(next).number);
    expect(alerts(mill.log)).toHaveLength(0);
    const verifying = mill.add({ priority: 0 });
    mill.bring(verifying, 'verify');
    // The sixth raises an alert, the seventh does not.
    const merging = [mill.add({ priority: 0 }), mill.add({ priority: 1 })];
    for (const id of merging) mill.bring(id, 'merge');
    for (const id of merging)
      mill.end(id, 'conflicts_detected', { feedback: [{ kind: 'conflict', text: 'x', files: FILES }] });
    expect(alerts(mill.log)).toHaveLength(1);
    expect(mill.offered('agent-1')).toBe('conflicts_open');
    expect(mill.offered('verifier')).toBe(mill.task(verifying).number);
    cancel(mill, ids[0]!);
    expect(mill.offered('agent-1')).toBe('conflicts_open');
    // A claim sees what the same transaction resolved before it.
    const [, claimed] = mill.executeBatch([
      { type: 'task.cancel', projectId, taskId: ids[1]!, by: personActor('ada') },
      { type: 'work.claim', projectId, workerId: 'agent-1', role: 'builder', owner: 'daemon-1', window: 50 },
    ]);
    expect(claimed?.ok && typesOf(claimed.events)).toContain('lease.claimed');
    expect(alerts(mill.log)).toHaveLength(1);
  });
});
