import { type Actor, knowledgeId, LessonDraft } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createIds, systemClock } from '../../packages/daemon/src/clock.ts';
import { recordLesson } from '../../packages/daemon/src/engine/learning/record-lesson.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const agent: Actor = { kind: 'agent', id: 'a', name: 'agent-1' };
const SAME = [
  'Regenerate the client after a change of the schema',
  'After a change of the schema, regenerate the client',
];
const ids = createIds(systemClock);

describe.each(Object.entries({ memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') }))(
  'two daemons that learn into one store, on %s',
  (_name, makePlace) => {
    let place: Place;
    let mills: Mill[];
    let stores: Store[];
    beforeEach(async () => {
      place = await makePlace();
      const first = await (await open(place)).register();
      mills = [first, ...(place.keepsOverReopening ? [await open(place)] : [])];
      stores = [first.store, (mills[1] ?? first).store];
    });
    afterEach(async () => {
      for (const { store } of mills) await store.close();
      await place.remove();
    });

    const record = (n: number) => {
      const draft = LessonDraft.parse({ text: SAME[n % 2], filePatterns: ['schema/**'] });
      const deps = { store: stores[n % 2]!, ids, project: { id: PROJECT } };
      return recordLesson(deps, draft, { traceIds: [], taskIds: [`task_${n}`], runId: null, by: agent });
    };

    test('never record the same lesson twice, and count every run once', async () => {
      await Promise.all(Array.from({ length: 12 }, (_, n) => record(n)));
      const lessons = await stores[0]!.records({ noun: 'lesson', projectId: PROJECT });
      expect(lessons).toHaveLength(1);
      expect(lessons[0]).toMatchObject({ number: 1, occurrences: 12, confidence: 0.85, stage: 'validated' });
      const lessonIds = [lessons[0]!.id];
      const about = (n: number) => ({ projectId: PROJECT, runId: `run_${n}`, taskId: `task_${n}`, lessonIds });
      const both = Array.from({ length: 20 }, (_, n) => n >> 1);
      await Promise.all(
        both.map((n, at) =>
          stores[at % 2]!.execute({ type: 'lesson.inject', ...about(n), files: ['schema/a'], heldBackIds: [] }),
        ),
      );
      await Promise.all([
        ...both.map((n, at) =>
          stores[at % 2]!.execute({ type: 'lesson.settle', ...about(n), verdict: 'helped', why: 'it landed' }),
        ),
        record(100),
        record(101),
      ]);
      const [counted] = await stores[1]!.records({ noun: 'lesson', projectId: PROJECT });
      expect(counted).toMatchObject({ injected: 10, helped: 10, hurt: 0, occurrences: 14 });
      expect((await stores[0]!.record('knowledge', knowledgeId(PROJECT)))?.runs).toEqual({ good: 10, total: 10 });
      expect(await compareLogWithProjection(stores[0]!)).toEqual([]);
    });
  },
);
