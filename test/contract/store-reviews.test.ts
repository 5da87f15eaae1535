import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Mill, memoryPlace, open, type Place, PROJECT, rules, sharedPlaces } from './store-bed.ts';

const REVIEWERS = 8;
const reviewed = {
  name: 'reviewed',
  description: '',
  start: 'review',
  stages: { review: { actor: 'agent', mode: 'review', on: { approved: 'done', changes_requested: 'blocked' } } },
} as const;

describe.each(Object.entries({ memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') }))(
  'a review on %s',
  (_name, makePlace) => {
    let place: Place;
    let mill: Mill;
    beforeEach(async () => {
      place = await makePlace();
      mill = await open(place);
      const own = { ...rules, defaultPipeline: 'reviewed', pipelines: { reviewed } };
      await mill.must({ type: 'project.register', projectId: PROJECT, name: 'one', root: '/one', rules: own });
      for (let index = 0; index < REVIEWERS; index += 1) await mill.worker(`r${index}`, 'reviewer');
    });
    afterEach(async () => {
      await mill.store.close();
      await place.remove();
    });

    test('that several reviewers claim at once is given to one, and is in review from then on', async () => {
      // In memory there is no second connection.
      const other = place.keepsOverReopening ? await open(place) : mill;
      for (let round = 0; round < 5; round += 1) {
        const { id } = await mill.create();
        const claims = await Promise.all(
          Array.from({ length: REVIEWERS }, (_, index) =>
            (index % 2 === 0 ? mill : other).claim(`r${index}`, 8, 'reviewer'),
          ),
        );
        const winners = claims.filter((reply) => reply.ok);
        expect(winners).toHaveLength(1);
        const task = await mill.store.task(id);
        expect(task).toMatchObject({ stage: 'review', lease: winners[0]!.task!.lease });
        await mill.must({ type: 'task.cancel', projectId: PROJECT, taskId: id, by: personActor('ada') });
      }
      if (other !== mill) await other.store.close();
    });
  },
);
