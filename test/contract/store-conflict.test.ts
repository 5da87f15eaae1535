import { type Pipeline, personActor, type Task } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, rules, sharedPlaces } from './store-bed.ts';

const landing: Pipeline = {
  name: 'landing',
  description: '',
  start: 'merge',
  stages: {
    merge: {
      actor: 'system',
      does: 'merge',
      on: { approved: 'done', failed: 'blocked', conflicts_detected: 'blocked' },
    },
  },
};
const FILES = ['a', 'b', 'c', 'd', 'e'];

describe.each(Object.entries({ memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') }))(
  'conflicts on %s',
  (_name, makePlace) => {
    let place: Place;
    let mill: Mill;
    beforeEach(async () => {
      place = await makePlace();
      mill = await (await open(place)).register();
      await mill.worker('builder', 'builder');
      await mill.worker('merger', 'merger');
      const pipelines = { ...rules.pipelines, landing };
      await mill.must({ type: 'project.configure', projectId: PROJECT, rules: { ...rules, pipelines } });
    });
    afterEach(async () => {
      await mill.store.close();
      await place.remove();
    });

    async function conflict(): Promise<Task> {
      // An agent's text may contain anything, including a NUL.
      await mill.create({ pipeline: 'landing', body: 'a \u0000 in it' });
      const claimed = await mill.claim('merger', 8, 'merger');
      if (!claimed.ok) throw new Error(claimed.refusal.message);
      const { id: taskId, fence: token } = claimed.task!;
      const feedback = [{ kind: 'conflict' as const, text: 'x', files: FILES }];
      const end = { type: 'stage.finish', projectId: PROJECT, outcome: 'conflicts_detected', feedback } as const;
      return (await mill.must({ ...end, subjectId: taskId, token })).task!;
    }
    const offered = async () => {
      const reply = await mill.claim('builder', 8, 'builder');
      if (!reply.ok) return reply.refusal.code;
      const { id: taskId, fence: token } = reply.task!;
      await mill.must({ type: 'lease.release', projectId: PROJECT, subjectId: taskId, token, why: 'only asked' });
      return 'a task';
    };

    test('keep work from builders while more than five are open, with one alert; then work resumes', async () => {
      await mill.create({ pipeline: 'agent' });
      const tasks: Task[] = [];
      for (let count = 1; count <= 5; count += 1) tasks.push(await conflict());
      expect(tasks.every(({ stage }) => stage === 'blocked')).toBe(true);
      expect(await offered()).toBe('a task');
      tasks.push(await conflict(), await conflict());
      expect(await offered()).toBe('conflicts_open');
      // The merger still gets tasks to land.
      tasks.push(await conflict());
      const of = (task: Task) => ({ projectId: PROJECT, taskId: task.id, by: personActor('ada') });
      await mill.must({ type: 'conflict.abort', ...of(tasks[0]!), snapshot: null });
      await mill.must({ type: 'conflict.settle', ...of(tasks[1]!), commit: 'c', tree: 't', notes: [] });
      expect(await offered()).toBe('conflicts_open');
      await mill.must({ type: 'task.cancel', ...of(tasks[2]!) });
      expect(await offered()).toBe('a task');
      const alerts = (await mill.store.events({ after: 0, limit: 1000 })).filter(
        ({ body }) => body.type === 'alert.raised' && body.kind === 'too_many_conflicts',
      );
      expect(alerts).toHaveLength(1);
      expect(await compareLogWithProjection(mill.store)).toEqual([]);
    });
  },
);
