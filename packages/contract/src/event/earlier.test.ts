import { describe, expect, test } from 'vitest';
import { engineActor, personActor } from '../access/actor.ts';
import { Worker } from '../worker/worker.ts';
import { eventToday, rowToday, storedTypes } from './earlier.ts';
import { EventBody } from './event.ts';

describe('data of earlier versions', () => {
  test('the wish of a worker becomes its desired state', () => {
    const row = {
      id: 'p/agent-1',
      projectId: 'p',
      name: 'agent-1',
      role: 'builder',
      wish: 'paused',
      wishedBy: 'ada',
      wishedAt: 7,
    };
    const desired = { desired: 'paused', desiredBy: personActor('ada'), desiredAt: 7 };
    expect(Worker.parse(rowToday(row))).toMatchObject(desired);
    expect(Worker.parse(rowToday({ ...row, wishedBy: '' })).desiredBy).toBeNull();
    const body = { type: 'worker.wished', workerId: 'p/agent-1', wish: 'paused', by: 'ada' };
    expect(EventBody.parse(eventToday(body))).toMatchObject({ type: 'worker.steered', desired: 'paused' });
  });

  test('a name becomes an actor in every field', () => {
    const ada = personActor('ada');
    expect(eventToday({ type: 'task.edited', by: 'ada' })).toEqual({ type: 'task.edited', by: ada });
    expect(eventToday({ type: 'lease.take', by: 'supervisor' })).toMatchObject({ by: engineActor('supervisor') });
    expect(eventToday({ type: 'question.answered', answer: { by: 'ada' } })).toMatchObject({ answer: { by: ada } });
    expect(eventToday({ type: 'task.noted', entry: { by: 'ada' } })).toMatchObject({ entry: { by: ada } });
    expect(rowToday({ noun: 'question', answer: { by: 'time' } })).toMatchObject({
      answer: { by: engineActor('time') },
    });
    expect(rowToday({ noun: 'preference', revokedBy: 'ada' })).toMatchObject({ revokedBy: ada });
    expect(rowToday({ context: [{ by: 'ada' }, {}] })).toEqual({ context: [{ by: ada }, {}] });
  });

  test('a noun in camel case has its name of today in rows, events and queries', () => {
    expect(rowToday({ noun: 'lessonUse' })).toEqual({ noun: 'lesson_use' });
    expect(eventToday({ type: 'guardProposal.bypass_used' })).toEqual({ type: 'guard_proposal.bypass_used' });
    expect(eventToday({ type: 'trackerItem.seen' })).toEqual({ type: 'tracker_item.seen' });
    expect(storedTypes(['tracker_item.seen', 'task.moved'])).toEqual([
      ...['tracker_item.seen', 'task.moved', 'trackerItem.seen'],
    ]);
  });

  test('data in the current shape is not changed', () => {
    const row = { id: 'x', answer: { by: personActor('ada') }, context: [{ by: personActor('ada') }] };
    expect(rowToday(row)).toBe(row);
    const body = { type: 'task.edited', by: personActor('ada'), entry: undefined };
    expect(eventToday(body)).toBe(body);
  });

  test('events are found by their earlier names', () => {
    expect(storedTypes(['worker.steered', 'task.moved'])).toEqual(['worker.steered', 'task.moved', 'worker.wished']);
    expect(storedTypes(['task.moved'])).toEqual(['task.moved']);
  });

  test('a value that is not a document is left to the schema', () => {
    for (const stored of [null, 'text', 7, [1]]) {
      expect(eventToday(stored)).toBe(stored);
      expect(rowToday(stored)).toBe(stored);
    }
  });
});
