import { describe, expect, test } from 'vitest';
import { EventBody } from '../event.ts';
import { Worker } from '../worker.ts';
import { eventToday, rowToday, storedTypes } from './earlier.ts';

describe('what earlier versions wrote', () => {
  test('a wish of a worker is its desired state', () => {
    const row = {
      ...{ id: 'p/agent-1', projectId: 'p', name: 'agent-1', role: 'builder' },
      ...{ wish: 'paused', wishedBy: 'ada', wishedAt: 7 },
    };
    expect(Worker.parse(rowToday(row))).toMatchObject({ desired: 'paused', desiredAt: 7 });
    const body = { type: 'worker.wished', workerId: 'p/agent-1', wish: 'paused', by: 'ada' };
    expect(EventBody.parse(eventToday(body))).toMatchObject({ type: 'worker.steered', desired: 'paused' });
  });

  test('events are found by the names they had', () => {
    expect(storedTypes(['worker.steered', 'task.moved'])).toEqual(['worker.steered', 'task.moved', 'worker.wished']);
    expect(storedTypes(['task.moved'])).toEqual(['task.moved']);
  });

  test('what is no document is left to the schema', () => {
    for (const stored of [null, 'text', 7, [1]]) {
      expect(eventToday(stored)).toBe(stored);
      expect(rowToday(stored)).toBe(stored);
    }
  });
});
